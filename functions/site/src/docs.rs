//! The documentation for browsers.

use axum::{http::HeaderValue, response::Response};

use crate::html;

const DOCS: &str = "<!doctype html>\n<html lang=\"en\">\n<title>API documentation</title>\n";
const POLICY: &str =
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// Answers with the documentation.
pub async fn docs() -> Response {
    html::response(DOCS, HeaderValue::from_static(POLICY))
}
