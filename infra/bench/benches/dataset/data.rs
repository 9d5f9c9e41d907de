//! The data that is measured: the published reports, if `TNR_FULL_SCALE_DATA` names their folder,
//! and data with the same distribution, which a seeded generator makes.

use std::{collections::BTreeMap, path::PathBuf};

use ingest::{Source, Sources, dataset_of};
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{
        AreaCode, BlockHolder, Carrier, CarrierType, Exchange, Npa, OwnedExchanges, StateCode,
        Status,
    },
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

/// Exchanges that an area code has in the published reports.
const EXCHANGES_OF_AREA: usize = 588;
/// The most area codes and exchange codes of the numbering plan.
const MOST_CODES: usize = 800;
/// Carriers that have numbers in most area codes.
const LARGE_CARRIERS: usize = 15;

const STATES: [&str; 12] = ["CA", "TX", "NY", "FL", "PA", "IL", "OH", "ON", "QC", "BC", "GA", "MI"];
const COMPANY_WORDS: [&str; 24] = [
    "WIRELESS",
    "TELEPHONE",
    "COMMUNICATIONS",
    "BELL",
    "SYSTEMS",
    "NETWORKS",
    "AT&T",
    "T-MOBILE",
    "COMPANY",
    "CORP.",
    "L.L.C.",
    "INC.",
    "OF",
    "THE",
    "TELECOM",
    "CABLE",
    "LOCAL",
    "SERVICES",
    "AMERICA",
    "CANADA",
    "NORTH",
    "FIBER",
    "CELLULAR",
    "USA",
];
const PLACE_WORDS: [&str; 20] = [
    "SAN", "SAINT", "ST.", "NEW", "PORT", "LAKE", "FORT", "MOUNT", "NORTH", "SOUTH", "EAST",
    "WEST", "VILLE", "CITY", "FALLS", "SPRINGS", "BEACH", "HILLS", "GROVE", "RIVER",
];
const SYLLABLES: [&str; 24] = [
    "BO", "CHI", "DAL", "MAR", "TON", "VAN", "LIN", "SA", "RO", "KE", "FER", "GAL", "HAM", "JO",
    "LU", "NA", "OR", "PE", "QUI", "RI", "SHA", "TU", "WEN", "ZA",
];

/// A dataset of about this many exchanges and thousands blocks, with the numbers of carriers, rate
/// centers and holders of an area code that the published reports have. The same sizes always give
/// the same dataset.
pub fn synthesized(exchanges: usize, blocks: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(1);
    let areas = exchanges.div_ceil(EXCHANGES_OF_AREA).min(MOST_CODES);
    let carriers: Vec<Carrier> =
        (0..(exchanges / 80).max(20)).map(|number| carrier(number, &mut random)).collect();
    let mut exchange_records = Vec::new();
    for area in 0..areas {
        let own = exchanges * (area + 1) / areas - exchanges * area / areas;
        exchange_records.extend(area_exchanges(area, own, &carriers, &mut random));
    }
    let holding = exchange_records.iter_mut().filter(|exchange| exchange.ocn.is_some());
    for exchange in holding.take(blocks.div_ceil(8)) {
        exchange.blocks = holders_of_blocks(exchange, &carriers, &mut random);
    }
    let area_codes = (0..areas).map(|area| AreaCode {
        npa: npa(area),
        state: Some(state(area)),
        states: [state(area)].into(),
        country: state(area).country(),
        total_exchanges: (exchanges / areas) as u32,
    });
    Dataset::new(carriers, area_codes.collect(), exchange_records)
}

fn npa(area: usize) -> Npa {
    (200 + area).to_string().parse().unwrap()
}

fn state(area: usize) -> StateCode {
    STATES[area % STATES.len()].parse().unwrap()
}

/// A word that is one of `usual` or made of syllables.
fn word(usual: &[&str], random: &mut StdRng) -> String {
    if random.random_bool(0.5) {
        return usual[random.random_range(0..usual.len())].to_owned();
    }
    let syllables = random.random_range(2..4);
    (0..syllables).map(|_| SYLLABLES[random.random_range(0..SYLLABLES.len())]).collect()
}

fn name(usual: &[&str], words: usize, random: &mut StdRng) -> String {
    let words: Vec<String> = (0..words).map(|_| word(usual, random)).collect();
    words.join(" ")
}

