//! Query parameters, parsed at the edge: each value becomes its type here or is refused with a
//! message that names the parameter, the value given and the rule.

use std::{borrow::Cow, fmt::Display, str::FromStr};

use axum::{
    extract::{FromRequestParts, MatchedPath},
    http::{Uri, request::Parts},
};
use percent_encoding::percent_decode_str;
use strum::VariantNames;

use crate::errors::ApiError;

/// The parameters in a path, in its order; the last may hold slashes where the route lets it.
///
/// Bytes that are no UTF-8 become U+FFFD, as they do in a query: what is refused for its form is
/// refused by the handler, in its words.
pub struct PathParams<const N: usize>(pub [String; N]);

impl<S: Sync, const N: usize> FromRequestParts<S> for PathParams<N> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let route = parts.extensions.get::<MatchedPath>().ok_or(ApiError::Internal)?;
        let names = route.as_str().split('/');
        let segments = parts.uri.path().splitn(names.clone().count(), '/');
        let values = names.zip(segments).filter(|(name, _)| name.starts_with('{'));
        let values =
            values.map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned());
        let values = <[String; N]>::try_from(values.collect::<Vec<_>>());
        values.map(Self).map_err(|_| ApiError::Internal)
    }
}

/// The query parameter that may carry the key (spec section 5).
pub(crate) const API_KEY: &str = "apiKey";

/// The query of a request, as it stands in the URL.
///
/// A parameter may be repeated with one value, but two values of one parameter are refused:
/// proxies differ in which of them they keep.
pub struct Params(String);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::of(&parts.uri))
    }
}

impl Params {
    pub fn of(uri: &Uri) -> Self {
        Self(uri.query().unwrap_or_default().to_owned())
    }

    /// The decoded value of `name`; `None` where it is absent or empty.
    ///
    /// # Errors
    /// [`ApiError::InvalidRequest`] where `name` has two different values.
    pub fn text(&self, name: &str) -> Result<Option<String>, ApiError> {
        let values = form_urlencoded::parse(self.0.as_bytes())
            .filter_map(|(key, value)| (key == name).then_some(value));
        the_one(name, values)
    }

    /// The value of `name`, where a `+` at the start of a number is kept: clients seldom think of
    /// writing it `%2B`. Any other is a space, as forms write it.
    ///
    /// # Errors
    /// [`ApiError::InvalidRequest`] where `name` has two different values.
    pub fn phone_number(&self, name: &str) -> Result<Option<String>, ApiError> {
        let values = self.0.split('&').filter_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let is_named = percent_decode_str(key).eq(name.bytes());
            is_named.then(|| {
                Cow::Owned(percent_decode_str(&spaced(value)).decode_utf8_lossy().into_owned())
            })
        });
        the_one(name, values)
    }

    /// The value of `name` parsed as `T`, whose error states the rule.
    ///
    /// # Errors
    /// [`ApiError::InvalidRequest`] where the value breaks the rule.
    pub fn parsed<T>(&self, name: &str) -> Result<Option<T>, ApiError>
    where
        T: FromStr<Err: Display>,
    {
        self.text(name)?.map(|text| parse(name, &text)).transpose()
    }

    /// The value of `name` as one of the words of a closed set, matched without case.
    ///
    /// # Errors
    /// [`ApiError::InvalidRequest`] that lists the words.
    pub fn one_of<T: FromStr + VariantNames>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let parse = |text: String| {
            let rule = || format!("must be one of {}", T::VARIANTS.join(", "));
            text.parse().map_err(|_| broken(name, &text, rule()))
        };
        self.text(name)?.map(parse).transpose()
    }
}

/// Parses one parameter of a path or query; the message names it, its value and the rule.
///
/// # Errors
/// [`ApiError::InvalidRequest`] where the value breaks the rule.
pub fn parse<T: FromStr<Err: Display>>(name: &str, text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|rule| broken(name, text, rule))
}

/// Quoted values are cut here: an error message has no use for more of a hostile one.
const LONGEST_QUOTE: usize = 40;

pub(crate) fn broken(name: &str, text: &str, rule: impl Display) -> ApiError {
    ApiError::InvalidRequest(format!("{name} {rule}, got '{}'", quote(text)))
}

