//! What HTTP asks of every response, whichever endpoint it comes from: the headers, conditional
//! requests, compression, cross-origin requests, the form of errors, and a slash at the end of a path.

mod compression;
mod conditional;
mod cors;
mod preferences;
mod problem;
mod response_headers;
mod trailing_slash;

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
};

pub use cors::AllowedOrigins;
pub(crate) use trailing_slash::ignore_trailing_slashes;

/// Wraps `router`, so that each of its responses keeps to the rules of HTTP. The last layer
/// sees a request first and its response last.
pub(crate) fn with_rules_of_http(router: Router, origins: &AllowedOrigins) -> Router {
    router
        .layer(from_fn(problem::render_as_asked))
        .layer(from_fn(conditional::answer_conditionally))
        .layer(compression::layer())
        .layer(from_fn(compression::ignore_unsatisfiable_accept_encoding))
        .layer(from_fn(cors::answer_options))
        .layer(from_fn_with_state(origins.clone(), cors::allow_origins))
        .layer(from_fn_with_state(origins.clone(), response_headers::set_common_headers))
}
