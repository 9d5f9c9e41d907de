//! Options for a format request.

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

/// Options for each number: its default country, caching, and the fields to return.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct Options {
    /// ISO 3166-1 alpha-2 country for numbers without a country code. Defaults to US.
    #[param(value_type = Option<DefaultCountry>)]
    pub default_country: DefaultCountry,
    /// `false` forces a fresh lookup. Other values are ignored.
    #[param(value_type = Option<String>, example = "false")]
    pub cache: Freshness,
    /// Extra fields to return, comma-separated. `reason` explains why the text is not a single valid number, and is
    /// `null` if it is.
    #[param(value_type = Option<Vec<Extra>>, style = Form, explode = false, inline)]
    pub include: Vec<Extra>,
    /// Fields to return, comma-separated, such as `valid,formats.e164,carrier.name`. All others are omitted, even
    /// required ones. An object such as `formats` includes all its fields. You can select `reason` without `include`.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    pub fields: Option<Fields>,
    /// `false` omits flag links.
    #[param(value_type = Option<bool>, example = false)]
    pub flags: bool,
}

impl Options {
    pub fn parse(params: &Params) -> Result<Self, ApiError> {
        static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::from_type::<FormatResult>);
        let default_country = match params.text("defaultCountry")? {
            None => DefaultCountry::default(),
            Some(text) => parse_country(&text)?,
        };
        let cache = match params.text("cache")? {
            Some(text) if text.eq_ignore_ascii_case("false") => Freshness::Fresh,
            _ => Freshness::Cached,
        };
        Ok(Self {
            default_country,
            cache,
            include: Extra::parse_list(&params.text("include")?.unwrap_or_default())?,
            fields: FIELDS.select_from(params)?,
            flags: params.parse_variant::<Switch>("flags")? != Some(Switch::False),
        })
    }

    /// Returns `true` if the result includes this field. Selected fields override `include`.
    pub fn includes(&self, extra: Extra) -> bool {
        match &self.fields {
            Some(fields) => fields.includes(extra.into()),
            None => self.include.iter().any(|requested| [extra, Extra::All].contains(requested)),
        }
    }

    /// The reason for text parsed as `number`, if the result includes it.
    pub fn reason(
        &self,
        text: &str,
        country: DefaultCountry,
        number: Option<&PhoneNumber>,
    ) -> Option<Option<ReasonInfo>> {
        self.includes(Extra::Reason).then(|| ReasonInfo::find(text, country, number))
    }

    /// The base URL for flags, if the result links to them.
    pub fn flags_base_url<'a>(&self, FlagsBaseUrl(url): &'a FlagsBaseUrl) -> Option<&'a str> {
        let has_flags = self.flags && self.fields.as_ref().is_none_or(|it| it.includes("flags"));
        url.as_deref().filter(|_| has_flags)
    }
}

/// A field that results include only on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames, ToSchema)]
#[strum(serialize_all = "camelCase", ascii_case_insensitive)]
#[schema(rename_all = "camelCase")]
pub enum Extra {
    /// The reason why the text is not a single valid number.
    Reason,
    /// All of these.
    All,
}

impl Extra {
    pub fn parse_list(names: &str) -> Result<Vec<Self>, ApiError> {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let extras = names.map(|name| {
            Self::from_str(name).map_err(|_| {
                let rule = format!("must be one or more of {}", Self::VARIANTS.join(", "));
                invalid_param("include", name, rule)
            })
        });
        extras.collect()
    }
}

#[derive(Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
enum Switch {
    True,
    False,
}

/// Parses a `defaultCountry`.
pub fn parse_country(text: &str) -> Result<DefaultCountry, ApiError> {
    text.parse().map_err(|error| {
        let message = format!("Invalid defaultCountry '{}': {error}", quote(text));
        ApiError::UnknownDefaultCountry(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_fields_are_parsed_in_any_order_ignoring_case() {
        assert_eq!(Extra::parse_list(" Reason ,ALL,").unwrap(), [Extra::Reason, Extra::All]);
        assert_eq!(Extra::parse_list(" ,").unwrap(), []);
    }
}
