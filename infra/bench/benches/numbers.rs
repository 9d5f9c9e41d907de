//! Measures how long this service and the crate `phonenumber` take to describe a phone number: parse and validate it,
//! find its type and region, and format it four ways. The crate cannot check whether a number is possible, so it does
//! less.

// A benchmark panics on any error.
#![allow(clippy::unwrap_used)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use formatting::{DefaultCountry, PhoneNumber};
use phonenumber::{Mode, country, metadata::DATABASE};

/// Runs per set. The minimum counts.
const RUNS: usize = 10;
const RUN_TIME: Duration = Duration::from_millis(100);

const NORTH_AMERICA: &str =
    "+13052345678\n+14162345678\n(212) 234-5678\n+18003569377\n+16042345678\n312.234.5678";

fn main() {
    let worldwide =
        include_str!("../../../shared/formatting/tests/agreement/one_of_each_region.txt");
    let messy = include_str!("../../../functions/format/src/messy_numbers.json");
    let messy: Vec<String> = serde_json::from_str(messy).unwrap();
    println!("{:<16}{:>16}{:>16}   (microseconds per number)", "", "this service", "phonenumber");
    for (set, numbers) in [
        ("world", worldwide.lines().collect()),
        ("North America", NORTH_AMERICA.lines().collect()),
        // One in eight is enough, because the crate takes half a millisecond per number.
        ("messy", messy.iter().step_by(8).map(String::as_str).collect::<Vec<_>>()),
    ] {
        let [ours, theirs] = [describe_with_service as fn(&str), describe_with_crate]
            .map(|describe| microseconds_per_number(describe, &numbers));
        println!("{set:<16}{ours:>16.2}{theirs:>16.2}");
    }
}

/// The time per number in the fastest run, in microseconds.
fn microseconds_per_number(describe: fn(&str), numbers: &[&str]) -> f64 {
    let run = |passes: u32| {
        let started = Instant::now();
        (0..passes).for_each(|_| numbers.iter().for_each(|number| describe(number)));
        started.elapsed() / passes
    };
    let passes = (RUN_TIME.as_secs_f64() / run(3).as_secs_f64()).clamp(1.0, 1e6) as u32;
    let fastest = (0..RUNS).map(|_| run(passes)).min().unwrap();
    fastest.as_secs_f64() * 1e6 / numbers.len() as f64
}

fn describe_with_service(text: &str) {
    black_box(PhoneNumber::parse(black_box(text), DefaultCountry::default()));
}

fn describe_with_crate(text: &str) {
    let Ok(number) = phonenumber::parse(Some(country::US), black_box(text)) else { return };
    black_box(number.is_valid());
    black_box(number.number_type(&DATABASE));
    black_box(number.country().id());
    for mode in [Mode::E164, Mode::International, Mode::National, Mode::Rfc3966] {
        black_box(number.format().mode(mode).to_string());
    }
}
