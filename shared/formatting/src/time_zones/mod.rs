//! Time zones, from libphonenumber's map of prefixes.
//!
//! `.ci/libphonenumber/generate` writes the map. Some names are aliases in the IANA database, such as `Asia/Calcutta`.
//! Some countries have another country's zone, such as `Europe/Moscow` for Belarus. In a few of them, such as Algeria,
//! the zone's daylight saving time does not apply.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    ops::Bound,
    sync::{Arc, LazyLock},
};

use super::number::PhoneNumber;

type Zones = Arc<[&'static str]>;

/// Zones by prefix, read on first use.
static PREFIXES: LazyLock<BTreeMap<String, Zones>> =
    LazyLock::new(|| read(include_str!("zones.txt")));

impl PhoneNumber {
    /// The number's possible IANA time zones, sorted by name. Empty if the number is invalid or its zones are
    /// unknown.
    ///
    /// A non-geographic number, such as a toll-free number, has all zones of its calling code.
    pub fn time_zones(&self) -> &'static [&'static str] {
        let Some(number_type) = self.number_type else { return &[] };
        let mut digits = self.country_calling_code.to_string();
        if number_type.belongs_to_place(self.country_calling_code) {
            digits.push_str(&self.national_number);
        }
        zones_for_longest_prefix(&digits)
    }
}

/// The map's IANA time zones for these area codes, sorted by name.
pub fn time_zones_for_area_codes<C: Display>(
    codes: impl IntoIterator<Item = C>,
) -> BTreeSet<&'static str> {
    let prefixes: Vec<String> = codes.into_iter().map(|code| format!("1{code}")).collect();
    prefixes.iter().flat_map(|prefix| zones_within(prefix)).collect()
}

/// The IANA time zones of all numbers with a calling code.
pub fn time_zones_for_calling_code(calling_code: i32) -> &'static [&'static str] {
    zones_for_longest_prefix(&calling_code.to_string())
}

/// The zones of all prefixes that start with these digits, since an area code may span several.
fn zones_within(digits: &str) -> impl Iterator<Item = &'static str> {
    let from_digits = (Bound::Included(digits), Bound::Unbounded);
    let within = PREFIXES.range::<str, _>(from_digits);
    let within = within.take_while(move |(prefix, _)| prefix.starts_with(digits));
    within.flat_map(|(_, zones)| zones.iter().copied())
}

fn zones_for_longest_prefix(digits: &str) -> &'static [&'static str] {
    let mut lengths = (1..=digits.len()).rev();
    lengths.find_map(|length| PREFIXES.get(digits.get(..length)?)).map_or(&[], |zones| zones)
}

/// Reads a table, whose first lines describe its layout.
fn read(table: &'static str) -> BTreeMap<String, Zones> {
    let (mut prefixes, mut zones) = (BTreeMap::new(), Zones::default());
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let Some(line) = line.strip_prefix("  ") else {
            zones = line.split(' ').collect();
            continue;
        };
        // A line without a colon is a single prefix, with an empty ending.
        let (start, endings) = line.split_once(": ").unwrap_or((line, ""));
        let endings = endings.split(' ');
        prefixes.extend(endings.map(|ending| ([start, ending].concat(), Arc::clone(&zones))));
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDAHO: [&str; 3] = ["America/Boise", "America/Denver", "America/Los_Angeles"];

    #[test]
    fn area_codes_have_the_zones_of_all_their_numbers() {
        for (codes, expected) in [
            (&["415"][..], &["America/Los_Angeles"][..]),
            (&["208"], &IDAHO),
            (&["219"], &["America/Chicago", "America/New_York"]),
            (&["357", "209"], &["America/Los_Angeles"]),
            (&["357", "800"], &[]),
        ] {
            let zones: Vec<_> = time_zones_for_area_codes(codes).into_iter().collect();
            assert_eq!(zones, expected);
        }
        assert_eq!(time_zones_for_calling_code(1).len(), 42);
    }
}
