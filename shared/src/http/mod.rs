//! What HTTP asks of every response, whichever endpoint it comes from: the host, the headers, conditional
//! requests, compression, cross-origin requests, the form of errors, and a slash at the end of a path.

mod compression;
mod conditional;
mod cors;
mod host;
pub(crate) mod methods;
mod preferences;
mod problem;
mod response_headers;
mod trailing_slash;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, header::ORIGIN},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};

use conditional::Condition;
pub use cors::AllowedOrigins;
pub(crate) use host::host_of;
use methods::Methods;
pub use preferences::{accepts_gzip, accepts_json, preferred_media_type, prefers_html};
pub(crate) use trailing_slash::ignore_trailing_slashes;

use crate::{errors::ApiError, gateway::is_behind_gateway};

/// Wraps `router`, so that each of its responses keeps to the rules of HTTP.
///
/// The rules are two layers and not one each, since every layer copies all layers within it for
/// every request.
pub(crate) fn with_rules_of_http(
    router: Router,
    origins: &AllowedOrigins,
    methods: Methods,
) -> Router {
    router.layer((
        from_fn_with_state((origins.clone(), methods), answer_any_client),
        compression::layer(),
        from_fn(answer_in_asked_form),
    ))
}

/// The rules that come after compression: on the host, browsers and caches. Behind API Gateway the host is
/// not that of the client.
async fn answer_any_client(
    State((origins, methods)): State<(AllowedOrigins, Methods)>,
    mut request: Request,
    next: Next,
) -> Response {
    if !is_behind_gateway(&request)
        && let Err(error) = host_of(request.uri(), request.headers(), request.version())
    {
        return refusal(request.headers(), error, &origins);
    }
    let allowed_origin = origins.allowed(request.headers().get(ORIGIN));
    let mut response = match cors::options_response(&request, &methods) {
        Some(response) => response,
        None => {
            compression::remove_unsatisfiable_accept_encoding(request.headers_mut());
            next.run(request).await
        }
    };
    finish(&mut response, allowed_origin, &origins);
    response
}

/// The rules that come before compression: on the form of errors and on conditional requests.
async fn answer_in_asked_form(request: Request, next: Next) -> Response {
    let wants_problems = problem::is_asked_for_by(request.headers());
    let condition = Condition::of(&request);
    let response = in_asked_form(next.run(request).await, wants_problems);
    match condition {
        Some(condition) => condition.apply(response).await,
        None => response,
    }
}

/// The response to a request with these headers that is refused before any route, in the form and with
/// the headers of every other error.
pub(crate) fn refusal(headers: &HeaderMap, error: ApiError, origins: &AllowedOrigins) -> Response {
    let mut response = in_asked_form(error.into_response(), problem::is_asked_for_by(headers));
    finish(&mut response, origins.allowed(headers.get(ORIGIN)), origins);
    response
}

/// The response, with an error as a problem if the client asks for that.
fn in_asked_form(response: Response, wants_problems: bool) -> Response {
    if wants_problems { problem::as_problem(response) } else { response }
}

/// Sets the headers that every response has.
fn finish(response: &mut Response, allowed_origin: Option<HeaderValue>, origins: &AllowedOrigins) {
    cors::allow_origin(response.headers_mut(), allowed_origin);
    response_headers::set_common_headers(response, origins);
}
