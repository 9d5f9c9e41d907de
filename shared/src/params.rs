//! Parses request parameters. Error messages state the parameter, the rule and the value.

use std::{borrow::Cow, fmt::Display, str::FromStr};

use axum::{
    extract::{FromRequestParts, MatchedPath},
    http::{Uri, request::Parts},
};
use percent_encoding::percent_decode_str;
use strum::VariantNames;

use crate::errors::{ApiError, quote};

/// The path parameters, in order. The last one may contain slashes if the route allows it. As in a query, invalid UTF-8
/// becomes U+FFFD, so handlers reject it with their own messages.
pub struct PathParams<const N: usize>(pub [String; N]);

impl<S: Sync, const N: usize> FromRequestParts<S> for PathParams<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let route = parts.extensions.get::<MatchedPath>().ok_or(ApiError::Internal)?;
        let names = route.as_str().split('/');
        let segments = parts.uri.path().splitn(names.clone().count(), '/');
        let values: Vec<String> = names
            .zip(segments)
            .filter(|(name, _)| name.starts_with('{'))
            .map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned())
            .collect();
        values.try_into().map(Self).map_err(|_| ApiError::Internal)
    }
}

/// A URI's query without these parameters or the key.
pub(crate) fn query_without(
    uri: &Uri,
    names: &[&str],
) -> form_urlencoded::Serializer<'static, String> {
    let params = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params.filter(|(name, _)| name != API_KEY && !names.contains(&&**name)));
    query
}

/// The query parameter for the key.
pub(crate) const API_KEY: &str = "apiKey";

/// A request's query. A parameter may be repeated with the same value. Two different values are rejected,
/// because proxies differ in which one they pass on.
pub struct Params(String);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::from_uri(&parts.uri))
    }
}

impl Params {
    pub fn from_uri(uri: &Uri) -> Self {
        Self(uri.query().unwrap_or_default().to_owned())
    }

    /// The decoded value of `name`; `None` if it is missing or empty.
    pub fn text(&self, name: &str) -> Result<Option<String>, ApiError> {
        let values = form_urlencoded::parse(self.0.as_bytes())
            .filter_map(|(key, value)| (key == name).then_some(value));
        single_value(name, values)
    }

    /// The values of `name`, encoded as in the URL.
    pub fn raw_values(&self, name: &str) -> impl Iterator<Item = &str> {
        let pairs = self.0.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let named = pairs.filter(move |(key, _)| percent_decode_str(key).eq(name.bytes()));
        named.map(|(_, value)| value)
    }

    /// Parses the value of `name`. The error from `T` states the rule.
    pub fn parse<T>(&self, name: &str) -> Result<Option<T>, ApiError>
    where
        T: FromStr<Err: Display>,
    {
        self.text(name)?.map(|text| parse_param(name, &text)).transpose()
    }

    /// Parses the value of `name` as a variant of `T`, ignoring case.
    pub fn parse_variant<T: FromStr + VariantNames>(
        &self,
        name: &str,
    ) -> Result<Option<T>, ApiError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let rule = format!("must be one of {}", T::VARIANTS.join(", "));
            invalid_param(name, &text, rule)
        })
    }
}

/// Parses a path or query parameter.
pub fn parse_param<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|rule| invalid_param(name, text, rule))
}

/// The error for a value that breaks its parameter's rule.
pub fn invalid_param(name: &str, text: &str, rule: impl Display) -> ApiError {
    ApiError::invalid_param(name, format!("{name} {rule}, got '{}'", quote(text)))
}

/// The only distinct value in `values`; `None` if it is missing or empty.
pub fn single_value<'a>(
    name: &str,
    mut values: impl Iterator<Item = Cow<'a, str>>,
) -> Result<Option<String>, ApiError> {
    let first = values.next();
    let Some(other) = values.find(|value| Some(value) != first.as_ref()) else {
        return Ok(first.map(Cow::into_owned).filter(|value| !value.is_empty()));
    };
    let got = match name {
        // Messages may be logged, so they must not contain keys.
        API_KEY => "two values".to_owned(),
        _ => format!("'{}' and '{}'", quote(&first.unwrap_or_default()), quote(&other)),
    };
    Err(ApiError::invalid_param(name, format!("{name} must be given only once, got {got}")))
}

/// The error for a name that `owner` does not support. Suggests a similar name from `known`, or lists all of them.
pub fn unknown_name(kind: &str, unknown: &str, owner: &str, known: &[impl AsRef<str>]) -> ApiError {
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let quoted = quote(unknown);
    let message = match nearest(&quoted, &known) {
        Some(nearest) => format!("Unknown {kind} '{quoted}'; did you mean '{nearest}'?"),
        None if known.is_empty() => format!("Unknown {kind} '{quoted}'; this {owner} takes none"),
        None => format!("Unknown {kind} '{quoted}'; this {owner} supports {}", known.join(", ")),
    };
    ApiError::invalid_param(&quoted, message)
}

/// The most similar name, ignoring case. Up to a third of its characters may differ, or one if that is more.
pub fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = unknown.to_lowercase();
    let distances =
        known.iter().map(|&name| (strsim::osa_distance(&lower, &name.to_lowercase()), name));
    let (distance, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    let length = nearest.len().min(lower.chars().count());
    let is_near = distance <= (length / 3).max(1) && distance < length;
    is_near.then_some(nearest)
}

#[cfg(test)]
mod tests {
    use numbering::records::{CarrierType, Npa};

    use super::*;
    use crate::case_table::rows;

    fn params(query: &str) -> Params {
        Params(query.to_owned())
    }

    fn message<T>(result: Result<T, ApiError>) -> String {
        result.err().unwrap().to_string()
    }

    #[test]
    fn repeated_values_are_accepted_and_empty_values_are_ignored() {
        assert_eq!(params("npa=415&npa=415").text("npa").unwrap().as_deref(), Some("415"));
        assert_eq!(params("npa=").text("npa").unwrap(), None);
        assert_eq!(params("npa").text("npa").unwrap(), None);
    }

    #[test]
    fn messages_state_the_parameter_rule_and_value_but_never_a_key() {
        let messages = [
            message(params("npa=415&npa=416").text("npa")),
            message(params("apiKey=tnr_live_one&apiKey=two").text(API_KEY)),
            message(params("npa=41").parse::<Npa>("npa")),
            message(params("type=mobile").parse_variant::<CarrierType>("type")),
        ];
        insta::assert_snapshot!(messages.join("\n"), @"
        npa must be given only once, got '415' and '416'
        apiKey must be given only once, got two values
        npa must be exactly 3 digits, got '41'
        type must be one of ILEC, CLEC, WIRELESS, CAP, IXC, PCS, got 'mobile'
        ");
    }

    #[test]
    fn only_misspelled_names_get_a_suggestion() {
        let known =
            ["country", "type", "q", "nxx", "rate_center", "defaultCountry", "offset", "apiKey"];
        for [unknown, expected] in rows(include_str!("unknown_names.txt")) {
            assert_eq!(nearest(&unknown, &known).unwrap_or("none"), expected, "{unknown}");
        }
        let error = unknown_name("argument", "x", "tool", &[] as &[&str]);
        assert_eq!(error.to_string(), "Unknown argument 'x'; this tool takes none");
    }
}
