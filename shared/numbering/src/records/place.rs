//! Countries and states in the numbering data: the US with its territories, and Canada.

use std::{fmt, str::FromStr, sync::LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use strum::{Display, EnumString, VariantArray, VariantNames};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use super::codes::{ascii_text, serialize_as_text};

/// The two countries covered by the numbering data.
#[derive(Serialize, Deserialize, Display, EnumString, VariantArray, VariantNames, ToSchema)]
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

impl StateCode {
    pub(crate) fn characters(self) -> [u8; 2] {
        self.0
    }

    /// Creates a code from capital letters without checking that it exists; `None` for other characters.
    pub(crate) fn from_letters(letters: [u8; 2]) -> Option<Self> {
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }

    /// The state's name and kind; `None` if the code does not exist.
    fn details(self) -> Option<(&'static str, Kind)> {
        let state = STATES.iter().find(|(code, ..)| code.as_bytes() == self.0);
        state.map(|&(_, kind, name)| (name, kind))
    }

    pub fn country(self) -> Country {
        match self.details() {
            Some((_, Kind::Province)) => Country::Ca,
            _ => Country::Us,
        }
    }

    /// The ISO 3166-1 country code for numbers in this state. ISO treats US territories as countries, with the same
    /// codes.
    pub fn iso_country(self) -> String {
        match self.details() {
            Some((_, Kind::Territory)) => self.to_string(),
            _ => self.country().to_string(),
        }
    }

    /// The Canadian provinces and territories whose full names appear in `text`, in order and ignoring case. No
    /// name contains another.
    pub fn provinces_named_in(text: &str) -> Vec<Self> {
        let text = text.to_uppercase();
        let provinces = STATES.iter().filter(|(_, kind, _)| *kind == Kind::Province);
        let mut found: Vec<(usize, Self)> = provinces
            .filter_map(|(code, _, name)| {
                Some((text.find(&name.to_uppercase())?, code.parse().ok()?))
            })
            .collect();
        found.sort();
        found.into_iter().map(|(_, state)| state).collect()
    }

    /// The full name in common use.
    pub fn name(self) -> &'static str {
        self.details().map_or("", |(name, _)| name)
    }
}

impl FromStr for StateCode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code = <[u8; 2]>::try_from(text.as_bytes()).ok();
        let state = code.map(|code| Self(code.map(|byte| byte.to_ascii_uppercase())));
        state.filter(|state| state.details().is_some()).ok_or(
            "must be the two-letter code of a US state, DC, a US territory or a Canadian province or \
             territory",
        )
    }
}

serialize_as_text!(StateCode);

impl PartialSchema for StateCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "Postal code of a US state, DC, a US territory, or a Canadian province or territory",
            ))
            .enum_values(Some(STATES.iter().map(|(code, ..)| *code)))
            .into()
    }
}

impl ToSchema for StateCode {}

#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase")]
enum Kind {
    State,
    /// A US territory, which ISO 3166-1 counts as a country.
    Territory,
    Province,
}

/// Code, kind and common name: the US in alphabetical order, then Canada. `rust_iso3166` also has them, but its
/// worldwide subdivisions would add 3 MB to each function, so only a test uses it. The uninhabited US Minor
/// Outlying Islands have no phone numbers, so they are omitted.
static STATES: LazyLock<Vec<(&str, Kind, &str)>> = LazyLock::new(|| {
    let states = include_str!("states.txt").lines().filter_map(|line| {
        let (code, rest) = line.split_once(' ')?;
        let (kind, name) = rest.split_once(' ')?;
        Some((code, kind.parse().ok()?, name))
    });
    states.collect()
});

#[cfg(test)]
mod tests {
    use rust_iso3166::iso3166_2::Subdivision;

    use super::*;

    fn state(code: &str) -> StateCode {
        code.parse().unwrap()
    }

    #[test]
    fn states_match_iso_3166() {
        let subdivisions = |country: &'static rust_iso3166::CountryCode| {
            country.subdivisions().unwrap().iter().filter(|found| found.code != "US-UM")
        };
        let name = |found: &Subdivision| match found.name {
            "Virgin Islands, U.S." => "U.S. Virgin Islands",
            name => name,
        };
        let us_states = subdivisions(&rust_iso3166::US).map(|found| match found.subdivision_type {
            "Outlying area" => (found, Kind::Territory),
            _ => (found, Kind::State),
        });
        let provinces = subdivisions(&rust_iso3166::CA).map(|found| (found, Kind::Province));
        let expected = us_states.chain(provinces).map(|(found, kind)| {
            let (_country, code) = found.code.split_once('-').unwrap();
            (code, kind, name(found))
        });
        assert!(expected.eq(STATES.iter().copied()));
    }

    #[test]
    fn state_codes_must_exist_and_may_be_lowercase() {
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
        for (code, iso, country) in
            [("GU", "GU", Country::Us), ("DC", "US", Country::Us), ("ON", "CA", Country::Ca)]
        {
            assert_eq!((state(code).iso_country().as_str(), state(code).country()), (iso, country));
        }
    }
}
