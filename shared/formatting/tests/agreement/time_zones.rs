//! Time zones of numbers in E.164, compared with those from Google's own implementation.
//!
//! `.ci/time_zones/generate` writes them to a file: a list of zones per line, and its numbers. The test reads the file
//! at `TNR_TIME_ZONES`, or else the committed one, with the numbers in the selection.

use std::{env, fs};

use formatting::{DefaultCountry, PhoneNumber};

const ANSWERS: &str = "TNR_TIME_ZONES";
const UNKNOWN: &str = "Etc/Unknown";

fn time_zones(e164: &str) -> String {
    let number = PhoneNumber::parse(e164, DefaultCountry::default());
    let zones = number.map_or_else(String::new, |number| number.time_zones().join(" "));
    if zones.is_empty() { UNKNOWN.to_owned() } else { zones }
}

#[test]
fn every_number_has_googles_time_zones() {
    let answers = env::var_os(ANSWERS).map(|file| fs::read_to_string(file).unwrap());
    let answers = answers.as_deref().unwrap_or(include_str!("time_zones.txt"));
    let (mut count, mut different) = (0, Vec::new());
    for line in answers.lines() {
        let (expected, numbers) = line.split_once(": ").unwrap();
        for number in numbers.split(' ') {
            count += 1;
            let found = time_zones(number);
            different.extend((found != expected).then_some((number, expected, found)));
        }
    }
    println!("{} of {count} numbers have Google's time zones", count - different.len());
    assert!(different.is_empty(), "{different:#?}");
    assert!(count > 300, "{count}");
}
