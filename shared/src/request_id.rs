//! Request ids, which identify access log lines.

use axum::{extract::Request, http::HeaderMap};
use rand::{RngExt, distr::Alphanumeric};

use crate::gateway::event_context;

/// The request id header, in requests and responses.
pub const REQUEST_ID: &str = "x-request-id";

/// The number of digits in a row that may be a phone number. One in eleven random UUIDs has as many.
const PHONE_NUMBER_DIGITS: usize = 10;

/// Returns the client's request id, API Gateway's, or a random one.
pub fn request_id(request: &Request) -> String {
    let gateway_id = || event_context(request.extensions())?.request_id.clone();
    client_request_id(request.headers())
        .map(str::to_owned)
        .or_else(gateway_id)
        .unwrap_or_else(|| rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect())
}

/// The client's id, if it sent exactly one and it may be logged.
fn client_request_id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(REQUEST_ID).iter();
    let id = values.next()?.to_str().ok()?;
    (values.next().is_none() && may_be_logged(id)).then_some(id)
}

/// Returns `true` for a random id in a standard format, which cannot be an API key or contain a phone number of ten
/// digits.
fn may_be_logged(id: &str) -> bool {
    let has_single_case = !id.contains(|c: char| c.is_ascii_uppercase())
        || !id.contains(|c: char| c.is_ascii_lowercase());
    let digits = id.replace('-', "");
    let mut runs = digits.split(|c: char| !c.is_ascii_digit());
    FORMATS.iter().any(|format| has_format(id, format))
        && has_single_case
        && runs.all(|run| run.len() < PHONE_NUMBER_DIGITS)
}

/// A UUID (RFC 9562, section 4), a [W3C trace id](https://www.w3.org/TR/trace-context/#trace-id) and a
/// [ULID](https://github.com/ulid/spec). See [`has_format`].
const FORMATS: [&str; 3] = [
    "hhhhhhhh-hhhh-8hhh-bhhh-hhhhhhhhhhhh",
    "hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh",
    "7uuuuuuuuuuuuuuuuuuuuuuuuu",
];

/// Compares a text with a format: `h` stands for a hexadecimal digit, `8` for a UUID's version, `b` for its variant, `7` for
/// a digit up to seven, and `u` for a digit in the base 32 of ULIDs.
fn has_format(text: &str, format: &str) -> bool {
    let has_kind = |(c, kind): (char, char)| match kind {
        'h' => c.is_ascii_hexdigit(),
        '8' => matches!(c, '1'..='8'),
        'b' => matches!(c, '8' | '9' | 'a' | 'b' | 'A' | 'B'),
        '7' => matches!(c, '0'..='7'),
        'u' => c.is_ascii_alphanumeric() && !"ILOUilou".contains(c),
        other => c == other,
    };
    text.len() == format.len() && text.chars().zip(format.chars()).all(has_kind)
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::HeaderValue};
    use lambda_http::{
        aws_lambda_events::apigw::ApiGatewayV2httpRequestContext, request::RequestContext,
    };

    use super::*;
    use crate::case_table::rows;

    #[test]
    fn only_uuids_trace_ids_and_ulids_without_ten_digits_in_a_row_are_accepted() {
        for [id, expected] in rows(include_str!("request_ids.txt")) {
            assert_eq!(may_be_logged(&id), expected == "yes", "{id}");
        }
    }

    #[test]
    fn requests_without_an_id_get_the_gateways() {
        let mut context = ApiGatewayV2httpRequestContext::default();
        context.request_id = Some("gateway".to_owned());
        let request =
            Request::builder().extension(RequestContext::ApiGatewayV2(context)).body(Body::empty());
        assert_eq!(self::request_id(&request.unwrap()), "gateway");
    }

    #[test]
    fn duplicate_request_ids_are_ignored() {
        const FIRST: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
        let mut headers = HeaderMap::new();
        assert_eq!(client_request_id(&headers), None);
        headers.append(REQUEST_ID, HeaderValue::from_static(FIRST));
        assert_eq!(client_request_id(&headers), Some(FIRST));
        headers.append(REQUEST_ID, HeaderValue::from_static(FIRST));
        assert_eq!(client_request_id(&headers), None);
    }
}
