//! The mobile network that a number was first assigned to.

use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

use super::Facts;
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
    pub fn find(facts: &Facts<'_>) -> Option<Self> {
        let number = facts.number?;
        if number.country.as_deref().is_some_and(is_us_or_canada) {
            return None;
        }
        let name = number.network(facts.languages)?.name;
        Some(Self { name, basis: NetworkBasis::FirstAssignment })
    }
}
