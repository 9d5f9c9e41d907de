//! Time zones, from libphonenumber's map of prefixes.
//!
//! Some names are aliases in the IANA database, such as `Asia/Calcutta`. Some countries have another country's zone, such as
//! `Europe/Moscow` for Belarus. In a few of them, such as Algeria, the zone's daylight saving time does not apply.

use std::{collections::BTreeSet, fmt::Display};

use super::{names_by_prefix::ZONES, number::PhoneNumber};

impl PhoneNumber {
    /// The number's possible IANA time zones, sorted by name. Empty if the number is invalid or its zones are
    /// unknown.
    ///
    /// A non-geographic number, such as a toll-free number, has all zones of its calling code.
    pub fn time_zones(&self) -> Vec<&'static str> {
        let Some(number_type) = self.number_type else { return Vec::new() };
        let mut digits = self.country_calling_code.to_string();
        if number_type.belongs_to_place(self.country_calling_code) {
            digits.push_str(&self.national_number);
        }
        zones_for_longest_prefix(&digits)
    }
}

/// The map's IANA time zones for these area codes, sorted by name. An area code may span several prefixes.
pub fn time_zones_for_area_codes<C: Display>(
    codes: impl IntoIterator<Item = C>,
) -> BTreeSet<&'static str> {
    let lines = codes.into_iter().flat_map(|code| ZONES.lines_within(&format!("1{code}")));
    lines.flat_map(|line| line.split(' ')).collect()
}

/// The IANA time zones of all numbers with a calling code.
pub fn time_zones_for_calling_code(calling_code: i32) -> Vec<&'static str> {
    zones_for_longest_prefix(&calling_code.to_string())
}

fn zones_for_longest_prefix(digits: &str) -> Vec<&'static str> {
    ZONES.lines_for(digits).next().into_iter().flat_map(|line| line.split(' ')).collect()
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
