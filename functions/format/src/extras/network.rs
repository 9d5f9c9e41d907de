//! The mobile network that a number was first assigned to.

use formatting::{Languages, PhoneNumber};
use serde::Serialize;
use strum::Display;
use utoipa::ToSchema;

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
    /// Finds a number's network. `None` if it is unknown, or the number is not a mobile number.
    pub fn find(number: &PhoneNumber, languages: &Languages) -> Option<Self> {
        let name = number.network(languages)?.name;
        Some(Self { name, basis: NetworkBasis::FirstAssignment })
    }
}
