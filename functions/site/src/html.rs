//! Responses in HTML, with what protects a page that holds an API key.

use axum::{
    http::{
        HeaderValue,
        header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    },
    response::{IntoResponse, Response},
};

/// A page with its content security policy.
pub fn response(body: &'static str, policy: HeaderValue) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    (headers, body).into_response()
}
