//! Countries and states of the numbering data: the US with its territories, and Canada.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use strum::{Display, EnumString, VariantNames};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use super::{
    codes::{ascii_text, serialize_as_text},
    states::{Kind, STATES},
};

/// The two countries whose numbering data the service holds.
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

/// Text that is not the code of a state or province of the US or Canada.
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

    /// The code of these letters, which is not looked up; `None` if they are no capital letters.
    pub(crate) fn of_letters(letters: [u8; 2]) -> Option<Self> {
        letters.iter().all(u8::is_ascii_uppercase).then_some(Self(letters))
    }

    /// Every code: those of the US in alphabetical order, then those of Canada.
    fn all() -> impl Iterator<Item = Self> {
        STATES.iter().filter_map(|(code, ..)| code.parse().ok())
    }

    /// The name and kind of the state; `None` for letters that are no code.
    fn described(self) -> Option<(&'static str, Kind)> {
        let of_code = |(code, ..): &&(&str, _, _)| code.as_bytes() == self.0;
        STATES.iter().find(of_code).map(|&(_, name, kind)| (name, kind))
    }

    /// The country that the state is part of.
    pub fn country(self) -> Country {
        match self.described() {
            Some((_, Kind::Province)) => Country::Ca,
            _ => Country::Us,
        }
    }

    /// The ISO 3166-1 code of the country that numbers of this state belong to. A US territory is a
    /// country of its own there, with the code that it has as a state.
    pub fn iso_country(self) -> String {
        match self.described() {
            Some((_, Kind::Territory)) => self.to_string(),
            _ => self.country().to_string(),
        }
    }

    /// The Canadian provinces and territories whose full names `text` contains, in the order of the
    /// text and whatever the case of its letters. No such name is part of another.
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

    /// The full name in everyday use.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// 50 states, DC and 5 territories; 10 provinces and 3 territories.
    #[test]
    fn every_state_and_province_is_known_and_no_other_code() {
        let codes =
            ('A'..='Z').flat_map(|first| ('A'..='Z').map(move |second| format!("{first}{second}")));
        let known: Vec<StateCode> = codes.filter_map(|code| code.parse().ok()).collect();
        assert_eq!(known.len(), 56 + 13);
        assert_eq!(StateCode::all().collect::<BTreeSet<_>>(), known.into_iter().collect());
    }

    #[test]
    fn a_state_is_matched_without_case() {
        let state: StateCode = "qc".parse().unwrap();
        assert_eq!((state.to_string().as_str(), state.name()), ("QC", "Quebec"));
    }

    #[test]
    fn provinces_are_found_by_their_names_in_a_text() {
        let provinces = |text| -> Vec<String> {
            let states = StateCode::provinces_named_in(text);
            states.iter().map(StateCode::to_string).collect()
        };
        assert_eq!(provinces("NOVA SCOTIA - PRINCE EDWARD ISLAND"), ["NS", "PE"]);
        assert_eq!(provinces("NORTHWEST TERRITORIES -YUKON - NUNAVUT"), ["NT", "YT", "NU"]);
        assert_eq!(provinces("Newfoundland and Labrador"), ["NL"]);
        assert_eq!(provinces("NANP AREA"), [""; 0]);
    }

    #[test]
    fn a_state_knows_its_country() {
        assert_eq!("PR".parse::<StateCode>().unwrap().country(), Country::Us);
        assert_eq!("NL".parse::<StateCode>().unwrap().country(), Country::Ca);
    }

    #[test]
    fn a_territory_is_a_country_of_its_own_to_iso_and_part_of_the_us_to_the_numbering_data() {
        for code in ["AS", "GU", "MP", "PR", "VI"] {
            let territory: StateCode = code.parse().unwrap();
            assert_eq!(
                (territory.iso_country().as_str(), territory.country()),
                (code, Country::Us)
            );
        }
        assert_eq!("DC".parse::<StateCode>().unwrap().iso_country(), "US");
        assert_eq!("ON".parse::<StateCode>().unwrap().iso_country(), "CA");
    }

    #[test]
    fn text_that_is_no_state_is_refused() {
        for text in ["", "C", "XX", "CAL", "1A", "é", "UM"] {
            assert!(text.parse::<StateCode>().is_err(), "{text:?}");
        }
    }
}
