//! Several results as JSON, or as one JSON object per line.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use shared::{errors::ApiError, json::json_lines};

pub use shared::json::JSON_LINES;

use utoipa::ToSchema;

use super::fields::{Fields, WithFields};

pub const JSON: &str = "application/json";

pub type Body = Result<Vec<u8>, Box<dyn std::error::Error>>;

/// Writes the results as [`JSON`] or [`JSON_LINES`], with these fields of their `result`.
pub fn json<T: Serialize + ToSchema>(
    media_type: &str,
    results: &[T],
    fields: Option<&Fields>,
) -> Body {
    // The selection applies only to the result.
    let fields = fields.map(|fields| fields.within(Fields::from_type::<T>(), "result"));
    let results = results.iter().map(|value| WithFields { value, fields: fields.as_ref() });
    if media_type != JSON_LINES {
        let results: Vec<_> = results.collect();
        return Ok(serde_json::to_vec(&BTreeMap::from([("results", results)]))?);
    }
    Ok(json_lines(results)?)
}

pub fn response(media_type: &'static str, body: Body) -> Result<Response, ApiError> {
    let body = body.map_err(|error| {
        tracing::error!(error = &*error, "cannot write the results");
        ApiError::Internal
    })?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(media_type))], body).into_response())
}
