//! Countries by ISO 3166-1 alpha-2 code, with their common names.

use std::{collections::HashMap, str::FromStr, sync::LazyLock};

use rlibphonenumber::Region;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

/// The country to assume for numbers without a country code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultCountry(Region);

impl Default for DefaultCountry {
    fn default() -> Self {
        Self(Region::US)
    }
}

impl FromStr for DefaultCountry {
    type Err = &'static str;

    /// Parses any code that a number's `country` can have: the ISO 3166-1 codes, and three more from Google's
    /// rules.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let code = text.to_ascii_uppercase();
        let region = country_name(&code).and_then(|_| Region::try_from(code.as_str()).ok());
        region.map(Self).ok_or("must be an ISO 3166-1 alpha-2 country code")
    }
}

const NON_ISO_CODES: [&str; 3] = ["AC", "TA", "XK"];

/// The ISO 3166-1 codes, and three more from Google's rules.
pub(super) fn country_codes() -> impl Iterator<Item = &'static str> {
    rust_iso3166::ALL_ALPHA2.iter().copied().chain(NON_ISO_CODES)
}

impl PartialSchema for DefaultCountry {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("ISO 3166-1 alpha-2 country code, or AC, TA or XK"))
            .enum_values(Some(country_codes()))
            .into()
    }
}

impl ToSchema for DefaultCountry {
    fn name() -> std::borrow::Cow<'static, str> {
        "CountryCode".into()
    }
}

impl DefaultCountry {
    /// The matching libphonenumber region.
    pub(super) fn region(self) -> Region {
        self.0
    }
}

/// A country's common name: the ISO 3166-1 name, except where ISO inverts it or spells it out. Includes
/// AC, TA and XK, which are not in ISO 3166-1 but have rules in libphonenumber.
pub fn country_name(alpha2: &str) -> Option<&'static str> {
    let common_name = COMMON_NAMES.get(alpha2).copied();
    common_name.or_else(|| rust_iso3166::from_alpha2(alpha2).map(|country| country.name))
}

/// Names that differ from ISO's, by code.
static COMMON_NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    include_str!("country_names.txt").lines().filter_map(|line| line.split_once(' ')).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_iso_country_has_a_common_name() {
        assert_eq!(rust_iso3166::ALL_ALPHA2.len(), 249);
        for code in rust_iso3166::ALL_ALPHA2 {
            let name = country_name(code).unwrap();
            let plain = !name.contains(" of)") && !name.contains(" the)") && !name.contains(", ");
            assert!(plain, "{code}: {name}");
        }
    }

    #[test]
    fn only_country_codes_are_accepted_in_any_case() {
        for code in rust_iso3166::ALL_ALPHA2.iter().chain(&NON_ISO_CODES) {
            assert!(code.to_lowercase().parse::<DefaultCountry>().is_ok(), "{code}");
        }
        for text in ["", "U", "USA", "ZZ", "XX", "1", "ÅX", "001", "UK"] {
            assert!(text.parse::<DefaultCountry>().is_err(), "{text:?}");
        }
    }
}
