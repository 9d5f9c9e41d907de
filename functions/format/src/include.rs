//! The parts of an answer that a client gets on request only.

use std::str::FromStr;

use shared::{errors::ApiError, params::invalid_param};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::ToSchema;

/// A part of the answer that is left out unless it is asked for. Answers have them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames, ToSchema)]
#[strum(serialize_all = "camelCase", ascii_case_insensitive)]
#[schema(rename_all = "camelCase")]
pub enum Extra {
    /// Why the number is not valid, or not the only one in its text.
    Reason,
    /// All of these.
    All,
}

/// The parts that a client asks for with `include`.
#[derive(Debug, Clone, Default)]
pub struct Include(Vec<Extra>);

impl Include {
    /// Whether the client asks for this part.
    pub fn has(&self, extra: Extra) -> bool {
        self.0.contains(&extra) || self.0.contains(&Extra::All)
    }

    /// The parts that a comma-separated list names, in any order and case.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`], which lists the known parts, if one is unknown.
    pub fn parse(names: &str) -> Result<Self, ApiError> {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let extras = names.map(|name| {
            Extra::from_str(name).map_err(|_| {
                let rule = format!("must list some of {}", Extra::VARIANTS.join(", "));
                invalid_param("include", name, rule)
            })
        });
        extras.collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed_in_any_order_and_case() {
        for names in ["reason", "Reason", " reason , reason,", "all", "all,reason"] {
            assert!(Include::parse(names).unwrap().has(Extra::Reason), "{names}");
        }
        for none in ["", ",", " "] {
            assert!(!Include::parse(none).unwrap().has(Extra::Reason), "{none:?}");
        }
    }

    #[test]
    fn an_unknown_part_is_refused_with_the_known_ones() {
        let refused = Include::parse("reason,porting").unwrap_err().body();
        assert_eq!(refused.message(), "include must list some of reason, all, got 'porting'");
    }
}
