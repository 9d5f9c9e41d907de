//! A request's credentials: an API key, or IAM's authorization.

use std::sync::Arc;

use axum::{extract::Request, http::HeaderMap};

use super::{Charge, KeyRing};
use crate::{
    errors::ApiError,
    gateway::is_authorized_by_iam,
    params::{API_KEY, Params},
    quota::Quotas,
    request_context,
};

/// The key in the access log for requests authorized by IAM.
const IAM_KEY_NAME: &str = "iam";

/// The request's key; `None` if IAM authorized it
/// ([decision 13](../../../docs/decisions/0013-probe-authentication.md)).
pub(crate) fn required_key(request: &Request) -> Result<Option<String>, ApiError> {
    if is_authorized_by_iam(request) {
        return Ok(None);
    }
    let key = find_key(request.headers(), &Params::from_uri(request.uri()))?;
    key.ok_or(ApiError::KeyRequired).map(Some)
}

/// Validates the key, and returns an empty charge for it. A request without a key was authorized by IAM.
pub(crate) async fn authenticate(
    keys: &KeyRing,
    quotas: &Arc<Quotas>,
    key: Option<String>,
) -> Result<Charge, ApiError> {
    let (name, charge) = match key {
        None => (IAM_KEY_NAME.to_owned(), Charge::default()),
        Some(key) => {
            let record = keys.validate(&key).await?;
            (record.prefix.clone(), Charge::for_key(quotas, record))
        }
    };
    request_context::record(|context| context.key = Some(name));
    Ok(charge)
}

/// Finds the key in the `Authorization` header, the `X-API-Key` header or the `apiKey` query parameter, in that
/// order.
fn find_key(headers: &HeaderMap, params: &Params) -> Result<Option<String>, ApiError> {
    // A key that is not UTF-8 is reported as invalid, not as missing.
    let header_text =
        |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let key_in_headers = header_text("authorization")
        .and_then(|value| bearer_token(&value).map(str::to_owned))
        .or_else(|| header_text("x-api-key").map(|value| value.trim().to_owned()));
    match key_in_headers.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => params.text(API_KEY),
    }
}

/// The token after `Bearer`, a scheme name that is case-insensitive (RFC 9110, 11.1).
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { Some(token.trim()) } else { None }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn bearer_token_wins_over_x_api_key_and_the_parameter() {
        let [bearer, x_api_key] = [("authorization", "bearer  one "), ("x-api-key", " two")];
        for (headers, query, key) in [
            (&[bearer, x_api_key][..], "apiKey=three", Some("one")),
            (&[x_api_key], "apiKey=three", Some("two")),
            (&[], "apiKey=three", Some("three")),
            (&[], "", None),
            (&[("authorization", "Basic abc")], "apiKey=three", Some("three")),
            (&[("authorization", "Bearer "), x_api_key], "", Some("two")),
            (&[("x-api-key", "")], "", None),
        ] {
            let headers = headers
                .iter()
                .map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
                .collect();
            let found =
                find_key(&headers, &Params::from_uri(&format!("/?{query}").parse().unwrap()));
            assert_eq!(found.unwrap().as_deref(), key, "{headers:?} {query}");
        }
    }
}
