//! The id of a request, by which a client can refer to its line of the access log.

use axum::{extract::Request, http::HeaderMap};
use lambda_http::request::RequestContext as GatewayContext;
use rand::{RngExt, distr::Alphanumeric};

use crate::auth::START_OF_KEY;

/// The header that carries the id of a request, in both directions.
pub const REQUEST_ID: &str = "x-request-id";

/// The length of the longest id that is taken over from a client.
const LONGEST_ID: usize = 64;
/// The fewest digits in a row that may be a phone number.
const DIGITS_OF_A_NUMBER: usize = 7;
/// The fewest letters that an id of a common random form must have. A random one seldom has fewer, a
/// number that somebody filled up often does.
const LETTERS_OF_A_RANDOM_ID: usize = 4;

/// The id that the client gave the request, or else API Gateway's, or else a random one.
pub fn request_id(request: &Request) -> String {
    id_of_client(request.headers())
        .map(str::to_owned)
        .or_else(|| id_of_gateway(request))
        .unwrap_or_else(|| rand::rng().sample_iter(Alphanumeric).take(16).map(char::from).collect())
}

fn id_of_gateway(request: &Request) -> Option<String> {
    match request.extensions().get::<GatewayContext>()? {
        GatewayContext::ApiGatewayV2(context) => context.request_id.clone(),
        GatewayContext::ApiGatewayV1(context) => context.request_id.clone(),
        _ => None,
    }
}

/// The only id in the headers, if it may be logged.
fn id_of_client(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(REQUEST_ID).iter();
    let id = values.next()?.to_str().ok()?;
    (values.next().is_none() && may_be_logged(id)).then_some(id)
}

/// Whether a text of a client has the form of an id, and hides neither a key nor a phone number. Ids
/// of a common random form may have more digits in a row, but need letters, too.
fn may_be_logged(id: &str) -> bool {
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | '=');
    let has_form = (1..=LONGEST_ID).contains(&id.len())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || is_separator(c));
    let is_random = (is_uuid(id) || is_trace_id(id) || is_ulid(id))
        && id.chars().filter(char::is_ascii_alphabetic).count() >= LETTERS_OF_A_RANDOM_ID;
    let without_separators = id.replace(is_separator, "");
    let mut runs_of_digits = without_separators.split(|c: char| !c.is_ascii_digit());
    has_form
        && !id.to_ascii_lowercase().contains(START_OF_KEY)
        && (is_random || runs_of_digits.all(|run| run.len() < DIGITS_OF_A_NUMBER))
}

/// Whether the text is a UUID with its version and variant (RFC 9562, 4), which a number that is
/// filled up with zeros lacks.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths = groups.iter().map(|group| group.len());
    lengths.eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| is_hexadecimal(group))
        && groups[2].starts_with(|c: char| matches!(c, '1'..='8'))
        && groups[3].starts_with(|c: char| matches!(c.to_ascii_lowercase(), '8' | '9' | 'a' | 'b'))
}

/// Whether the text is a trace id of [W3C](https://www.w3.org/TR/trace-context/#trace-id).
fn is_trace_id(text: &str) -> bool {
    text.len() == 32 && is_hexadecimal(text)
}

/// Whether the text is a [ULID](https://github.com/ulid/spec).
fn is_ulid(text: &str) -> bool {
    let is_base_32 = |c: char| {
        c.is_ascii_alphanumeric() && !matches!(c.to_ascii_uppercase(), 'I' | 'L' | 'O' | 'U')
    };
    text.len() == 26
        && text.starts_with(|c: char| matches!(c, '0'..='7'))
        && text.chars().all(is_base_32)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn ids_of_common_forms_are_taken_over() {
        for id in [
            "a",
            "req-42",
            "JKJaXmPLvHcESHA=",
            "checkout.2026_7",
            "0190f3c2-6b1e-7d3a-9c55-1234567890ab",
            "6F9619FF-8B86-4D01-B42D-00CF4FC964FF",
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            &"x".repeat(64),
        ] {
            assert!(may_be_logged(id), "{id}");
        }
    }

    #[test]
    fn ids_that_may_hide_a_number_or_a_key_are_not() {
        for id in [
            "",
            "a b",
            "+13052345678",
            "3052345678",
            "234-5678",
            "305.234.5678",
            "3=0=5_234-5678",
            "call-1-305-234-5678-x",
            "00000000-0000-0000-0000-003052345678",
            "00000000000000000000003052345678",
            "01000000000000003052345678",
            "2882210585559b374110722152",
            "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn",
            "TNR_LIVE_x",
            "id-tnr_live_1",
            "\u{661}",
            &"x".repeat(65),
        ] {
            assert!(!may_be_logged(id), "{id}");
        }
    }

    #[test]
    fn two_ids_are_none() {
        let of = |ids: &[&'static str]| {
            let headers =
                ids.iter().map(|id| (REQUEST_ID.parse().unwrap(), HeaderValue::from_static(id)));
            id_of_client(&HeaderMap::from_iter(headers)).map(str::to_owned)
        };
        assert_eq!(of(&["one"]).as_deref(), Some("one"));
        assert_eq!(of(&["one", "two"]), None);
        assert_eq!(of(&[]), None);
    }
}
