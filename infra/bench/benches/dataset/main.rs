//! Times loading a snapshot, and searches in it, against a plain scan of the same records: `cargo bench -p
//! bench --bench dataset`.

// A benchmark stops where it fails.
#![allow(clippy::unwrap_used)]

mod data;
#[path = "../../../../shared/numbering/tests/plain_search/mod.rs"]
mod plain_search;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, Search},
    records::Exchange,
};

use self::plain_search::{PlainSearch, Texts};

const TODAY: Date = Date::constant(2026, 7, 1);
const PAGE: usize = 100;

/// Selective, broad and worst-case searches, as in a URL's query.
const SEARCHES: [&str; 21] = [
    "q=boston",
    "q=bell canada",
    "q=cingular wireless",
    "q=t-mobile",
    "q=wireless san",
    "npa=415",
    "nxx=555",
    "ocn=6010",
    "company=AT%T",
    "rate_center=san jose",
    "country=US",
    "state=CA",
    "status=ASSIGNED",
    "type=WIRELESS",
    "q=a",
    "q=a c",
    "status=ASSIGNED&type=WIRELESS&q=a",
    "q=a-b c-d",
    "q=c i l n s",
    "q=a b c d e f g h i j",
    "q=a-b a-c a-d a-e b-c b-d b-e c-d c-e d-e",
];

/// A query's search, for the service's code and for the plain scan.
fn parse(query: &str) -> (Search, Texts) {
    let (mut search, mut texts) = (Search::default(), Texts::default());
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap();
        let value = value.replace('%', "&");
        match name {
            "q" => (search.words, texts.words) = (value.parse().ok(), Some(value)),
            "company" => (search.company, texts.company) = (value.parse().ok(), Some(value)),
            "rate_center" => {
                (search.rate_center, texts.rate_center) = (value.parse().ok(), Some(value));
            }
            "npa" => search.npa = value.parse().ok(),
            "nxx" => search.nxx = value.parse().ok(),
            "ocn" => search.ocn = value.parse().ok(),
            "country" => search.country = value.parse().ok(),
            "state" => search.state = value.parse().ok(),
            "status" => search.status = value.parse().ok(),
            "type" => search.carrier_type = value.parse().ok(),
            _ => panic!("{name} is not a parameter of a search"),
        }
    }
    (search, texts)
}

/// The minimum time of several runs, in microseconds.
fn least(runs: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or(Duration::MAX).as_secs_f64() * 1e6
}

fn print_load(name: &str, dataset: &Dataset) {
    let packed = dataset.pack().unwrap();
    let load = least(15, || _ = black_box(Dataset::unpack(&packed).unwrap())) / 1000.0;
    let (exchanges, blocks) = (dataset.exchanges().len(), dataset.block_count());
    println!("| {name} | {exchanges} | {blocks} | {} | {load:.2} |", packed.len());
}

/// A search's page and total.
fn page(dataset: &Dataset, search: &Search, offset: usize) -> (usize, Vec<Exchange>) {
    let found = dataset.search(search, TODAY);
    (found.len(), found.skip(offset).take(PAGE).collect())
}

fn print_searches(title: &str, dataset: &Dataset) {
    let plain = PlainSearch::new(dataset);
    println!("\n{title}\n\n| search | found | µs | last page, µs | plain scan, µs |");
    println!("|---|---|---|---|---|");
    for query in SEARCHES {
        let (search, texts) = parse(query);
        let (total, _) = page(dataset, &search, 0);
        let last = total.saturating_sub(PAGE);
        let expected = plain.find(&search, &texts, TODAY);
        assert_eq!(total, expected.len(), "{query}");
        assert!(page(dataset, &search, last).1.iter().eq(expected.into_iter().skip(last)));
        let first_page = least(30, || _ = black_box(page(dataset, &search, 0)));
        let last_page = least(30, || _ = black_box(page(dataset, &search, last)));
        let scan = least(2, || _ = black_box(plain.find(&search, &texts, TODAY)));
        println!("| {query} | {total} | {first_page:.1} | {last_page:.1} | {scan:.0} |");
    }
}

fn main() {
    let dataset = data::dataset();
    println!("| data | exchanges | blocks | bytes | load ms |\n|---|---|---|---|---|");
    print_load("the reports", &dataset);
    let with_blocks = data::with_blocks(&dataset, 1_200_000);
    print_load("with thousands blocks", &with_blocks);
    print_searches("Without thousands blocks", &dataset);
    print_searches("With thousands blocks", &with_blocks);
}
