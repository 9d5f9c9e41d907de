//! The steps for every request, in order: host, `OPTIONS`, method, key, quota, parameters, error format, conditional
//! requests, compression, and headers.

use axum::{
    RequestExt,
    extract::Request,
    http::{
        HeaderValue, Method, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_MAX_AGE,
            ACCESS_CONTROL_REQUEST_METHOD, ALLOW, CACHE_CONTROL, ORIGIN, VARY,
            X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    auth::{authenticate, required_key},
    errors::{ApiError, into_problem},
    gateway::{PathPrefix, event_context, prefix_links},
    http::{
        AllowedOrigins, compression::compress, conditional::Condition, cors::allow_origin,
        prefers_gzip, prefers_problems, request_host,
    },
    routes::{Endpoint, Endpoints, catch_panic},
    state::App,
};

/// The headers that pages may send.
const REQUEST_HEADERS: &str =
    "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Traceparent, Tracestate";
/// The headers that pages may send to a route with a body. MCP clients send the last three.
const REQUEST_HEADERS_WITH_BODY: &str = "Authorization, X-API-Key, If-None-Match, X-Request-Id, Accept, Traceparent, \
     Tracestate, Content-Type, MCP-Protocol-Version, Mcp-Method, Mcp-Name";
/// The allowed methods for an unknown path.
const ANY_METHOD: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");
/// The maximum time in seconds for which browsers may cache a preflight response.
const MAX_AGE: &str = "86400";

/// Responds to a request, and applies the client's preferences to the response.
pub async fn respond(
    app: &App,
    endpoints: &Endpoints,
    mut request: Request,
    next: Next,
) -> Response {
    let (headers, origins) = (request.headers(), &app.config.allowed_origins);
    let allowed_origin = origins.allowed(headers.get(ORIGIN));
    let (wants_problems, wants_gzip) = (prefers_problems(headers), prefers_gzip(headers));
    let condition = Condition::from_request(&request);
    let prefix = request.extensions().get::<PathPrefix>().cloned();
    let endpoint = endpoints.find(&request);
    let address = if wants_problems { request.extract_parts().await.ok() } else { None };

    let mut response = match check_host(&request) {
        Err(error) => error.into_response(),
        Ok(()) => match options_response(&request, endpoint) {
            Some(response) => response,
            // Boxed, because a route's future is large and would be moved through all outer ones.
            None => catch_panic(Box::pin(handle(app, endpoint, request, next))).await,
        },
    };
    if let Some(address) = address {
        response = into_problem(response, address);
    }
    if let Some(condition) = condition {
        response = condition.apply(response).await;
    }
    if wants_gzip {
        response = compress(response, &app.heavy_work).await;
    }
    set_common_headers(&mut response, allowed_origin, origins);
    if let Some(prefix) = prefix {
        prefix_links(response.headers_mut(), &prefix);
    }
    response
}

/// Rejects a request with an invalid host, unless API Gateway sent it.
fn check_host(request: &Request) -> Result<(), ApiError> {
    if event_context(request.extensions()).is_some() {
        return Ok(());
    }
    request_host(request.uri(), request.headers(), request.version()).map(drop)
}

/// The response to `OPTIONS`; `None` for any other method or an unknown path. Even for an unknown path, a preflight
/// gets a response, because otherwise the page could not read the 404. Browsers send preflights without a key.
fn options_response(request: &Request, endpoint: Option<&Endpoint>) -> Option<Response> {
    if *request.method() != Method::OPTIONS {
        return None;
    }
    let headers = request.headers();
    if !headers.contains_key(ORIGIN) || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return Some((StatusCode::NO_CONTENT, [(ALLOW, endpoint?.allow())]).into_response());
    }
    let takes_body = endpoint.is_none_or(Endpoint::takes_body);
    let request_headers = if takes_body { REQUEST_HEADERS_WITH_BODY } else { REQUEST_HEADERS };
    let allow = endpoint.map_or(ANY_METHOD, Endpoint::allow);
    let headers = [
        (ALLOW, allow.clone()),
        (ACCESS_CONTROL_ALLOW_METHODS, allow),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(request_headers)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE)),
    ];
    Some((StatusCode::NO_CONTENT, headers).into_response())
}

/// Passes the request to its handler if its method is allowed and, unless the endpoint is public, its key is valid.
async fn handle(app: &App, endpoint: Option<&Endpoint>, request: Request, next: Next) -> Response {
    let Some(endpoint) = endpoint else { return next.run(request).await };
    if let Err(error) = endpoint.check_method(&request) {
        return error.into_response();
    }
    if !endpoint.is_public {
        return handle_with_key(app, endpoint, request, next).await.into_response();
    }
    let mut response = next.run(request).await;
    // Unless the handler sets a different policy.
    let policy = HeaderValue::from_static("public, max-age=60");
    response.headers_mut().entry(CACHE_CONTROL).or_insert(policy);
    response
}

/// Authenticates and charges the request, checks its parameter names, and marks the response as private. The body is
/// not read until the handler runs.
async fn handle_with_key(
    app: &App,
    endpoint: &Endpoint,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let span = otlp::start_span("check key");
    let key = required_key(&request)?;
    let charge = authenticate(&app.keys, &app.quotas, key).await?;
    charge.raise_to(1).await?;
    drop(span);
    request.extensions_mut().insert(charge.key_kind());
    request.extensions_mut().insert(charge.clone());
    let mut response = match endpoint.check_params(&request) {
        Ok(()) => next.run(request).await,
        Err(unknown) => unknown.into_response(),
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private"));
    // A rejected request already has these headers.
    if response.status() != StatusCode::TOO_MANY_REQUESTS
        && let Some(statuses) = charge.statuses()
    {
        statuses.set_rate_limit_headers(response.headers_mut());
    }
    Ok(response)
}

fn set_common_headers(
    response: &mut Response,
    allowed_origin: Option<HeaderValue>,
    origins: &AllowedOrigins,
) {
    let is_cacheable =
        response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    allow_origin(headers, allowed_origin);
    if !is_cacheable {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    // In a single header line, because API Gateway drops all but the first of several with the same name.
    let vary = match origins {
        AllowedOrigins::Any => "Accept, Accept-Encoding, Accept-Language",
        AllowedOrigins::Listed(_) => "Accept, Accept-Encoding, Accept-Language, Origin",
    };
    headers.insert(VARY, HeaderValue::from_static(vary));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

#[cfg(test)]
mod tests;
