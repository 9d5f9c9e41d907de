//! The parts of an answer that a client gets only on request.

use std::str::FromStr;

use shared::{errors::ApiError, params::invalid_param};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// A part of the answer that is left out unless requested. Answers use this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames, ToSchema)]
#[strum(serialize_all = "camelCase", ascii_case_insensitive)]
#[schema(rename_all = "camelCase")]
pub enum Extra {
    /// Reason for an invalid number, or for a second one in the text.
    Reason,
    /// All of these.
    All,
}

impl Extra {
    /// Parses a comma-separated list, in any order and case.
    pub fn parse_list(names: &str) -> Result<Vec<Self>, ApiError> {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let extras = names.map(|name| {
            Self::from_str(name).map_err(|_| {
                let rule = format!("must list some of {}", Self::VARIANTS.join(", "));
                invalid_param("include", name, rule)
            })
        });
        extras.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed_in_any_order_and_case() {
        let listed = |names| Extra::parse_list(names).unwrap();
        assert_eq!(listed(" Reason ,ALL,"), [Extra::Reason, Extra::All]);
        assert_eq!(listed(" ,"), []);
    }
}
