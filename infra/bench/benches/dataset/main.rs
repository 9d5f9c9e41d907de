//! Measures loading a snapshot and searching it: `cargo bench -p bench --bench dataset`. `TNR_FULL_SCALE_DATA` is a
//! folder with the published reports; the default is the sample.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

use std::{
    env,
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use ingest::{ReportName, Source, Sources, read_dataset};
use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Search},
    records::{BlockHolder, Carrier, Exchange},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};

const TODAY: Date = Date::constant(2026, 7, 1);
const PAGE_LENGTH: usize = 100;
const SAMPLE_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tnr/sample");
const SAMPLE_FILES: [&str; 2] = ["nanpa_utilized_codes.txt", "cnac_co_code_status.csv"];
const PUBLISHED_FILES: [&str; 2] =
    ["CoCodeAssignment_Utilized_AllStates_Public.zip", "COCodeStatus_ALL.zip"];

fn main() {
    let dataset = load_reports();
    println!("| data | exchanges | blocks | bytes | load ms |\n|---|---|---|---|---|");
    print_load("the reports", &dataset);
    let with_blocks = add_blocks(&dataset, 1_200_000);
    print_load("with thousands blocks", &with_blocks);
    print_searches("Without thousands blocks", &dataset);
    print_searches("With thousands blocks", &with_blocks);
}

fn load_reports() -> Dataset {
    let published = env::var("TNR_FULL_SCALE_DATA");
    let [nanpa, cnac] = if published.is_ok() { PUBLISHED_FILES } else { SAMPLE_FILES };
    let folder = published.unwrap_or_else(|_| SAMPLE_FOLDER.to_owned());
    let file = |name: &str| Source::File(Path::new(&folder).join(name));
    let sources = Sources::from_iter([
        (ReportName::Nanpa, file(nanpa)),
        (ReportName::Cnac, file(cnac)),
        (ReportName::NpaReport, file("npa_report.csv")),
        (ReportName::Carriers, file("carriers.csv")),
    ]);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(read_dataset(&sources)).expect("the reports can be read")
}

/// Adds up to `count` thousands blocks: eight per exchange, half of them held by the exchange's carrier.
fn add_blocks(dataset: &Dataset, count: usize) -> Dataset {
    let mut random = StdRng::seed_from_u64(2);
    let carriers: Vec<Carrier> = dataset.carriers().collect();
    let mut exchanges: Vec<Exchange> = dataset.exchanges().collect();
    let assigned = exchanges.iter_mut().filter(|exchange| exchange.ocn.is_some());
    for exchange in assigned.take(count.div_ceil(8)) {
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

/// Selective, broad and worst-case searches.
fn searches() -> [(&'static str, Search); 8] {
    let words = |words: &str| Search { words: words.parse().ok(), ..Search::default() };
    let wireless = || Search { carrier_type: "WIRELESS".parse().ok(), ..Search::default() };
    let assigned = || "ASSIGNED".parse().ok();
    [
        ("q=boston", words("boston")),
        ("q=cingular wireless", words("cingular wireless")),
        ("npa=415", Search { npa: "415".parse().ok(), ..Search::default() }),
        ("status=ASSIGNED", Search { status: assigned(), ..Search::default() }),
        ("type=WIRELESS", wireless()),
        (
            "status=ASSIGNED&type=WIRELESS&q=a",
            Search { status: assigned(), words: words("a").words, ..wireless() },
        ),
        ("q=a b c d e f g h i j", words("a b c d e f g h i j")),
        (
            "q=a-b a-c a-d a-e b-c b-d b-e c-d c-e d-e",
            words("a-b a-c a-d a-e b-c b-d b-e c-d c-e d-e"),
        ),
    ]
}

/// The minimum duration of several runs, in microseconds.
fn min_time(runs: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or(Duration::MAX).as_secs_f64() * 1e6
}

fn print_load(name: &str, dataset: &Dataset) {
    let packed = dataset.pack().unwrap();
    let load = min_time(15, || _ = black_box(Dataset::unpack(&packed).unwrap())) / 1000.0;
    let (exchanges, blocks) = (dataset.exchanges().len(), dataset.block_count());
    println!("| {name} | {exchanges} | {blocks} | {} | {load:.2} |", packed.len());
}

/// A search's total, and one page of its results.
fn page(dataset: &Dataset, search: &Search, offset: usize) -> (usize, Vec<Exchange>) {
    let results = dataset.search(search, TODAY);
    (results.len(), results.skip(offset).take(PAGE_LENGTH).collect())
}

fn print_searches(title: &str, dataset: &Dataset) {
    println!("\n{title}\n\n| search | found | µs | last page, µs |\n|---|---|---|---|");
    for (query, search) in searches() {
        let (total, _) = page(dataset, &search, 0);
        let last = total.saturating_sub(PAGE_LENGTH);
        let [first_page, last_page] =
            [0, last].map(|offset| min_time(30, || _ = black_box(page(dataset, &search, offset))));
        println!("| {query} | {total} | {first_page:.1} | {last_page:.1} |");
    }
}
