//! Options for a format request.

use std::sync::LazyLock;

use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, request::Parts},
};
use formatting::{DefaultCountry, Languages, PhoneNumber};
use shared::{
    config::FlagImages,
    errors::{ApiError, quote},
    http::preferred_languages,
    lookup::Freshness,
    params::Params,
    public_address::PublicAddress,
    state::App,
};
use strum::{EnumString, VariantNames};
use utoipa::IntoParams;

use super::{
    FormatResult,
    block::geographic_npa_nxx,
    columns::Column,
    fields::Fields,
    include::{Extra, Include, columns_for},
};

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
    /// Extra fields to return, comma-separated. `verdict` is `valid`, `repaired`, `rejected` or `empty`. `reason` explains why the
    /// text is not a single valid number, and is `null` if it is. `line` is the number's likely line type and its carrier's everyday name. `assignment` is
    /// what the numbering plan says about the number. `timezone` adds `timeZones` and `callingHours`. `place` is the city
    /// or region, and `network` the mobile network outside the US and Canada.
    #[param(value_type = Option<Vec<Extra>>, style = Form, explode = false, inline)]
    pub include: Include,
    /// Fields to return, comma-separated, such as `valid,formats.e164,carrier.name`. All others are omitted, even
    /// required ones. An object such as `formats` includes all its fields. You can select extra fields such as `reason`
    /// without `include`.
    #[param(value_type = Option<Vec<String>>, style = Form, explode = false)]
    pub fields: Option<Fields>,
    /// Language of place and network names (BCP 47), such as `de` or `zh-Hant`. Names that are not available in it are in
    /// English. Defaults to `Accept-Language`.
    #[param(
        rename = "lang", value_type = Option<String>, example = "de", max_length = 35,
        pattern = "^([A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*)?$"
    )]
    pub languages: Languages,
    /// `false` omits flag links.
    #[param(rename = "flags", value_type = Option<bool>, example = false)]
    pub flags_base_url: Option<String>,
}

impl FromRequestParts<App> for Options {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let Ok(PublicAddress(address)) = PublicAddress::from_request_parts(parts, app).await;
        let FlagImages(elsewhere) = &app.config.flag_images;
        let own = || address.map(|address| format!("{address}/flags/{}", flags::VERSION));
        let flags_base_url = elsewhere.as_ref().map(ToString::to_string).or_else(own);
        Self::parse(&Params::from_uri(&parts.uri), &parts.headers, flags_base_url)
    }
}

impl Options {
    /// The CSV columns of a response, except the error column.
    pub(super) fn columns(&self) -> Vec<&'static Column> {
        match &self.fields {
            Some(fields) => columns_for(fields).collect(),
            None => self.include.columns().collect(),
        }
    }

    /// `flags_base_url` is where flag images are, without a trailing slash; `None` if the address is unknown.
    fn parse(
        params: &Params,
        headers: &HeaderMap,
        flags_base_url: Option<String>,
    ) -> Result<Self, ApiError> {
        static FIELDS: LazyLock<Fields> = LazyLock::new(Fields::from_type::<FormatResult>);
        let default_country = match params.text("defaultCountry")? {
            None => DefaultCountry::default(),
            Some(text) => parse_country(&text)?,
        };
        let cache = match params.text("cache")? {
            Some(text) if text.eq_ignore_ascii_case("false") => Freshness::Fresh,
            _ => Freshness::Cached,
        };
        let languages = params.parse("lang")?.unwrap_or_else(|| {
            Languages::from_tags(preferred_languages(headers).iter().map(String::as_str))
        });
        let fields = FIELDS.select_from(params)?;
        let include = params.text("include")?.unwrap_or_default().parse()?;
        let has_flags = params.parse_variant::<Switch>("flags")? != Some(Switch::False)
            && fields.as_ref().is_none_or(|fields| fields.includes("flags"));
        Ok(Self {
            default_country,
            cache,
            // Selected fields override `include`.
            include: fields.as_ref().map_or(include, Include::from_fields),
            fields,
            languages,
            flags_base_url: flags_base_url.filter(|_| has_flags),
        })
    }

    pub fn needs_data(&self, number: &PhoneNumber) -> bool {
        geographic_npa_nxx(number).is_some() || self.include.needs_data() && number.is_nanp()
    }
}

#[derive(Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
enum Switch {
    True,
    False,
}

pub fn parse_country(text: &str) -> Result<DefaultCountry, ApiError> {
    text.parse().map_err(|error| {
        let message = format!("Invalid defaultCountry '{}': {error}", quote(text));
        ApiError::UnknownDefaultCountry(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Options {
        let params = Params::from_uri(&format!("/v1/format?{query}").parse().unwrap());
        Options::parse(&params, &HeaderMap::new(), Some("https://a.example".to_owned())).unwrap()
    }

    #[test]
    fn results_link_to_flags_unless_disabled_or_not_selected() {
        for (query, expected) in [
            ("", true),
            ("flags=true", true),
            ("flags=False", false),
            ("fields=flags", true),
            ("fields=valid,flags.country.svg", true),
            ("fields=valid", false),
            ("fields=flags&flags=false", false),
        ] {
            assert_eq!(parse(query).flags_base_url.is_some(), expected, "{query}");
        }
    }

    #[test]
    fn only_north_american_numbers_need_the_data() {
        for (text, query, expected) in [
            ("305 234 5678", "", true),
            // Geographic only according to the numbering data.
            ("465 234 5678", "", false),
            ("465 234 5678", "include=place", true),
            ("465 234 5678", "include=reason,network", false),
            ("800 234 5678", "include=assignment", true),
            ("800 234 5678", "", false),
            ("600 201 2345", "", false),
            ("+44 20 7946 0958", "include=all", false),
            ("305 234", "include=all", false),
        ] {
            let number = PhoneNumber::parse(text, DefaultCountry::default()).unwrap();
            assert_eq!(parse(query).needs_data(&number), expected, "{text} {query}");
        }
    }

    #[test]
    fn only_cache_false_forces_a_fresh_lookup() {
        let caches = ["", "cache=true", "cache=no", "cache=FALSE"].map(|query| parse(query).cache);
        use Freshness::{Cached, Fresh};
        assert_eq!(caches, [Cached, Cached, Cached, Fresh]);
    }
}
