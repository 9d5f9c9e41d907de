//! Several results as JSON, or as one JSON object per line.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use shared::{errors::ApiError, json::json_lines};

pub use shared::json::JSON_LINES;

pub const JSON: &str = "application/json";

pub type Body = Result<Vec<u8>, Box<dyn std::error::Error>>;

/// Writes the results as [`JSON`] or [`JSON_LINES`].
pub fn json(media_type: &str, results: &[impl Serialize]) -> Body {
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
