//! Time zones, places and networks of numbers in E.164, compared with Google's own implementation.
//!
//! The committed answers are for the numbers in the selection.

use formatting::{DefaultCountry, Languages, LocalName, PhoneNumber};

use crate::corpus::answers;

const UNKNOWN_ZONE: &str = "Etc/Unknown";

fn parse(e164: &str) -> Option<PhoneNumber> {
    PhoneNumber::parse(e164, DefaultCountry::default())
}

fn time_zones(e164: &str) -> String {
    let zones = parse(e164).map_or_else(String::new, |number| number.time_zones().join(" "));
    if zones.is_empty() { UNKNOWN_ZONE.to_owned() } else { zones }
}

#[test]
fn every_number_has_googles_time_zones() {
    let answers = answers("time_zones.txt", include_str!("time_zones.txt"));
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

#[test]
fn every_number_has_googles_place_and_network() {
    let answers = answers("names.txt", include_str!("names.txt"));
    let (mut count, mut different) = (0, Vec::new());
    for line in answers.lines() {
        let columns: Vec<_> = line.split('\t').collect();
        let [e164, language, place, network] = *columns else { panic!("{line}") };
        let languages: Languages = language.parse().unwrap();
        let number = parse(e164);
        let number = number.as_ref();
        let found_place = number.and_then(|number| number.place(&languages));
        let found_network = number.and_then(|number| number.network(&languages));
        for (found, expected) in [(found_place, place), (found_network, network)] {
            let found = found.map_or("", |it: LocalName| it.name);
            count += usize::from(!expected.is_empty());
            different.extend((found != expected).then_some((e164, language, expected, found)));
        }
    }
    println!("{} differ from Google's {count} places and networks", different.len());
    assert!(different.is_empty(), "{different:#?}");
    assert!(count > 100, "{count}");
}