/// As much of a client's value as a message should repeat.
pub fn quote(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_QUOTE) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// A `+` as the space it stands for in a form, unless it begins a number: no digit stands before it,
/// or none since what introduces another number in a URI.
fn spaced(value: &str) -> String {
    let (mut spaced, mut rest, mut in_a_number) = (String::new(), value, false);
    while let Some(written) = rest.chars().next() {
        let code = rest.get(1..3).filter(|_| written == '%');
        let decoded = code.and_then(|code| u8::from_str_radix(code, 16).ok()).map(char::from);
        let length = if decoded.is_some() { 3 } else { written.len_utf8() };
        let (this, after) = rest.split_at(length);
        spaced.push_str(if this == "+" && in_a_number { "%20" } else { this });
        in_a_number = match decoded.unwrap_or(written) {
            ';' | '=' => false,
            c => in_a_number || c.is_numeric(),
        };
        rest = after;
    }
    spaced
}

fn the_one<'a>(
    name: &str,
    mut values: impl Iterator<Item = Cow<'a, str>>,
) -> Result<Option<String>, ApiError> {
    let first = values.next();
    match values.find(|value| Some(value) != first.as_ref()) {
        // a secret is not for a message that may be logged
        Some(_) if name == API_KEY => {
            Err(ApiError::invalid(format!("{API_KEY} must be given once, got two values")))
        }
        Some(other) => Err(ApiError::InvalidRequest(format!(
            "{name} must be given once, got '{}' and '{}'",
            quote(&first.unwrap_or_default()),
            quote(&other)
        ))),
        None => Ok(first.map(Cow::into_owned).filter(|value| !value.is_empty())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use numbering::records::{CarrierType, Npa};

    fn params(query: &str) -> Params {
        Params(query.to_owned())
    }

    fn message<T>(result: Result<T, ApiError>) -> String {
        match result {
            Err(ApiError::InvalidRequest(message)) => message,
            Err(other) => panic!("{other:?}"),
            Ok(_) => panic!("accepted"),
        }
    }

    #[test]
    fn a_plus_survives_in_a_phone_number_and_is_a_space_elsewhere() {
        let params = params("tn=+1%20305&q=a+b");
        assert_eq!(params.phone_number("tn").unwrap().as_deref(), Some("+1 305"));
        assert_eq!(params.text("q").unwrap().as_deref(), Some("a b"));
    }

    #[test]
    fn a_plus_after_something_encoded_still_begins_a_number() {
        for (written, read) in [
            ("tel%3A+442079460958", "tel:+442079460958"),
            ("%20+44", " +44"),
            ("%28+44%29", "(+44)"),
            ("Tel.%20+44", "Tel. +44"),
            ("2079;phone-context%3D+44", "2079;phone-context=+44"),
            ("1+305%20+234", "1 305  234"),
            ("%2B1+305", "+1 305"),
            ("%+44", "%+44"),
        ] {
            let query = format!("t%6E={written}");
            assert_eq!(params(&query).phone_number("tn").unwrap().as_deref(), Some(read));
        }
    }

    #[test]
    fn repeating_one_value_is_fine_and_two_values_are_refused() {
        assert_eq!(params("npa=415&npa=415").text("npa").unwrap().as_deref(), Some("415"));
        assert_eq!(
            message(params("npa=415&npa=416").text("npa")),
            "npa must be given once, got '415' and '416'"
        );
    }

    #[test]
    fn a_repeated_key_is_refused_without_being_repeated() {
        let refused = message(params("apiKey=tnr_live_one&apiKey=two").text(API_KEY));
        assert_eq!(refused, "apiKey must be given once, got two values");
    }

    #[test]
    fn an_empty_value_counts_as_absent() {
        assert_eq!(params("npa=").text("npa").unwrap(), None);
        assert_eq!(params("npa").text("npa").unwrap(), None);
    }

    #[test]
    fn messages_name_the_parameter_the_rule_and_the_value() {
        assert_eq!(
            message(params("npa=41").parsed::<Npa>("npa")),
            "npa must be exactly 3 digits, got '41'"
        );
        assert_eq!(
            message(params("type=mobile").one_of::<CarrierType>("type")),
            "type must be one of ILEC, CLEC, WIRELESS, CAP, IXC, PCS, got 'mobile'"
        );
    }

    #[test]
    fn a_long_value_is_cut_in_the_message() {
        let text = "é".repeat(1000);
        assert_eq!(quote(&text).chars().count(), LONGEST_QUOTE + 1);
    }

    proptest! {
        #[test]
        fn any_query_is_read_without_panic(query in any::<String>()) {
            let params = params(&query);
            let _ = params.text("q");
            let _ = params.phone_number("tn");
        }
    }
}
