//! How long a snapshot takes to load, and how long lookups and searches take in it, beside a plain
//! scan of the same records: `cargo bench -p bench --bench dataset`.

// A benchmark ends where it fails.
#![allow(clippy::unwrap_used)]

mod data;
#[path = "../../../../shared/numbering/tests/plain_search/mod.rs"]
mod plain_search;
mod searches;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::Criterion;
use jiff::civil::Date;
use numbering::{
    dataset::Dataset,
    records::{Carrier, Exchange, Npa, Ocn},
};

use self::{plain_search::PlainSearch, searches::NamedSearch};

const TODAY: Date = Date::constant(2026, 7, 1);
const PAGE: usize = 100;

/// The least time that `run` takes, of some runs.
fn least(runs: usize, mut run: impl FnMut()) -> Duration {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn load_row(name: &str, dataset: &Dataset) {
    let packed = dataset.pack().unwrap();
    let load = least(15, || _ = black_box(Dataset::unpack(&packed).unwrap()));
    let length = u32::from_le_bytes(*packed[1..].first_chunk().unwrap()) as usize;
    let decompress =
        least(15, || _ = black_box(zstd::bulk::decompress(&packed[5..], length).unwrap()));
    println!(
        "| {name} | {} | {} | {} | {} | {:.2} | {:.0} % |",
        dataset.exchanges().len(),
        dataset.block_count(),
        packed.len(),
        length,
        micros(load) / 1000.0,
        100.0 * micros(decompress) / micros(load),
    );
}

/// The page of a search, with its total.
fn page(dataset: &Dataset, named: &NamedSearch) -> (usize, Vec<Exchange>) {
    let found = dataset.search(&named.search, TODAY);
    (found.len(), found.skip(named.offset).take(PAGE).collect())
}

fn print_searches(title: &str, dataset: &Dataset) {
    let plain = PlainSearch::of(dataset);
    println!("\n{title}\n\n| search | found | µs | plain scan µs | ratio |\n|---|---|---|---|---|");
    for named in searches::all() {
        let (total, on_page) = page(dataset, &named);
        let expected = plain.find(&named.search, &named.texts, TODAY);
        assert_eq!(total, expected.len(), "{}", named.name);
        assert!(on_page.iter().eq(expected.into_iter().skip(named.offset).take(PAGE)));
        let own = least(30, || _ = black_box(page(dataset, &named)));
        let baseline = least(2, || _ = black_box(plain.find(&named.search, &named.texts, TODAY)));
        println!(
            "| {} | {total} | {:.1} | {:.0} | {:.0} |",
            named.name,
            micros(own),
            micros(baseline),
            micros(baseline) / micros(own),
        );
    }
}

fn print_lookups(dataset: &Dataset) {
    let npas: Vec<Npa> = dataset.area_codes().map(|area_code| area_code.npa).collect();
    let ocns: Vec<Ocn> = dataset.carriers().map(|carrier: Carrier| carrier.ocn).collect();
    let codes: Vec<_> = dataset.exchanges().step_by(97).map(|it| it.npa_nxx()).collect();
    let each = |count: usize, run: &dyn Fn()| 1000.0 * micros(least(20, run)) / count as f64;
    println!("\n| lookup | ns |\n|---|---|");
    let area_codes =
        each(npas.len(), &|| npas.iter().for_each(|&npa| _ = black_box(dataset.area_code(npa))));
    println!("| area code | {area_codes:.0} |");
    let carriers =
        each(ocns.len(), &|| ocns.iter().for_each(|&ocn| _ = black_box(dataset.carrier(ocn))));
    println!("| carrier | {carriers:.0} |");
    let exchanges =
        each(codes.len(), &|| codes.iter().for_each(|&it| _ = black_box(dataset.exchange(it))));
    println!("| exchange | {exchanges:.0} |");
}

/// What a byte costs on the way from DynamoDB: 60 MB/s of network, and 400 MB/s of CPU for the four
/// characters that base64 makes of three bytes.
const MICROS_PER_BYTE: f64 = 1.0 / 60.0 + 4.0 / 3.0 / 400.0;

/// Ways to compress the columns, by the sum of what they cost from DynamoDB to the columns.
fn print_compressions(dataset: &Dataset) {
    let packed = dataset.pack().unwrap();
    let length = u32::from_le_bytes(*packed[1..].first_chunk().unwrap()) as usize;
    let body = zstd::bulk::decompress(&packed[5..], length).unwrap();
    println!("\n| compression | bytes | transfer ms | decompression ms | sum ms |");
    println!("|---|---|---|---|---|");
    let print = |name: &str, bytes: usize, decompress: Duration| {
        let transfer = bytes as f64 * MICROS_PER_BYTE / 1000.0;
        let decompress = micros(decompress) / 1000.0;
        let sum = transfer + decompress;
        println!("| {name} | {bytes} | {transfer:.1} | {decompress:.2} | {sum:.1} |");
    };
    print("none", body.len(), Duration::ZERO);
    let lz4 = lz4_flex::block::compress(&body);
    let decompress = || _ = black_box(lz4_flex::block::decompress(&lz4, length).unwrap());
    print("lz4", lz4.len(), least(15, decompress));
    for level in [3, 12, 17, 19, 22] {
        let bytes = zstd::bulk::compress(&body, level).unwrap();
        let decompress = || _ = black_box(zstd::bulk::decompress(&bytes, length).unwrap());
        print(&format!("zstd, level {level}"), bytes.len(), least(15, decompress));
    }
}

/// Loading, and the searches of the table, by criterion.
fn run_criterion(dataset: &Dataset) {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(300))
        .configure_from_args();
    let packed = dataset.pack().unwrap();
    criterion.bench_function("load", |bencher| bencher.iter(|| Dataset::unpack(&packed).unwrap()));
    for named in searches::all() {
        let name = format!("search {}", named.name);
        criterion.bench_function(&name, |bencher| bencher.iter(|| page(dataset, &named)));
    }
    criterion.final_summary();
}

fn main() {
    let full = data::published().unwrap_or_else(|| data::synthesized(246_468, 0));
    run_criterion(&full);
    println!("\n| data | exchanges | blocks | bytes | decompressed | load ms | decompression |");
    println!("|---|---|---|---|---|---|---|");
    load_row("full scale", &full);
    for size in [10_000, 100_000, 250_000, 640_000] {
        load_row("synthesized", &data::synthesized(size, 0));
    }
    let with_blocks = data::with_blocks(&full, 1_200_000);
    load_row("full scale with blocks", &with_blocks);
    print_compressions(&full);
    print_searches("Full scale", &full);
    print_searches("Full scale with thousands blocks", &with_blocks);
    print_lookups(&full);
}
