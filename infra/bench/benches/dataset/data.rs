//! The data to measure: the published reports in `TNR_FULL_SCALE_DATA`, if set, and generated data with a similar
//! distribution and a fixed seed.

use std::{collections::BTreeMap, path::PathBuf};

use ingest::{Source, Sources, dataset_of};
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{BlockHolder, Carrier, CarrierType, Country, Exchange, OwnedExchanges, Status},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// The dataset of the published reports.
pub fn published() -> Option<Dataset> {
    let folder = PathBuf::from(std::env::var_os("TNR_FULL_SCALE_DATA")?);
    let file = |name: &str| Source::File(folder.join(name));
    let sources = Sources {
        nanpa: file("CoCodeAssignment_Utilized_AllStates_Public.zip"),
        cnac: file("COCodeStatus_ALL.zip"),
        npa_report: file("npa_report.csv"),
        carriers: Some(file("carriers.csv")),
        thousands_blocks: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    Some(runtime.block_on(dataset_of(&sources)).expect("the published reports can be read"))
}

/// Exchanges per area code in the published reports.
const EXCHANGES_OF_AREA: usize = 588;
/// Maximum area codes, and exchange codes per area code, in the numbering plan.
const MAX_CODES: usize = 800;
/// Carriers with numbers in most area codes.
const LARGE_CARRIERS: usize = 15;

const STATES: [&str; 6] = ["CA", "TX", "NY", "FL", "PA", "IL"];
const WORDS: [&str; 20] = [
    "WIRELESS", "BELL", "CANADA", "AT&T", "T-MOBILE", "CORP.", "L.L.C.", "LOCAL", "CABLE",
    "BOSTON", "SAN", "JOSE", "SAINT", "ST.", "NEW", "PORT", "LAKE", "FORT", "NORTH", "CITY",
];
const SYLLABLES: [&str; 12] =
    ["BO", "CHI", "DAL", "MAR", "TON", "VAN", "LIN", "SA", "RO", "KE", "FER", "GAL"];

/// A dataset of about this many exchanges, with as many carriers, rate centers and holders per area code as the
/// published reports. Deterministic for each size.
pub fn synthesized(exchanges: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(1);
    let areas = exchanges.div_ceil(EXCHANGES_OF_AREA).min(MAX_CODES);
    let carriers: Vec<Carrier> =
        (0..(exchanges / 80).max(20)).map(|number| carrier(number, &mut random)).collect();
    let mut records = Vec::new();
    for area in 0..areas {
        let count = exchanges * (area + 1) / areas - exchanges * area / areas;
        let rate_centers: Vec<String> = (0..70).map(|_| name(2, &mut random)).collect();
        let mut holders: Vec<&Carrier> = carriers.iter().take(LARGE_CARRIERS).collect();
        holders.extend((0..22).map(|_| &carriers[random.random_range(0..carriers.len())]));
        for nxx in 0..count {
            // The square makes a few of them common.
            let holder = holders[(random.random::<f64>().powi(2) * 37.0) as usize];
            let rate_center = &rate_centers[(random.random::<f64>().powi(2) * 70.0) as usize];
            let is_assigned = random.random_bool(0.92);
            records.push(Exchange {
                npa: (200 + area).to_string().parse().unwrap(),
                nxx: (200 + nxx).to_string().parse().unwrap(),
                ocn: is_assigned.then_some(holder.ocn),
                company_name: None,
                carrier_type: None,
                rate_center: is_assigned.then(|| rate_center.clone()),
                state: STATES[area % STATES.len()].parse().ok(),
                country: Country::Us,
                status: if is_assigned { Status::Assigned } else { Status::Unassigned },
                blocks: BTreeMap::new(),
            });
        }
    }
    Dataset::new(carriers, Vec::new(), records)
}

/// Random words, half of them common and the rest made of syllables.
fn name(words: usize, random: &mut StdRng) -> String {
    let mut pick = |from: &[&str]| from[random.random_range(0..from.len())].to_owned();
    let words = (0..words).map(|number| match number % 2 {
        0 => pick(&WORDS),
        _ => pick(&SYLLABLES) + &pick(&SYLLABLES) + &pick(&SYLLABLES),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn carrier(number: usize, random: &mut StdRng) -> Carrier {
    let types = [CarrierType::Ilec, CarrierType::Clec, CarrierType::Wireless, CarrierType::Cap];
    Carrier {
        ocn: format!("{number:04}").parse().unwrap(),
        company_name: Some(name(random.random_range(2..6), random)),
        common_name: random.random_bool(0.3).then(|| name(1, random)),
        carrier_type: Some(types[random.random_range(0..types.len())]),
        state: None,
        country: Country::Us,
        exchanges: OwnedExchanges::default(),
    }
}

/// The dataset with up to `blocks` thousands blocks: eight per exchange, half of them held by its holder.
pub fn with_blocks(dataset: &Dataset, blocks: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(2);
    let carriers: Vec<Carrier> = dataset.carriers().collect();
    let mut exchanges: Vec<Exchange> = dataset.exchanges().collect();
    let holding = exchanges.iter_mut().filter(|exchange| exchange.ocn.is_some());
    for exchange in holding.take(blocks.div_ceil(8)) {
        let mut holder = |digit: u8| {
            let other = &carriers[random.random_range(0..LARGE_CARRIERS)];
            let year = random.random_range(2002..2027);
            BlockHolder {
                ocn: exchange.ocn.filter(|_| digit.is_multiple_of(2)).unwrap_or(other.ocn),
                company_name: None,
                carrier_type: None,
                rate_center: exchange.rate_center.clone(),
                effective: Date::new(year, 6, random.random_range(1..=28)).ok(),
            }
        };
        exchange.blocks = (0..8).map(|digit| (digit, holder(digit))).collect();
    }
    Dataset::new(carriers, dataset.area_codes().collect(), exchanges)
}
