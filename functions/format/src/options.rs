//! The options of a number request: parsing, and the parts of the answer.

use std::{str::FromStr, sync::LazyLock};

use formatting::{DefaultCountry, PhoneNumber};
use shared::{
    errors::{ApiError, quote},
    flag_images::FlagsBaseUrl,
    lookup::Freshness,
    params::{Params, invalid_param},
};
use strum::{EnumString, IntoStaticStr, VariantNames};
use utoipa::{IntoParams, ToSchema};

use super::{FormatResult, ReasonInfo, fields::Fields};

/// Options for one number: its reading, use of the cache, and the fields to return.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Options {
    /// ISO 3166-1 alpha-2 country for numbers without a country code; default US.
    #[param(value_type = Option<DefaultCountry>)]
    pub default_country: DefaultCountry,
    /// `false` forces a fresh lookup; any other value is ignored.
    #[param(value_type = Option<String>, example = "false")]
    pub cache: Freshness,
    /// Parts of the answer to add, comma-separated. `reason` says why the number is not valid, or that the text holds a
    /// second number; it is `null` for one valid number.
    #[param(value_type = Option<Vec<Extra>>, style = Form, explode = false, inline)]
    pub include: Vec<Extra>,
    /// Fields to return, comma-separated, such as `valid,formats.e164,carrier.name`. All others are left out, even
    /// required ones. A part such as `formats` includes all of its fields. Fields of `include` need no `include`.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    pub fields: Option<Fields>,
    /// `false` leaves out links to flags.
    #[param(value_type = Option<bool>, example = false)]
    pub flags: bool,
}

impl Options {
    /// Parses a query's options.
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        /// All fields, for requests that select some.
        static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::from_type::<FormatResult>);
        let default_country = match params.text("defaultCountry")? {
            None => DefaultCountry::default(),
            Some(text) => country_of(&text)?,
        };
        let cache = match params.text("cache")? {
            Some(text) if text.eq_ignore_ascii_case("false") => Freshness::Fresh,
            _ => Freshness::Cached,
        };
        Ok(Self {
            default_country,
            cache,
            include: Extra::parse_list(&params.text("include")?.unwrap_or_default())?,
            fields: FIELDS.selected_by(params)?,
            flags: params.one_of::<Switch>("flags")? != Some(Switch::False),
        })
    }

    /// Returns true if the answer has this part. If fields are selected, they alone decide.
    pub fn has(&self, extra: Extra) -> bool {
        match &self.fields {
            Some(fields) => fields.has(extra.into()),
            None => self.include.iter().any(|asked| [extra, Extra::All].contains(asked)),
        }
    }

    /// The reason for a text read as `number`, if the answer has that part.
    pub fn reason(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<&PhoneNumber>,
    ) -> Option<Option<ReasonInfo>> {
        self.has(Extra::Reason).then(|| ReasonInfo::find(text, country, number))
    }

    /// The base URL of flags, if the answer links to them.
    pub fn flags_at<'a>(&self, FlagsBaseUrl(url): &'a FlagsBaseUrl) -> Option<&'a str> {
        let has_flags = self.flags && self.fields.as_ref().is_none_or(|fields| fields.has("flags"));
        url.as_deref().filter(|_| has_flags)
    }
}

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

/// The values of an on/off parameter.
#[derive(Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
enum Switch {
    True,
    False,
}

/// The country named by a `defaultCountry`.
pub fn country_of(text: &str) -> Result<DefaultCountry, ApiError> {
    text.parse().map_err(|error| {
        let message = format!("Invalid defaultCountry '{}': {error}", quote(text));
        ApiError::UnknownDefaultCountry(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed_in_any_order_and_case() {
        assert_eq!(Extra::parse_list(" Reason ,ALL,").unwrap(), [Extra::Reason, Extra::All]);
        assert_eq!(Extra::parse_list(" ,").unwrap(), []);
    }
}
