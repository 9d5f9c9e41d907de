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
    auth::middleware::admit,
    errors::{ApiError, into_problem},
    gateway::{PathPrefix, is_behind_gateway, prefix_links},
    http::{
        AllowedOrigins, compression::compress, conditional::Condition, cors, prefers_gzip,
        prefers_problems, request_host,
    },
    route_table::RouteTable,
    routes::catch_panic,
    state::App,
};

/// Responds to a request, and applies the client's preferences to the response.
pub async fn respond(app: &App, routes: &RouteTable, request: Request, next: Next) -> Response {
    let (headers, origins) = (request.headers(), &app.config.allowed_origins);
    let allowed_origin = origins.allowed(headers.get(ORIGIN));
    let (wants_problems, wants_gzip) = (prefers_problems(headers), prefers_gzip(headers));
    let condition = Condition::from_request(&request);
    let prefix = request.extensions().get::<PathPrefix>().cloned();

    let mut response = match check_host(&request) {
        Err(error) => error.into_response(),
        Ok(()) => match cors::options_response(&request, routes) {
            Some(response) => response,
            // Boxed, since a route's future is large and would be moved through all outer ones.
            None => catch_panic(Box::pin(route(app, routes, request, next))).await,
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
    if is_behind_gateway(request) {
        return Ok(());
    }
    request_host(request.uri(), request.headers(), request.version()).map(drop)
}

async fn route(app: &App, routes: &RouteTable, request: Request, next: Next) -> Response {
    match routes.find(&request) {
        Some(route) => admit(app, route, request, next).await.into_response(),
        None => next.run(request).await,
    }
}

/// Sets the headers that every response has.
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
