//! The rules around every route, in order: origin secret and host, `OPTIONS`, method, key, quota and parameters,
//! error format, conditional requests, compression, headers.

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
    config::Config,
    described_routes::DescribedRoutes,
    errors::{ApiError, as_problem},
    gateway::{PathPrefix, is_behind_gateway, prefix_links},
    http::{
        AllowedOrigins, compression::compressed, conditional::Condition, cors, host_of,
        prefers_gzip, prefers_problems,
    },
    routes::catch_panic,
    state::App,
};

/// Answers a request by the rules of HTTP: first those for the host, browsers and methods, then its route. Its
/// response gets the error format, coding and headers that the client can use.
pub async fn respond(
    app: &App,
    routes: &DescribedRoutes,
    request: Request,
    next: Next,
) -> Response {
    let (headers, origins) = (request.headers(), &app.config.allowed_origins);
    let allowed_origin = origins.allowed(headers.get(ORIGIN));
    let (wants_problems, wants_gzip) = (prefers_problems(headers), prefers_gzip(headers));
    let condition = Condition::from_request(&request);
    let prefix = request.extensions().get::<PathPrefix>().cloned();

    let mut response = match refusal(&app.config, &request) {
        Some(error) => error.into_response(),
        None => match cors::options_response(&request, routes) {
            Some(response) => response,
            // Boxed, since the future of a route is large and would be moved through all outer ones.
            None => catch_panic(Box::pin(route(app, routes, request, next))).await,
        },
    };
    if wants_problems {
        response = as_problem(response);
    }
    if let Some(condition) = condition {
        response = condition.apply(response).await;
    }
    if wants_gzip {
        response = compressed(response).await;
    }
    finish(&mut response, allowed_origin, origins);
    if let Some(prefix) = prefix {
        prefix_links(response.headers_mut(), &prefix);
    }
    response
}

/// The error for a request that is rejected whatever its path: one from API Gateway without the origin secret,
/// or one over a port with an invalid host. Behind API Gateway the host is not the client's.
fn refusal(config: &Config, request: &Request) -> Option<ApiError> {
    if is_behind_gateway(request) {
        return (!config.origin_secrets.admit(request)).then_some(ApiError::Forbidden);
    }
    host_of(request.uri(), request.headers(), request.version()).err()
}

async fn route(app: &App, routes: &DescribedRoutes, request: Request, next: Next) -> Response {
    match routes.find(&request) {
        Some(route) => admit(app, route, request, next).await.into_response(),
        None => next.run(request).await,
    }
}

/// Sets the headers of every response. Caches may not store errors, and browsers may not guess the body's type.
/// `Vary` names the request headers that change the response.
fn finish(response: &mut Response, allowed_origin: Option<HeaderValue>, origins: &AllowedOrigins) {
    let is_storable =
        response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    cors::allow_origin(headers, allowed_origin);
    if !is_storable {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    // One line for all: API Gateway keeps only the first of several lines with the same name.
    let vary = match origins {
        AllowedOrigins::Any => "Accept, Accept-Encoding",
        AllowedOrigins::Listed(_) => "Accept, Accept-Encoding, Origin",
    };
    headers.insert(VARY, HeaderValue::from_static(vary));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
