//! Admits requests with a live key whose quotas are not exhausted, or that IAM has authorized, and with
//! parameters that their route knows.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Charge;
use crate::{
    described_routes::DescribedRoutes,
    errors::ApiError,
    gateway::is_authorized_by_iam,
    params::{API_KEY, Params},
    request_context,
    state::App,
};

/// The state of the middleware of a function's protected routes.
pub struct Admission {
    pub app: App,
    pub described: DescribedRoutes,
    /// The paths of the routes whose `POST` counts as many requests as there are items in its body.
    pub counted_by_items: &'static [&'static str],
}

/// The name in the access log for a request that IAM has authorized. No key begins with it.
const KEY_OF_IAM: &str = "iam";

impl Admission {
    fn is_counted_by_items(&self, request: &Request) -> bool {
        let route = request.extensions().get::<MatchedPath>();
        *request.method() == Method::POST
            && route.is_some_and(|route| self.counted_by_items.contains(&route.as_str()))
    }
}

/// Authenticates the request, counts it, and marks the response `Cache-Control: private`. Then the
/// names of its parameters are checked.
pub async fn admit(
    State(admission): State<Arc<Admission>>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let Admission { app, described, .. } = &*admission;
    described.check_method(&request)?;
    let key = if is_authorized_by_iam(&request) {
        None
    } else {
        let key = key_of(request.headers(), &Params::from_uri(request.uri()))?;
        Some(key.ok_or(ApiError::KeyRequired)?)
    };
    let charge = charge_of(app, key).await?;
    if admission.is_counted_by_items(&request) {
        charge.check()?;
        request.extensions_mut().insert(charge.clone());
    } else {
        charge.charge_many(1).await?;
    }
    let mut response = match described.check_params(&request) {
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

/// Authenticates a request: by its key, or without one by IAM's permission to call the function
/// ([decision 13](../../../docs/decisions/0013-requests-of-the-probe.md)). Gives what it is charged to.
async fn charge_of(app: &App, key: Option<String>) -> Result<Charge, ApiError> {
    let (name, charge) = match key {
        None => (KEY_OF_IAM.to_owned(), Charge::default()),
        Some(key) => {
            let record = app.keys.admit(&key).await?;
            (record.prefix.clone(), Charge::for_key(&app.quotas, record))
        }
    };
    request_context::record(|context| context.key = Some(name));
    Ok(charge)
}

/// The key of a request: from the `Authorization` header, or else from the `X-API-Key` header, or
/// else from the query parameter `apiKey`.
fn key_of(headers: &HeaderMap, params: &Params) -> Result<Option<String>, ApiError> {
    // A key that is not UTF-8 is answered as an invalid key, and not as a missing one.
    let text_of = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let key_in_headers = text_of("authorization")
        .and_then(|value| bearer_token(&value).map(str::to_owned))
        .or_else(|| text_of("x-api-key").map(|value| value.trim().to_owned()));
    match key_in_headers.filter(|key| !key.is_empty()) {
        Some(key) => Ok(Some(key)),
        None => params.text(API_KEY),
    }
}

/// The token of the scheme `Bearer`, whose name is matched whatever its case (RFC 9110, 11.1).
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") { Some(token.trim()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_bearer_token_then_x_api_key_then_a_parameter() {
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