fn carrier(number: usize, random: &mut StdRng) -> Carrier {
    let types = [CarrierType::Ilec, CarrierType::Clec, CarrierType::Wireless, CarrierType::Cap];
    let words = random.random_range(2..6);
    let company_name = name(&COMPANY_WORDS, words, random);
    let common_name = random.random_bool(0.3).then(|| name(&COMPANY_WORDS, 1, random));
    let state = state(random.random_range(0..STATES.len()));
    Carrier {
        ocn: format!("{number:04}").parse().unwrap(),
        company_name: Some(company_name),
        common_name,
        carrier_type: Some(types[random.random_range(0..types.len())]),
        state: Some(state),
        country: state.country(),
        exchanges: OwnedExchanges { total: 80, by_state: BTreeMap::from([(state, 80)]) },
    }
}

/// Exchanges of an area code, which has 37 holders and 70 rate centers, a few of them common.
fn area_exchanges(
    area: usize,
    count: usize,
    carriers: &[Carrier],
    random: &mut StdRng,
) -> Vec<Exchange> {
    let place_words = random.random_range(1..3);
    let rate_centers: Vec<String> =
        (0..70).map(|_| name(&PLACE_WORDS, place_words, random)).collect();
    let large = carriers.iter().take(LARGE_CARRIERS);
    let local: Vec<&Carrier> =
        (0..22).map(|_| &carriers[random.random_range(0..carriers.len())]).collect();
    let holders: Vec<&Carrier> = large.chain(local).collect();
    let skipped = random.random_range(0..=MOST_CODES - count.min(MOST_CODES));
    // The codes that are not used lie in two places, as most do.
    let nxxs = (0..MOST_CODES).filter(|nxx| !(100..100 + skipped).contains(nxx)).take(count);
    nxxs.map(|nxx| {
        let status = match random.random_range(0..100) {
            0..92 => Status::Assigned,
            92..98 => Status::Unassigned,
            _ => Status::Reserved,
        };
        let holder = (status == Status::Assigned)
            .then(|| holders[(random.random::<f64>().powi(2) * holders.len() as f64) as usize]);
        let place = (random.random::<f64>().powi(2) * rate_centers.len() as f64) as usize;
        Exchange {
            npa: npa(area),
            nxx: (200 + nxx).to_string().parse().unwrap(),
            ocn: holder.map(|holder| holder.ocn),
            company_name: holder.and_then(|holder| holder.company_name.clone()),
            carrier_type: holder.and_then(|holder| holder.carrier_type),
            rate_center: holder.map(|_| rate_centers[place].clone()),
            state: Some(state(area)),
            country: state(area).country(),
            status,
            blocks: BTreeMap::new(),
        }
    })
    .collect()
}

/// Eight of the ten blocks of an exchange, mostly held by the holder of the exchange.
fn holders_of_blocks(
    exchange: &Exchange,
    carriers: &[Carrier],
    random: &mut StdRng,
) -> BTreeMap<u8, BlockHolder> {
    let mut holder = |own: bool| {
        let other = &carriers[random.random_range(0..LARGE_CARRIERS)];
        let day = random.random_range(1..=28);
        BlockHolder {
            ocn: exchange.ocn.filter(|_| own).unwrap_or(other.ocn),
            company_name: None,
            carrier_type: None,
            rate_center: exchange.rate_center.clone(),
            effective: Date::new(random.random_range(2002..2027), 6, day).ok(),
        }
    };
    (0..8).map(|digit| (digit, holder(digit % 2 == 0))).collect()
}

/// The exchanges of a dataset with as many thousands blocks as there are, up to `blocks`.
pub fn with_blocks(dataset: &Dataset, blocks: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(2);
    let carriers: Vec<Carrier> = dataset.carriers().collect();
    let mut exchanges: Vec<Exchange> = dataset.exchanges().collect();
    let holding = exchanges.iter_mut().filter(|exchange| exchange.ocn.is_some());
    for exchange in holding.take(blocks.div_ceil(8)) {
        exchange.blocks = holders_of_blocks(exchange, &carriers, &mut random);
    }
    Dataset::new(carriers, dataset.area_codes().collect(), exchanges)
}
