//! The memory that the rules take once a number of every region has been parsed. This test is a
//! process of its own, since it measures its process.
//!
//! ```sh
//! cargo test -p formatting --test memory -- --nocapture
//! ```

// A test ends where it fails.
#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

use formatting::{DefaultCountry, PhoneNumber};

const MAX_MEBIBYTES: u64 = 64;

/// The most memory that the process has used, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn a_number_of_every_region_fits_into_64_mebibytes() {
    let numbers = include_str!("agreement/one_of_each_region.txt").lines();
    let us = DefaultCountry::default();
    let mut regions: Vec<_> = numbers
        .filter_map(|number| PhoneNumber::parse(number, us))
        .filter(|number| number.valid)
        .map(|number| (number.country, number.country_calling_code))
        .collect();
    regions.sort();
    regions.dedup();
    // These are 245 regions without EH, whose numbers all belong to MA too, and without MF, whose
    // example number belongs to BL too, and 9 calling codes of no country.
    assert_eq!(regions.len(), 252);
    let mebibytes = peak_memory() / 1024;
    println!("peak memory after one number of each of {} regions: {mebibytes} MiB", regions.len());
    assert!(mebibytes <= MAX_MEBIBYTES, "{mebibytes} MiB");
}
