//! The data to measure: the published reports in `TNR_FULL_SCALE_DATA`, or else the sample.

use std::{env, path::Path};

use ingest::{Source, Sources, dataset_of};
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{BlockHolder, Carrier, Exchange},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../local/sample");
const OF_SAMPLE: [&str; 2] = ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv"];
const PUBLISHED: [&str; 2] =
    ["CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip"];

/// The dataset of the reports.
pub fn dataset() -> Dataset {
    let published = env::var("TNR_FULL_SCALE_DATA");
    let [nanpa, cnac] = if published.is_ok() { PUBLISHED } else { OF_SAMPLE };
    let folder = published.unwrap_or_else(|_| SAMPLE.to_owned());
    let file = |name: &str| Source::File(Path::new(&folder).join(name));
    let sources = Sources {
        nanpa: file(nanpa),
        cnac: file(cnac),
        npa_report: file("npa_report.csv"),
        carriers: Some(file("carriers.csv")),
        thousands_blocks: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(dataset_of(&sources)).expect("the reports can be read")
}

/// The dataset with up to `blocks` thousands blocks: eight per exchange, half of them held by its holder.
pub fn with_blocks(dataset: &Dataset, blocks: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(2);
    let carriers: Vec<Carrier> = dataset.carriers().collect();
    let mut exchanges: Vec<Exchange> = dataset.exchanges().collect();
    let holding = exchanges.iter_mut().filter(|exchange| exchange.ocn.is_some());
    for exchange in holding.take(blocks.div_ceil(8)) {
        let mut holder = |digit: u8| {
            let other = &carriers[random.random_range(0..carriers.len())];
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
