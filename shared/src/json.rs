//! JSON responses.

use std::io::{self, Write};

use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;

use crate::errors::ApiError;

/// The approximate size of a page with 50 results, so the buffer rarely grows.
const BUFFER_BYTES: usize = 8192;

/// The media type of one JSON object per line.
pub const JSON_LINES: &str = "application/x-ndjson";

pub fn json_lines(rows: impl Iterator<Item = impl Serialize>) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    write_json_lines(&mut body, rows)?;
    Ok(body)
}

pub fn write_json_lines(
    mut output: impl Write,
    mut rows: impl Iterator<Item = impl Serialize>,
) -> io::Result<()> {
    rows.try_for_each(|row| write_json_line(&mut output, &row))?;
    output.flush()
}

pub fn write_json_line(mut output: impl Write, row: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut output, row)?;
    output.write_all(b"\n")
}

/// A successful response. Serializing into a `Vec` takes half as long as [`axum::Json`].
pub fn json_response(body: &impl Serialize) -> Response {
    let _span = otlp::span("render");
    let mut json = Vec::with_capacity(BUFFER_BYTES);
    if let Err(error) = serde_json::to_writer(&mut json, body) {
        tracing::error!(%error, "failed to write a response as JSON");
        return ApiError::Internal.into_response();
    }
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}
