//! The response to a batch, in one of three formats.

use std::borrow::Cow;

use axum::{
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::json;
use shared::{
    cells::{csv_writer, escape_formula},
    errors::ErrorBody,
};
use utoipa::ToSchema;

use super::{Options, ParsedNumber, table::Table};
use crate::{
    FormatResult,
    assemble::Describer,
    bodies::{JSON, JSON_LINES, results_response},
    columns::{Column, ERROR_COLUMN},
    fields::{Fields, WithFields},
};

/// Results for many numbers.
#[derive(ToSchema)]
#[allow(dead_code, reason = "used only for its OpenAPI schema")]
pub struct FormattedNumbers {
    /// One result or error per number, in the order sent.
    results: Vec<FormattedNumber<'static>>,
}

/// One number in a batch, with its result or error.
#[derive(Serialize, ToSchema)]
#[schema(as = FormattedNumber)]
pub struct FormattedNumber<'a> {
    /// The client's ID for the number, if it sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "row-7")]
    id: Option<String>,
    /// The text as sent.
    #[schema(example = "305 234 5678")]
    tn: String,
    /// The number's details; absent if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<FormatResult>, nullable = false)]
    result: Option<WithFields<'a, FormatResult>>,
    /// The error; absent if there is a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    error: Option<ErrorBody>,
}

impl<'a> FormattedNumber<'a> {
    pub(super) fn new(
        ParsedNumber { id, tn, content }: ParsedNumber,
        describer: &Describer<'_>,
        fields: Option<&'a Fields>,
    ) -> Self {
        match content {
            Err(error) => Self { id, tn, result: None, error: Some(error.body()) },
            Ok((country, number)) => {
                let value = describer.describe(&tn, country, number);
                Self { id, tn, result: Some(WithFields { value, fields }), error: None }
            }
        }
    }
}

pub const CSV: &str = "text/csv";

/// The media types of a response. The first is the default.
pub const MEDIA_TYPES: [&str; 3] = [JSON, JSON_LINES, CSV];

/// Writes the results as `media_type`. For CSV, `options` selects the columns. `table` is the request's CSV, if any.
pub fn response(
    media_type: &str,
    table: Option<&Table>,
    options: &Options,
    results: &[FormattedNumber<'_>],
) -> Response {
    if media_type != CSV {
        return results_response(media_type, results);
    }
    let body = csv(table, &options.columns(), results);
    let body = body.expect("rows have as many cells as names, and are written to memory");
    ([(CONTENT_TYPE, shared::cells::MEDIA_TYPE)], body).into_response()
}

/// Writes the request's own columns (or `id` and `tn`), then the result columns.
fn csv(
    table: Option<&Table>,
    columns: &[&Column],
    results: &[FormattedNumber<'_>],
) -> csv::Result<Vec<u8>> {
    let mut writer = csv_writer(Vec::new(), table.map_or(b',', |table| table.delimiter));
    let mut names: Vec<Cow<'_, str>> = match table {
        Some(table) => table.names.iter().map(|name| escape_formula(name)).collect(),
        None => vec!["id".into(), "tn".into()],
    };
    names.extend(columns.iter().map(|column| Cow::from(&column.name)));
    names.push(ERROR_COLUMN.into());
    writer.write_record(names.iter().map(|name| name.as_bytes()))?;
    for (index, number) in results.iter().enumerate() {
        let FormattedNumber { id, tn, result, error } = number;
        let result = json!(result.as_ref().map(|result| &result.value));
        let mut cells: Vec<Cow<'_, str>> = match table {
            Some(table) => table.rows[index].iter().map(escape_formula).collect(),
            None => vec![escape_formula(id.as_deref().unwrap_or_default()), escape_formula(tn)],
        };
        cells.extend(columns.iter().map(|column| column.cell(&result)));
        cells.push(escape_formula(error.as_ref().map_or("", |error| error.message.as_str())));
        writer.write_record(cells.iter().map(|cell| cell.as_bytes()))?;
    }
    Ok(writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
}
