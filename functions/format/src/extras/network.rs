//! The mobile network that a number was first assigned to.

use formatting::{Languages, PhoneNumber};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use crate::block::is_us_or_canada;

/// The mobile network that the number's range was first assigned to. The number may have been ported since.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Network)]
pub struct NetworkInfo {
    #[schema(example = "Vodafone")]
    pub(crate) name: &'static str,
    pub(crate) basis: NetworkBasis,
}

/// The basis of a network.
#[derive(Debug, Clone, Copy, Serialize, ToSchema, Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum NetworkBasis {
    /// Libphonenumber's list of the ranges that regulators first assigned to networks.
    FirstAssignment,
}

impl NetworkInfo {
    /// Finds a number's network. `None` if it is unknown, the number is not a mobile number, or it is in the US or Canada,
    /// where the carrier is known.
    pub fn find(number: &PhoneNumber, languages: &Languages) -> Option<Self> {
        if number.country.as_deref().is_some_and(is_us_or_canada) {
            return None;
        }
        let name = number.network(languages)?.name;
        Some(Self { name, basis: NetworkBasis::FirstAssignment })
    }
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;

    use super::*;

    #[test]
    fn the_us_and_canada_have_carriers_and_other_countries_networks() {
        for (text, expected) in [
            ("+447400123456", Some("Three")),
            // Jamaica and the Bahamas
            ("+18762101234", Some("Cable & Wireless")),
            ("+12423591234", Some("BaTelCo")),
            // The list also has these ranges.
            ("+16592012345", None),
            ("+17872102345", None),
            ("+13402012345", None),
            ("+16712012345", None),
            ("+14162345678", None),
            // Not mobile
            ("+442079460958", None),
        ] {
            let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
            let network = NetworkInfo::find(&number, &Languages::default());
            assert_eq!(network.map(|network| network.name), expected, "{text}");
        }
    }
}
