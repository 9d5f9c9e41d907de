//! The HTTP rules for every response, whatever its endpoint: host, headers, conditional requests, compression,
//! cross-origin requests, error format and trailing slashes.

pub mod body;
mod compression;
mod conditional;
mod cors;
mod host;
mod preferences;
mod trailing_slash;

use axum::{
    Router,
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{ACCEPT_ENCODING, CACHE_CONTROL, ORIGIN, VARY, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};

use conditional::Condition;
pub use cors::AllowedOrigins;
pub(crate) use host::host_of;
pub use preferences::{accepts_gzip, accepts_json, preferred_media_type, prefers_html};
use preferences::{prefers_problems, refuses_every_coding};
pub(crate) use trailing_slash::ignore_trailing_slashes;

use crate::{
    described_routes::DescribedRoutes,
    errors::{ApiError, as_problem},
    gateway::is_behind_gateway,
};

/// Wraps `router` in the HTTP layers.
///
/// The rules are two layers instead of one each, since every layer clones all inner layers for every request.
pub(crate) fn http_layers(
    router: Router,
    origins: &AllowedOrigins,
    described: DescribedRoutes,
) -> Router {
    router.layer((
        from_fn_with_state((origins.clone(), described), answer_any_client),
        compression::layer(),
        from_fn(answer_in_asked_form),
    ))
}

/// The rules outside of compression: for the host, browsers and caches. Behind API Gateway the host is not the
/// client's.
async fn answer_any_client(
    State((origins, routes)): State<(AllowedOrigins, DescribedRoutes)>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_behind_gateway(&request)
        && let Err(error) = host_of(request.uri(), request.headers(), request.version())
    {
        return refusal(request.headers(), error, &origins);
    }
    let allowed_origin = origins.allowed(request.headers().get(ORIGIN));
    let mut response = match cors::options_response(&request, &routes) {
        Some(response) => response,
        None => {
            // The compression layer would answer 406 with the whole body. Any response helps the client more.
            if refuses_every_coding(request.headers()) {
                request.headers_mut().remove(ACCEPT_ENCODING);
            }
            next.run(request).await
        }
    };
    finish(&mut response, allowed_origin, &origins);
    response
}

/// The rules inside of compression: error format and conditional requests.
async fn answer_in_asked_form(request: Request, next: Next) -> Response {
    let wants_problems = prefers_problems(request.headers());
    let condition = Condition::from_request(&request);
    let mut response = next.run(request).await;
    if wants_problems {
        response = as_problem(response);
    }
    match condition {
        Some(condition) => condition.apply(response).await,
        None => response,
    }
}

/// The response to a request that is rejected before routing, with the format and headers of every other error.
pub(crate) fn refusal(headers: &HeaderMap, error: ApiError, origins: &AllowedOrigins) -> Response {
    let mut response = error.into_response();
    if prefers_problems(headers) {
        response = as_problem(response);
    }
    finish(&mut response, origins.allowed(headers.get(ORIGIN)), origins);
    response
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
