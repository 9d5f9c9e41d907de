//! Bodies of POST requests as text, and of their responses: several results in JSON, or one JSON object per line.

use std::{collections::BTreeMap, str::from_utf8};

use axum::{
    http::{
        HeaderMap,
        header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use shared::{
    errors::{ApiError, quote},
    json::{json_lines, json_response},
};

pub use shared::json::JSON_LINES;

pub const JSON: &str = "application/json";

/// The bytes of a body that count as one request, rounded up.
pub const BYTES_PER_REQUEST: usize = 16 * 1024;

/// A `Content-Type` in lowercase.
pub struct ContentType(String);

impl ContentType {
    /// Rejects compressed bodies and charsets other than UTF-8.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, ApiError> {
        let coding = header_text(headers, CONTENT_ENCODING);
        if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
            return Err(ApiError::UnsupportedMediaType(format!(
                "Content-Encoding must be absent, got '{}'",
                quote(coding)
            )));
        }
        let content_type = Self(header_text(headers, CONTENT_TYPE).to_ascii_lowercase());
        match content_type.parameter("charset") {
            None | Some("utf-8" | "utf8" | "us-ascii") => Ok(content_type),
            Some(other) => Err(ApiError::UnsupportedMediaType(format!(
                "The Content-Type charset must be utf-8, got '{}'",
                quote(other)
            ))),
        }
    }

    pub fn media_type(&self) -> &str {
        self.0.split(';').next().unwrap_or_default().trim()
    }

    pub fn parameter(&self, wanted: &str) -> Option<&str> {
        let mut parameters = self.0.split(';').skip(1).filter_map(|part| part.split_once('='));
        let found = parameters.find(|(name, _)| name.trim() == wanted);
        found.map(|(_, value)| value.trim().trim_matches('"'))
    }

    pub fn unsupported(&self, supported: &str) -> ApiError {
        let got = quote(self.media_type());
        let message = format!("Content-Type must be {supported}, got '{got}'");
        ApiError::UnsupportedMediaType(message)
    }
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
}

/// Decodes a body as text. Removes the byte order mark that Windows adds.
pub fn decode_text(body: &[u8]) -> Result<&str, ApiError> {
    match from_utf8(body) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let (position, byte) = (error.valid_up_to() + 1, body[error.valid_up_to()]);
            Err(ApiError::invalid(format!(
                "The body must be UTF-8, got the byte {byte:#04x} at byte {position}"
            )))
        }
    }
}

pub fn json_error(error: &serde_json::Error) -> ApiError {
    ApiError::invalid(format!("The body is not valid JSON: {error}"))
}

/// The response with several results as [`JSON`] or [`JSON_LINES`].
pub fn results_response(media_type: &str, results: &[impl Serialize]) -> Response {
    if media_type == JSON_LINES {
        return ([(CONTENT_TYPE, JSON_LINES)], json_lines(results.iter())).into_response();
    }
    json_response(&BTreeMap::from([("results", results)]))
}
