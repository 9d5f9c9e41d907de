//! The city or region of a number.

use std::{collections::HashMap, sync::LazyLock};

use formatting::{LocalName, PhoneNumber, north_american_places};
use numbering::{dataset::folded_words, records::StateCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::Facts;
use crate::block::{Block, NanpParts};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlaceBasis {
    /// The rate center of the number's block, which has the name of a city.
    RateCenter,
    /// Libphonenumber's name for numbers that start with the same digits.
    NumberPrefix,
    /// The state or province of the number's exchange.
    State,
}

impl PlaceInfo {
    /// Finds a number's place. `None` if it is unknown or the number is non-geographic.
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let number = facts.number?;
        if number.is_non_geographic {
            return None;
        }
        let by_prefix = number.place(facts.languages);
        let block = block(number, facts).unwrap_or_default();
        let city = block.state.and_then(|state| city(block.rate_center.as_deref()?, state));
        // In North America, a city's name ends with its state, while a state's name does not.
        let is_city = |it: &LocalName| it.name.contains(", ") || it.name == WASHINGTON;
        match (city, by_prefix, block.state) {
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

/// The block of a number in the US or Canada; `None` if the number is not assignable.
fn block(number: &PhoneNumber, facts: &Facts<'_>) -> Option<Block> {
    let NanpParts { npa_nxx, .. } = NanpParts::from_number(number)?;
    let exchange = facts.dataset?.exchange(npa_nxx);
    let can_be_assigned = exchange.is_some() || number.valid;
    can_be_assigned.then(|| Block::new(number, exchange, facts.dataset, facts.today()))
}

/// The city in this state with the same name as a rate center. Many rate centers have abbreviated names, such as
/// `NWYRCYZN01`.
fn city(rate_center: &str, state: StateCode) -> Option<&'static str> {
    static CITIES: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        north_american_places().filter(|name| name.contains(", ")).map(|it| (key(it), it)).collect()
    });
    CITIES.get(&key(&format!("{rate_center}, {state}"))).copied()
}

/// The letters of a name, without spaces or accents.
fn key(name: &str) -> String {
    folded_words(name).replace(' ', "")
}
