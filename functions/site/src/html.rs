//! Responses in HTML, with what protects a page that holds an API key.

use axum::{
    http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

/// The part of each content security policy that keeps a page by itself: no other page shows it in a
/// frame, nothing changes where its links lead, and no form is sent anywhere.
pub const WITHOUT_OTHERS: &str = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// A page with its content security policy. No address of it is told to others.
pub fn response(document: &'static str, policy: &str) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, document).into_response()
}

/// What allows one inline script or style in a content security policy: its hash.
pub fn hash_source(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}
