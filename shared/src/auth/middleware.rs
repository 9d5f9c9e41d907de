//! Authentication, quotas, and the check for unknown parameters.

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::Charge;
use crate::{
    errors::ApiError,
    gateway::is_authorized_by_iam,
    params::{API_KEY, Params},
    request_context,
    route_table::RouteSpec,
    state::App,
};

/// The key in the access log for requests authorized by IAM.
const IAM_KEY_NAME: &str = "iam";

/// Passes a request to its handler if its method is allowed and, unless the route is public, its key is valid.
pub async fn admit(
    app: &App,
    route: &RouteSpec,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    route.check_method(&request)?;
    if route.is_public {
        return Ok(cache_for_a_minute(next.run(request).await));
    }
    handle_with_key(app, route, request, next).await
}

/// Lets caches store a public response for a minute unless the handler sets a different policy.
fn cache_for_a_minute(mut response: Response) -> Response {
    let policy = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(policy);
    response
}

/// Authenticates and charges the request, checks its parameter names, and marks the response as private. The body is
/// unread until the handler runs.
async fn handle_with_key(
    app: &App,
    route: &RouteSpec,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = if is_authorized_by_iam(&request) {
        None
    } else {
        let key = find_key(request.headers(), &Params::from_uri(request.uri()))?;
        Some(key.ok_or(ApiError::KeyRequired)?)
    };
    let charge = authenticate(app, key).await?;
    charge.raise_to(1).await?;
    request.extensions_mut().insert(charge.key_kind());
    request.extensions_mut().insert(charge.clone());
    let mut response = match route.check_params(&request) {
        Ok(()) => next.run(request).await,
        Err(unknown) => unknown.into_response(),
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    // A rejection has them already.
    if response.status() != StatusCode::TOO_MANY_REQUESTS
        && let Some(statuses) = charge.statuses()
    {
        statuses.set_rate_limit_headers(response.headers_mut());
    }
    Ok(response)
}

/// Validates the key, and returns the charge. A request without a key was authorized by IAM
/// ([decision 13](../../../docs/decisions/0013-probe-authentication.md)).
async fn authenticate(app: &App, key: Option<String>) -> Result<Charge, ApiError> {
    let (name, charge) = match key {
        None => (IAM_KEY_NAME.to_owned(), Charge::default()),
        Some(key) => {
            let record = app.keys.validate(&key).await?;
            (record.prefix.clone(), Charge::for_key(&app.quotas, record))
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
    use std::{convert::Infallible, future::pending};

    use axum::{
        Router,
        body::{Body, Bytes},
        extract::State,
        routing::{get, post},
    };
    use futures_util::{FutureExt, stream};
    use lambda_http::tower::ServiceExt;
    use store::{KeyRecord, Store, TimeoutProfile};

    use super::*;
    use crate::{
        app,
        auth::{ApiKey, KeyKind, SECRET_CHARACTERS, key_record},
        body::BodyLimit,
        routes::{Route, Routes},
    };

    /// An app whose tables are unreachable.
    fn test_app() -> App {
        App::with_store(Store::connect_to_emulator("http://127.0.0.1:1", TimeoutProfile::Request))
    }

    const PER_DAY: u32 = 3;

    fn limited_record() -> KeyRecord {
        KeyRecord { per_day: Some(PER_DAY), ..key_record("limited") }
    }

    /// A service that reads bodies at `/read`, and never responds at `/never`.
    fn service(app: &App) -> Router {
        let read = async |State(app): State<App>, charge: Charge, request: Request| {
            let limit = BodyLimit { bytes: 1024, bytes_per_request: 512, advice: "" };
            limit.read(&app, &charge, request.into_body()).await.map(drop)
        };
        let routes = Routes::new([
            Route::undocumented_post("/read", post(read)),
            Route::undocumented_post("/never", post(pending::<()>)),
        ]);
        app::service([routes], app.clone())
    }

    /// A request whose body never arrives.
    fn endless_request(path: &str, key: &str) -> Request {
        let body = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let request = Request::post(path).header(header::HOST, "a.example");
        request.header("x-api-key", key).body(body).unwrap()
    }

    fn key(character: char) -> ApiKey {
        let secret = character.to_string().repeat(SECRET_CHARACTERS);
        ApiKey::with_secret(KeyKind::Live, &secret).unwrap()
    }

    async fn counted(app: &App) -> u64 {
        let charge = Charge::for_key(&app.quotas, limited_record());
        // Reads the statuses without counting anything.
        charge.raise_to(u64::from(PER_DAY) + 1).await.unwrap_err();
        u64::from(PER_DAY) - charge.min_remaining().unwrap()
    }

    #[tokio::test]
    async fn rejected_requests_do_not_wait_for_their_body() {
        let (app, spent, unknown) = (test_app(), key('a'), key('b'));
        app.keys.record_read(&spent, Some(limited_record())).await;
        app.keys.record_read(&unknown, None).await;
        Charge::for_key(&app.quotas, limited_record()).raise_to(PER_DAY.into()).await.unwrap();
        for (key, status) in [
            (spent.reveal(), StatusCode::TOO_MANY_REQUESTS),
            (unknown.reveal(), StatusCode::UNAUTHORIZED),
            ("malformed", StatusCode::UNAUTHORIZED),
            ("", StatusCode::UNAUTHORIZED),
        ] {
            let response = service(&app).oneshot(endless_request("/read", key)).await.unwrap();
            assert_eq!(response.status(), status, "{key}");
        }
    }

    #[tokio::test]
    async fn a_request_stays_charged_if_its_client_hangs_up() {
        let (app, key) = (test_app(), key('a'));
        app.keys.record_read(&key, Some(limited_record())).await;
        for (path, expected) in [("/never", 1), ("/read", 2)] {
            let mut request = Box::pin(service(&app).oneshot(endless_request(path, key.reveal())));
            // Waits for the table to fail, so that the next requests are counted without it.
            while counted(&app).await < expected {
                assert!(request.as_mut().now_or_never().is_none());
                tokio::task::yield_now().await;
            }
            drop(request);
            assert_eq!(counted(&app).await, expected);
        }
    }

    #[tokio::test]
    async fn routes_require_a_key_unless_they_are_public() {
        let app = test_app();
        for (is_public, status) in [(false, StatusCode::UNAUTHORIZED), (true, StatusCode::OK)] {
            let route = [Route::undocumented_get("/v1/test", get(async || "found"))];
            let routes = if is_public { Routes::public(route) } else { Routes::new(route) };
            let request = Request::get("/v1/test").header(header::HOST, "a.example");
            let request = request.body(Body::empty()).unwrap();
            let response = app::service([routes], app.clone()).oneshot(request).await.unwrap();
            assert_eq!(response.status(), status);
        }
    }

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
