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
    errors::ApiError,
    gateway::is_authorized_by_iam,
    http::methods::Methods,
    params::{API_KEY, Params},
    request_context,
    state::App,
    unknown_params::KnownParams,
};

/// What a protected route needs in order to admit a request.
pub struct Admission {
    pub app: App,
    pub known_params: KnownParams,
    pub methods: Methods,
    /// The paths of the routes whose `POST` counts as many requests as there are items in its body.
    pub counted_by_items: &'static [&'static str],
}

/// What a request is admitted by.
enum Credential {
    /// The text that the client sent as its key.
    Key(String),
    /// The permission of IAM to call the function
    /// ([decision 13](../../../docs/decisions/0013-requests-of-the-probe.md)).
    Iam,
}

/// What the access log has instead of the first characters of a key, with which no key begins.
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
    let Admission { app, known_params, methods, .. } = &*admission;
    methods.check(&request)?;
    let charge = match credential_of(&request)? {
        Credential::Key(key) => charge_of(app, &key).await?,
        Credential::Iam => {
            request_context::record(|context| context.key = Some(KEY_OF_IAM.to_owned()));
            Charge::default()
        }
    };
    if admission.is_counted_by_items(&request) {
        charge.check()?;
        request.extensions_mut().insert(charge.clone());
    } else {
        charge.one().await?;
    }
    let mut response = match known_params.check(&request) {
        Ok(()) => next.run(request).await,
        Err(unknown) => unknown.into_response(),
    };
    charge.settle().await;
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    if let Some(statuses) = charge.statuses() {
        statuses.set_rate_limit_headers(response.headers_mut());
    }
    Ok(response)
}

/// What the request is to be admitted by.
fn credential_of(request: &Request) -> Result<Credential, ApiError> {
    if is_authorized_by_iam(request) {
        return Ok(Credential::Iam);
    }
    let key = key_of(request.headers(), &Params::of(request.uri()))?;
    key.map(Credential::Key).ok_or(ApiError::KeyRequired)
}

/// Checks a key. Gives what the request is to be charged to.
async fn charge_of(app: &App, key: &str) -> Result<Charge, ApiError> {
    let record = app.keys.admit(key).await?;
    request_context::record(|context| context.key = Some(record.prefix.clone()));
    Ok(Charge::of_key(&app.quotas, record))
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

    fn key_from(headers: &[(&'static str, &'static str)], query: &str) -> Option<String> {
        let headers = headers
            .iter()
            .map(|&(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect();
        key_of(&headers, &Params::of(&format!("/?{query}").parse().unwrap())).unwrap()
    }

    #[test]
    fn bearer_comes_before_x_api_key_before_the_query() {
        let (bearer, x_api_key) = (("authorization", "Bearer one"), ("x-api-key", "two"));
        assert_eq!(key_from(&[bearer, x_api_key], "apiKey=three").as_deref(), Some("one"));
        assert_eq!(key_from(&[x_api_key], "apiKey=three").as_deref(), Some("two"));
        assert_eq!(key_from(&[], "apiKey=three").as_deref(), Some("three"));
        assert_eq!(key_from(&[], ""), None);
    }

    #[test]
    fn another_scheme_is_ignored_and_the_scheme_may_have_any_case() {
        assert_eq!(key_from(&[("authorization", "Basic abc")], "apiKey=k").as_deref(), Some("k"));
        assert_eq!(key_from(&[("authorization", "bearer  k ")], "").as_deref(), Some("k"));
        assert_eq!(key_from(&[("authorization", "Bearer ")], ""), None);
        assert_eq!(key_from(&[("x-api-key", "")], ""), None);
    }
}
