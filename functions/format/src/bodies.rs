//! The body of a POST request as text, and of its response: several results in JSON, or one JSON object per line.

use std::{collections::BTreeMap, str::from_utf8};

use axum::{
    http::{
        HeaderMap, HeaderValue,
        header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName},
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use shared::{
    errors::{ApiError, quote},
    json::json_lines,
};

pub use shared::json::JSON_LINES;

pub const JSON: &str = "application/json";

/// Bytes of a body that count as one request, rounded up.
pub const BYTES_PER_REQUEST: usize = 16 * 1024;

#[derive(Debug)]
pub struct ContentType {
    pub media_type: String,
    parameters: Vec<(String, String)>,
}

impl ContentType {
    /// Rejects a compressed body, and a charset other than UTF-8.
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, ApiError> {
        let coding = header_text(headers, CONTENT_ENCODING);
        if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
            return Err(ApiError::UnsupportedMediaType(format!(
                "Content-Encoding must be absent, got '{}'",
                quote(coding)
            )));
        }
        let content_type = header_text(headers, CONTENT_TYPE).to_ascii_lowercase();
        let mut parts = content_type.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_owned();
        let parameters = parts.filter_map(|part| part.split_once('=')).map(|(name, value)| {
            (name.trim().to_owned(), value.trim().trim_matches('"').to_owned())
        });
        let content_type = Self { media_type, parameters: parameters.collect() };
        match content_type.parameter("charset") {
            None | Some("utf-8" | "utf8" | "us-ascii") => Ok(content_type),
            Some(other) => Err(ApiError::UnsupportedMediaType(format!(
                "The Content-Type charset must be utf-8, got '{}'",
                quote(other)
            ))),
        }
    }

    pub fn parameter(&self, wanted: &str) -> Option<&str> {
        self.parameters.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value)
    }

    pub fn unsupported(&self, supported: &str) -> ApiError {
        let got = quote(&self.media_type);
        let message = format!("Content-Type must be {supported}, got '{got}'");
        ApiError::UnsupportedMediaType(message)
    }
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().trim()
}

/// Decodes a body as text, without the byte order mark that Windows adds.
pub fn decode_text(body: &[u8]) -> Result<&str, ApiError> {
    match from_utf8(body) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = from_utf8(&body[..error.valid_up_to()]).unwrap_or_default();
            let line = last_line_number(valid);
            let byte = body[error.valid_up_to()];
            let is_utf_16 = body.starts_with(b"\xff\xfe") || body.starts_with(b"\xfe\xff");
            let advice = if is_utf_16 { "; it is UTF-16" } else { "" };
            Err(ApiError::invalid(format!(
                "The body must be UTF-8, got the byte {byte:#04x} at byte {}, on line {line}{advice}",
                valid.len() + 1
            )))
        }
    }
}

pub fn json_error(error: &serde_json::Error) -> ApiError {
    ApiError::invalid(format!("The body is not valid JSON: {error}"))
}

fn last_line_number(text: &str) -> usize {
    let crlf_count = text.matches("\r\n").count();
    1 + text.matches(['\r', '\n']).count() - crlf_count
}

pub type Body = Result<Vec<u8>, Box<dyn std::error::Error>>;

/// Writes the results as [`JSON`] or [`JSON_LINES`].
pub fn write_json(media_type: &str, results: &[impl Serialize]) -> Body {
    if media_type == JSON_LINES {
        return Ok(json_lines(results.iter())?);
    }
    Ok(serde_json::to_vec(&BTreeMap::from([("results", results)]))?)
}

pub fn response(media_type: &'static str, body: Body) -> Result<Response, ApiError> {
    let body = body.map_err(|error| {
        tracing::error!(error = &*error, "cannot write the results");
        ApiError::Internal
    })?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(media_type))], body).into_response())
}
