//! The states and provinces of ISO 3166-2, without the rest of the world.
//!
//! The crate `rust_iso3166` has all subdivisions of all countries. It would be 3 MB of each function, and
//! a part of its memory and of its start, since a program relocates such tables when it is loaded. So it
//! is only asked by a test, which compares this table with it.

/// What a state is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// One of the 50 states of the US, or DC.
    State,
    /// A territory of the US, which ISO 3166-1 counts as a country of its own.
    Territory,
    /// A province or territory of Canada.
    Province,
}
use Kind::{Province, State, Territory};

/// Code, name in everyday use, and kind: those of the US in alphabetical order of their codes, then those
/// of Canada. The US Minor Outlying Islands are left out: they are uninhabited, so the numbering plan
/// has no number there.
pub(super) const STATES: [(&str, &str, Kind); 69] = [
    ("AK", "Alaska", State),
    ("AL", "Alabama", State),
    ("AR", "Arkansas", State),
    ("AS", "American Samoa", Territory),
    ("AZ", "Arizona", State),
    ("CA", "California", State),
    ("CO", "Colorado", State),
    ("CT", "Connecticut", State),
    ("DC", "District of Columbia", State),
    ("DE", "Delaware", State),
    ("FL", "Florida", State),
    ("GA", "Georgia", State),
    ("GU", "Guam", Territory),
    ("HI", "Hawaii", State),
    ("IA", "Iowa", State),
    ("ID", "Idaho", State),
    ("IL", "Illinois", State),
    ("IN", "Indiana", State),
    ("KS", "Kansas", State),
    ("KY", "Kentucky", State),
    ("LA", "Louisiana", State),
    ("MA", "Massachusetts", State),
    ("MD", "Maryland", State),
    ("ME", "Maine", State),
    ("MI", "Michigan", State),
    ("MN", "Minnesota", State),
    ("MO", "Missouri", State),
    ("MP", "Northern Mariana Islands", Territory),
    ("MS", "Mississippi", State),
    ("MT", "Montana", State),
    ("NC", "North Carolina", State),
    ("ND", "North Dakota", State),
    ("NE", "Nebraska", State),
    ("NH", "New Hampshire", State),
    ("NJ", "New Jersey", State),
    ("NM", "New Mexico", State),
    ("NV", "Nevada", State),
    ("NY", "New York", State),
    ("OH", "Ohio", State),
    ("OK", "Oklahoma", State),
    ("OR", "Oregon", State),
    ("PA", "Pennsylvania", State),
    ("PR", "Puerto Rico", Territory),
    ("RI", "Rhode Island", State),
    ("SC", "South Carolina", State),
    ("SD", "South Dakota", State),
    ("TN", "Tennessee", State),
    ("TX", "Texas", State),
    ("UT", "Utah", State),
    ("VA", "Virginia", State),
    ("VI", "U.S. Virgin Islands", Territory),
    ("VT", "Vermont", State),
    ("WA", "Washington", State),
    ("WI", "Wisconsin", State),
    ("WV", "West Virginia", State),
    ("WY", "Wyoming", State),
    ("AB", "Alberta", Province),
    ("BC", "British Columbia", Province),
    ("MB", "Manitoba", Province),
    ("NB", "New Brunswick", Province),
    ("NL", "Newfoundland and Labrador", Province),
    ("NS", "Nova Scotia", Province),
    ("NT", "Northwest Territories", Province),
    ("NU", "Nunavut", Province),
    ("ON", "Ontario", Province),
    ("PE", "Prince Edward Island", Province),
    ("QC", "Quebec", Province),
    ("SK", "Saskatchewan", Province),
    ("YT", "Yukon", Province),
];

#[cfg(test)]
mod tests {
    use rust_iso3166::iso3166_2::Subdivision;

    use super::*;

    fn by_iso(
        country: &'static rust_iso3166::CountryCode,
    ) -> impl Iterator<Item = &'static Subdivision> {
        country.subdivisions().unwrap().iter().filter(|found| found.code != "US-UM")
    }

    #[test]
    fn the_states_are_those_of_iso_3166() {
        let name = |found: &Subdivision| match found.name {
            "Virgin Islands, U.S." => "U.S. Virgin Islands",
            name => name,
        };
        let of_us = by_iso(&rust_iso3166::US).map(|found| match found.subdivision_type {
            "Outlying area" => (found, Territory),
            _ => (found, State),
        });
        let of_canada = by_iso(&rust_iso3166::CA).map(|found| (found, Province));
        let expected = of_us.chain(of_canada).map(|(found, kind)| {
            let (_country, code) = found.code.split_once('-').unwrap();
            (code, name(found), kind)
        });
        assert!(expected.eq(STATES));
    }
}
