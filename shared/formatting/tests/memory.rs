//! Measures the memory used by the rules after parsing a number from every region. The test runs in its own process,
//! because it measures the whole process.
//!
//! ```sh
//! cargo test -p formatting --test memory -- --nocapture
//! ```

// Tests may panic.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use formatting::{DefaultCountry, PhoneNumber};

const MAX_MEBIBYTES: u64 = 64;

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn parsing_every_region_uses_at_most_64_mebibytes() {
    let numbers = include_str!("agreement/one_of_each_region.txt").lines();
    let us = DefaultCountry::default();
    let mut regions: Vec<_> = numbers
        .filter_map(|number| PhoneNumber::parse(number, us))
        .filter(|number| number.valid)
        .map(|number| (number.country, number.country_calling_code))
        .collect();
    regions.sort();
    regions.dedup();
    // All 245 regions except EH, whose numbers also belong to MA, and MF, whose example number also belongs to
    // BL, plus 9 calling codes without a country.
    assert_eq!(regions.len(), 252);
    let mebibytes = peak_memory() / 1024;
    println!(
        "peak memory after one number from each of {} regions: {mebibytes} MiB",
        regions.len()
    );
    assert!(mebibytes <= MAX_MEBIBYTES, "{mebibytes} MiB");
}
