//! Admits requests that have a live key with quota left, or IAM authorization, and only known parameters.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Charge;
use crate::{
    described_routes::DescribedRoute,
    errors::ApiError,
    gateway::is_authorized_by_iam,
    params::{API_KEY, Params},
    request_context,
    routes::Admission,
    state::App,
};

/// The access log name for requests authorized by IAM. No key starts with it.
const IAM_KEY_PREFIX: &str = "iam";

/// Lets a request reach its handler if its method is allowed and, unless the route is public, its key is valid.
pub async fn admit(
    app: &App,
    route: &DescribedRoute,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    route.check_method(&request)?;
    match route.admission {
        Admission::Public => Ok(stored_for_a_minute(next.run(request).await)),
        _ => answer_key(app, route, request, next).await,
    }
}

/// Lets caches store public responses for a minute unless the handler decides otherwise, since they are the
/// same for every client.
fn stored_for_a_minute(mut response: Response) -> Response {
    let policy = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(policy);
    response
}

/// Authenticates and counts the request, and marks the response `Cache-Control: private`. Then validates the
/// parameter names.
async fn answer_key(
    app: &App,
    route: &DescribedRoute,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = if is_authorized_by_iam(&request) {
        None
    } else {
        let key = key_of(request.headers(), &Params::from_uri(request.uri()))?;
        Some(key.ok_or(ApiError::KeyRequired)?)
    };
    let charge = charge_of(app, key).await?;
    if route.admission == Admission::CountedByItems && *request.method() == Method::POST {
        charge.check()?;
        request.extensions_mut().insert(charge.clone());
    } else {
        charge.charge_many(1).await?;
    }
    let mut response = match route.check_params(&request) {
        Ok(()) => next.run(request).await,
        Err(unknown) => unknown.into_response(),
    };
    charge.finalize().await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    if let Some(statuses) = charge.statuses() {
        statuses.set_rate_limit_headers(response.headers_mut());
    }
    Ok(response)
}

/// Authenticates a request by its key, or without one by IAM permission to invoke the function
/// ([decision 13](../../../docs/decisions/0013-requests-of-the-probe.md)). Returns its charge.
async fn charge_of(app: &App, key: Option<String>) -> Result<Charge, ApiError> {
    let (name, charge) = match key {
        None => (IAM_KEY_PREFIX.to_owned(), Charge::default()),
        Some(key) => {
            let record = app.keys.admit(&key).await?;
            (record.prefix.clone(), Charge::for_key(&app.quotas, record))
        }
    };
    request_context::record(|context| context.key = Some(name));
    Ok(charge)
}

/// The request's key: from the `Authorization` header, else the `X-API-Key` header, else the `apiKey` query
/// parameter.
fn key_of(headers: &HeaderMap, params: &Params) -> Result<Option<String>, ApiError> {
    // A key that is not UTF-8 is reported as invalid, not as missing.
    let text_of = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let key_in_headers = text_of("authorization")
        .and_then(|value| bearer_token(&value).map(str::to_owned))
        .or_else(|| text_of("x-api-key").map(|value| value.trim().to_owned()));
    match key_in_headers.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => params.text(API_KEY),
    }
}

/// The token of the `Bearer` scheme, matched case-insensitively (RFC 9110, 11.1).
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { Some(token.trim()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bearer_token_precedes_x_api_key_and_the_parameter() {
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
            let found = key_of(&headers, &Params::from_uri(&format!("/?{query}").parse().unwrap()));
            assert_eq!(found.unwrap().as_deref(), key, "{headers:?} {query}");
        }
    }
}
