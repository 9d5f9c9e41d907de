//! The page at the root, for browsers.

use axum::{
    http::{HeaderMap, HeaderValue, Uri},
    response::Response,
};
use shared::{errors::ApiError, http::prefers_html};

use crate::html;

const PAGE: &str = "<!doctype html>\n<html lang=\"en\">\n<title>Telephone numbers</title>\n";
const POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Answers browsers with the page, and programs as if there was nothing.
///
/// # Errors
/// Returns [`ApiError::NotFound`] if the client does not prefer HTML.
pub async fn page(headers: HeaderMap, uri: Uri) -> Result<Response, ApiError> {
    if !prefers_html(&headers) {
        return Err(ApiError::no_endpoint(&uri));
    }
    Ok(html::response(PAGE, HeaderValue::from_static(POLICY)))
}
