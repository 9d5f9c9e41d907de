//! Countries and states in the numbering data: the US with its territories, and Canada.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use strum::{Display, EnumString, VariantNames};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use super::codes::{ascii_text, serialize_as_text};

/// The two countries covered by the numbering data.
#[derive(Serialize, Deserialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Country {
    Us,
    Ca,
}

impl Country {
    pub const ALL: [Country; 2] = [Country::Us, Country::Ca];
}

/// A US state, DC, a US territory, or a Canadian province or territory, by its postal code
/// (ISO 3166-2 without the country).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateCode([u8; 2]);

/// Text that is not a US or Canadian state or province code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be the two-letter code of a US state, DC, a US territory or a Canadian province or territory"
)]
pub struct UnknownState;

impl StateCode {
    /// The letters of the code.
    pub(crate) fn characters(self) -> [u8; 2] {
        self.0
    }

    /// Builds a code from capital letters without looking it up; `None` for other letters.
    pub(crate) fn from_letters(letters: [u8; 2]) -> Option<Self> {
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }

    /// Every code: the US in alphabetical order, then Canada.
    fn all() -> impl Iterator<Item = Self> {
        STATES.iter().filter_map(|(code, ..)| code.parse().ok())
    }

    /// The name and kind of the state; `None` if the code does not exist.
    fn described(self) -> Option<(&'static str, Kind)> {
        let of_code = |(code, ..): &&(&str, _, _)| code.as_bytes() == self.0;
        STATES.iter().find(of_code).map(|&(_, name, kind)| (name, kind))
    }

    /// The country the state belongs to.
    pub fn country(self) -> Country {
        match self.described() {
            Some((_, Kind::Province)) => Country::Ca,
            _ => Country::Us,
        }
    }

    /// The ISO 3166-1 country code of numbers in this state. ISO counts a US territory as a country and gives
    /// it its state code.
    pub fn iso_country(self) -> String {
        match self.described() {
            Some((_, Kind::Territory)) => self.to_string(),
            _ => self.country().to_string(),
        }
    }

    /// The Canadian provinces and territories whose full names appear in `text`, in order and ignoring case. No
    /// name contains another.
    pub fn provinces_named_in(text: &str) -> Vec<Self> {
        let text = text.to_uppercase();
        let provinces = STATES.iter().filter(|(_, _, kind)| *kind == Kind::Province);
        let mut found: Vec<(usize, Self)> = provinces
            .filter_map(|(code, name, _)| {
                Some((text.find(&name.to_uppercase())?, code.parse().ok()?))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, state)| state).collect()
    }

    /// The common full name.
    pub fn name(self) -> &'static str {
        self.described().map_or("", |(name, _)| name)
    }
}

impl FromStr for StateCode {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, UnknownState> {
        let code = <[u8; 2]>::try_from(text.as_bytes()).map_err(|_| UnknownState)?;
        let state = Self(code.map(|byte| byte.to_ascii_uppercase()));
        state.described().map(|_| state).ok_or(UnknownState)
    }
}

serialize_as_text!(StateCode);

impl PartialSchema for StateCode {
    fn schema() -> RefOr<Schema> {
        let codes = Self::all().map(|state| state.to_string());
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "Postal code of a US state, DC, a US territory, or a Canadian province or territory",
            ))
            .enum_values(Some(codes))
            .into()
    }
}

impl ToSchema for StateCode {}

/// The status of a state within its country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One of the 50 states of the US, or DC.
    State,
    /// A US territory, which ISO 3166-1 counts as a country.
    Territory,
    /// A province or territory of Canada.
    Province,
}
use Kind::{Province, State, Territory};

/// Code, common name and kind: the US in alphabetical order, then Canada. `rust_iso3166` has them too, but its
/// worldwide subdivisions would add 3 MB to each function, so only a test uses it. The uninhabited US Minor
/// Outlying Islands are left out: they have no numbers.
const STATES: [(&str, &str, Kind); 69] = [
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

    fn state(code: &str) -> StateCode {
        code.parse().unwrap()
    }

    #[test]
    fn states_match_iso_3166() {
        let by_iso = |country: &'static rust_iso3166::CountryCode| {
            country.subdivisions().unwrap().iter().filter(|found| found.code != "US-UM")
        };
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

    #[test]
    fn only_states_are_parsed_ignoring_case() {
        assert_eq!((state("qc").to_string().as_str(), state("qc").name()), ("QC", "Quebec"));
        for text in ["", "C", "XX", "CAL", "1A", "é", "UM"] {
            assert!(text.parse::<StateCode>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn provinces_are_found_by_name_in_text() {
        for (text, expected) in [
            ("NOVA SCOTIA - PRINCE EDWARD ISLAND", &["NS", "PE"][..]),
            ("NORTHWEST TERRITORIES -YUKON - NUNAVUT", &["NT", "YT", "NU"]),
            ("Newfoundland and Labrador", &["NL"]),
            ("NANP AREA", &[]),
        ] {
            let found: Vec<String> =
                StateCode::provinces_named_in(text).iter().map(StateCode::to_string).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_us_territory_has_its_own_iso_country() {
        for code in ["AS", "GU", "MP", "PR", "VI"] {
            assert_eq!(state(code).iso_country(), code);
            assert_eq!(state(code).country(), Country::Us);
        }
        assert_eq!(
            (state("DC").iso_country().as_str(), state("DC").country()),
            ("US", Country::Us)
        );
        assert_eq!(
            (state("ON").iso_country().as_str(), state("ON").country()),
            ("CA", Country::Ca)
        );
    }
}
