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

    #[test]
    fn only_uuids_trace_ids_and_ulids_without_ten_digits_in_a_row_are_accepted() {
        for id in [
            "0190f3c2-6b1e-7d3a-9c55-12345c7890ab",
            "6F9619FF-8B86-4D01-B42D-00CF4FC964FF",
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "01arz3ndektsv4rrffq69g5fav",
            "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
            "305234567A8BCDEFGHJKMNPQRS",
            "ab305234567cdefab83ce929d0e0e473",
            "abcdefab-3052-4345-8aaa-abcdefabcdef",
        ] {
            assert!(may_be_logged(id), "{id}");
        }
        for id in [
            "",
            "JKJaXmPLvHcESHA=",
            "call-1-305-234-5678-x",
            // Phone numbers.
            "00000000-0000-4000-8000-003052345678",
            "3052345678ABCDEFGHJKMNPQRS",
            "7ABCDEFGHJKMNPQR3052345678",
            "ab3052345678cdefab3ce929d0e0e473",
            "abcdefab-3052-4345-878a-abcdefabcdef",
            // A key, and key prefixes as long as a ULID and a trace id.
            "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn",
            "5amp1eKeyF0rTheEventsAndTh",
            "4bF92f3577b34da6a3ce929d0e0e4736",
            // One character too short, one too long.
            "4bf92f3577b34da6a3ce929d0e0e473",
            "4bf92f3577b34da6a3ce929d0e0e47360",
            "01ARZ3NDEKTSV4RRFFQ69G5FA",
            // A letter outside base 32, and a ULID after the year 10889.
            "01ARZ3NDEKTSV4RRFFQ69G5FAU",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
            // A UUID with an unknown version, and one with an unknown variant.
            "0190f3c2-6b1e-9d3a-9c55-12345c7890ab",
            "0190f3c2-6b1e-7d3a-cc55-12345c7890ab",
        ] {
            assert!(!may_be_logged(id), "{id}");
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
