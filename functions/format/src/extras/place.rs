//! The city or region where a number may be.

use std::{collections::HashMap, sync::LazyLock};

use formatting::{Languages, LocalName, PhoneNumber, north_american_places};
use jiff::civil::Date;
use numbering::{
    dataset::{Dataset, folded_words},
    records::StateCode,
};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use crate::block::{Block, BlockRecords, NanpParts};

/// Libphonenumber's name for the only city without a state.
const WASHINGTON: &str = "Washington D.C.";

/// The city or region where the number may be. Mobile numbers and ported numbers may be used elsewhere.
#[derive(Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Place)]
pub struct PlaceInfo {
    #[schema(example = "Miami, FL")]
    pub(crate) name: &'static str,
    /// The name's language (BCP 47): the requested one if the name is available in it, otherwise `en`.
    #[schema(pattern = "^[a-z]{2}(-[A-Za-z]+)?$", example = "en")]
    pub(crate) language: &'static str,
    pub(crate) basis: PlaceBasis,
}

/// The basis of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum PlaceBasis {
    /// The rate center of the number's block, which has the name of a city.
    RateCenter,
    /// Libphonenumber's name for numbers that start with the same digits.
    NumberPrefix,
    /// The state or province of the number's exchange.
    State,
}

impl PlaceInfo {
    /// Finds a number's place. `None` if it is unknown, or the number does not belong to a place.
    pub fn find(
        number: &PhoneNumber,
        dataset: Option<&Dataset>,
        languages: &Languages,
        today: Date,
    ) -> Option<Self> {
        if number.is_non_geographic {
            return None;
        }
        let by_prefix = number.place(languages);
        let block = dataset.and_then(|dataset| block(number, dataset, today)).unwrap_or_default();
        let state = block.state.map(|(state, _)| state);
        let city = state.and_then(|state| city(block.rate_center.as_deref()?, state));
        // In North America, a city's name ends with its state, unlike a state's.
        let is_city = |it: &LocalName| it.name.contains(", ") || it.name == WASHINGTON;
        match (city, by_prefix, state) {
            (Some(city), ..) => Some(Self::in_english(city, PlaceBasis::RateCenter)),
            (None, by_prefix, Some(state)) if !by_prefix.as_ref().is_some_and(is_city) => {
                Some(Self::in_english(state.name(), PlaceBasis::State))
            }
            (None, by_prefix, _) => by_prefix.map(|LocalName { name, language }| Self {
                name,
                language,
                basis: PlaceBasis::NumberPrefix,
            }),
        }
    }

    fn in_english(name: &'static str, basis: PlaceBasis) -> Self {
        Self { name, language: "en", basis }
    }
}

/// The block of a number in the US or Canada; `None` if the number cannot be assigned.
fn block(number: &PhoneNumber, dataset: &Dataset, today: Date) -> Option<Block> {
    let NanpParts { npa_nxx, .. } = NanpParts::from_number(number)?;
    let exchange = dataset.exchange(npa_nxx);
    if exchange.is_none() && !number.valid {
        return None;
    }
    let records = BlockRecords::new(exchange, || dataset.area_code(npa_nxx.npa));
    Some(Block::new(number, records, today))
}

/// The city in a state with the same name as a rate center. Many rate centers have abbreviated names, such as
/// `NWYRCYZN01`.
fn city(rate_center: &str, state: StateCode) -> Option<&'static str> {
    static CITIES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        north_american_places().filter(|name| name.contains(", ")).map(|it| (key(it), it)).collect()
    });
    CITIES.get(&key(&format!("{rate_center}, {state}"))).copied()
}

/// The letters of a name, without spaces and accents.
fn key(name: &str) -> String {
    folded_words(name).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;
    use numbering::records::{AreaCode, Country, Exchange};

    use super::*;
    use crate::block::tests::exchange;

    fn in_state(npa: &str, rate_center: &str, state: &str) -> Exchange {
        Exchange {
            npa: npa.parse().unwrap(),
            nxx: "234".parse().unwrap(),
            rate_center: Some(rate_center.to_owned()),
            state: state.parse().ok(),
            blocks: [].into(),
            ..exchange()
        }
    }

    /// A number's place and its basis.
    fn place(text: &str, dataset: Option<&Dataset>) -> String {
        let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
        let today = Date::constant(2026, 7, 1);
        match PlaceInfo::find(&number, dataset, &Languages::default(), today) {
            Some(PlaceInfo { name, basis, .. }) => format!("{name} {basis}"),
            None => "unknown".to_owned(),
        }
    }

    #[test]
    fn rate_centers_with_plain_names_come_before_prefixes_and_states() {
        let exchanges = vec![
            in_state("212", "NWYRCYZN01", "NY"),
            in_state("202", "WSHNGTNZN1", "DC"),
            in_state("305", "MIAMI", "FL"),
            in_state("309", "NORTH DADE", "FL"),
            in_state("514", "Montréal", "QC"),
            // Not in Google's rules yet.
            in_state("465", "SAN ANTONIO", "TX"),
        ];
        let dataset = Dataset::new(Vec::new(), Vec::new(), exchanges);
        for (text, expected) in [
            ("2122345678", "New York, NY NUMBER_PREFIX"),
            ("3052345678", "Miami, FL RATE_CENTER"),
            ("3092345678", "Florida STATE"),
            ("5142345678", "Montreal, QC RATE_CENTER"),
            ("4652345678", "San Antonio, TX RATE_CENTER"),
            ("2022345678", "Washington D.C. NUMBER_PREFIX"),
            // Not in the data, abroad, and without a place.
            ("4152345678", "California NUMBER_PREFIX"),
            ("+18765230123", "unknown"),
            ("+493012345678", "Berlin NUMBER_PREFIX"),
            ("8002345678", "unknown"),
        ] {
            assert_eq!(place(text, Some(&dataset)), expected, "{text}");
        }
        assert_eq!(place("3052345678", None), "Miami, FL NUMBER_PREFIX");
    }

    #[test]
    fn a_valid_number_without_an_exchange_has_the_state_of_its_area_code() {
        let area_code = |npa: &str| AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: ["TX".parse().unwrap()].into(),
            country: Some(Country::Us),
            total_exchanges: 0,
            plan: Box::default(),
        };
        let area_codes = ["415", "212", "465"].map(area_code).into();
        let dataset = Dataset::new(Vec::new(), area_codes, vec![in_state("465", "X", "TX")]);
        for (text, expected) in [
            ("4152345678", "Texas STATE"),
            // The map has a city.
            ("2122345678", "New York, NY NUMBER_PREFIX"),
            // Not valid, with an exchange and without
            ("4652345678", "Texas STATE"),
            ("4659995678", "unknown"),
        ] {
            assert_eq!(place(text, Some(&dataset)), expected, "{text}");
        }
    }
}
