//! The steps around every route, in order: host, `OPTIONS`, method, key, quota, parameters, error format, conditional
//! requests, compression, and headers.

use axum::{
    extract::Request,
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::{
    auth::{authenticate, required_key},
    endpoints::{Endpoint, Endpoints},
    errors::{ApiError, into_problem},
    gateway::{PathPrefix, event_context, prefix_links},
    http::{
        AllowedOrigins, compression::compress, conditional::Condition, cors, prefers_gzip,
        prefers_problems, request_host,
    },
    routes::catch_panic,
    state::App,
};

/// Responds to a request, and applies the client's preferences to the response.
pub async fn respond(app: &App, endpoints: &Endpoints, request: Request, next: Next) -> Response {
    let (headers, origins) = (request.headers(), &app.config.allowed_origins);
    let allowed_origin = origins.allowed(headers.get(ORIGIN));
    let (wants_problems, wants_gzip) = (prefers_problems(headers), prefers_gzip(headers));
    let condition = Condition::from_request(&request);
    let prefix = request.extensions().get::<PathPrefix>().cloned();
    let endpoint = endpoints.find(&request);

    let mut response = match check_host(&request) {
        Err(error) => error.into_response(),
        Ok(()) => match cors::options_response(&request, endpoint) {
            Some(response) => response,
            // Boxed, since a route's future is large and would be moved through all outer ones.
            None => catch_panic(Box::pin(handle(app, endpoint, request, next))).await,
        },
    };
    if wants_problems {
        response = into_problem(response);
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
/// unread until the handler runs.
async fn handle_with_key(
    app: &App,
    endpoint: &Endpoint,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let key = required_key(&request)?;
    let charge = authenticate(app, key).await?;
    charge.raise_to(1).await?;
    request.extensions_mut().insert(charge.key_kind());
    request.extensions_mut().insert(charge.clone());
    let mut response = match endpoint.check_params(&request) {
        Ok(()) => next.run(request).await,
        Err(unknown) => unknown.into_response(),
    };
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("private"));
    // A rejection has them already.
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
    cors::allow_origin(headers, allowed_origin);
    if !is_cacheable {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    // One header line, since API Gateway keeps only the first of several with the same name.
    let vary = match origins {
        AllowedOrigins::Any => "Accept, Accept-Encoding, Accept-Language",
        AllowedOrigins::Listed(_) => "Accept, Accept-Encoding, Accept-Language, Origin",
    };
    headers.insert(VARY, HeaderValue::from_static(vary));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

#[cfg(test)]
mod tests;
