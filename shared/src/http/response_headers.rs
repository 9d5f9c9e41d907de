//! The headers that all responses have.

use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, VARY, X_CONTENT_TYPE_OPTIONS},
    },
    response::Response,
};

use super::cors::AllowedOrigins;

/// Forbids caches to store errors, and browsers to guess the type of a body. Tells
/// caches which headers of a request change its response.
pub fn set_common_headers(response: &mut Response, origins: &AllowedOrigins) {
    let is_storable =
        response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if !is_storable {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    // One line for all: API Gateway gets only the first of several lines with the same name.
    headers.insert(VARY, HeaderValue::from_static(vary(origins)));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

fn vary(origins: &AllowedOrigins) -> &'static str {
    match origins {
        AllowedOrigins::Any => "Accept, Accept-Encoding",
        AllowedOrigins::Listed(_) => "Accept, Accept-Encoding, Origin",
    }
}
