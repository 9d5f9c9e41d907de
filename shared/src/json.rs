//! JSON responses, and changes to JSON values.

use std::io::{self, Write};

use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value};

/// The approximate size of a page with 50 results, so the buffer rarely grows.
const BUFFER_BYTES: usize = 8192;

/// The media type of one JSON object per line.
pub const JSON_LINES: &str = "application/x-ndjson";

/// The reason why a response can always be written.
pub(crate) const ALWAYS_WRITABLE: &str = "its keys are text, and it is written to memory";

pub fn json_lines(rows: impl Iterator<Item = impl Serialize>) -> Vec<u8> {
    let mut body = Vec::new();
    write_json_lines(&mut body, rows).expect(ALWAYS_WRITABLE);
    body
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

/// Calls `change` for each object in a value, the outermost first.
pub fn change_objects(value: &mut Value, change: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            change(fields);
            fields.values_mut().for_each(|field| change_objects(field, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_objects(item, change)),
        _ => (),
    }
}

/// A successful response. Serializing into a `Vec` takes half as long as [`axum::Json`].
pub fn json_response(body: &impl Serialize) -> Response {
    let _span = otlp::start_span("render");
    let mut json = Vec::with_capacity(BUFFER_BYTES);
    serde_json::to_writer(&mut json, body).expect(ALWAYS_WRITABLE);
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], json).into_response()
}
