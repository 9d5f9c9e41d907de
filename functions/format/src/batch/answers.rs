//! The answers to a batch, in three formats.

use std::{borrow::Cow, collections::BTreeMap};

use axum::{
    http::{HeaderMap, HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use shared::{
    cells::{inert, writer_of_rows},
    errors::{ApiError, ErrorBody},
    http::preferred_media_type,
};
use utoipa::ToSchema;

use super::{Options, table::Table};
use crate::{
    FormatResult,
    cells::Columns,
    fields::{Fields, Thinned},
};

/// Results for many numbers.
#[derive(ToSchema)]
#[allow(dead_code, reason = "only the description is derived from it")]
pub struct FormattedNumbers {
    /// One answer per number, in the order sent.
    results: Vec<FormattedNumber>,
}

/// The answer for one number in a batch: a result or an error.
#[derive(Serialize, ToSchema)]
pub struct FormattedNumber {
    /// The client's ID for the number, if it sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "row-7")]
    pub(super) id: Option<String>,
    /// The text as sent.
    #[schema(example = "305 234 5678")]
    pub(super) tn: String,
    /// The number's details; absent if there is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) result: Option<FormatResult>,
    /// The error; absent if there is a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(super) error: Option<ErrorBody>,
}

/// The media types of a response, in order of preference: [`CSV`], JSON, or one JSON object per line.
const JSON: &str = "application/json";
const JSON_LINES: &str = "application/x-ndjson";
pub const CSV: &str = "text/csv";

/// The media type the client prefers, or JSON.
pub fn media_type(headers: &HeaderMap) -> &'static str {
    preferred_media_type(headers, [JSON, JSON_LINES, CSV])
}

/// The answers as `media_type`, with the parts that `options` request. `table` is the CSV that was sent, if any.
pub fn response(
    media_type: &'static str,
    table: Option<&Table>,
    options: Options,
    results: &[FormattedNumber],
) -> Result<Response, ApiError> {
    let (media_type, body) = match media_type {
        CSV => (shared::cells::MEDIA_TYPE, csv(table, &Columns::new(&options), results)),
        other => (other, json(other, results, options.fields)),
    };
    let body = body.map_err(|error| {
        tracing::error!(error = &*error, "results cannot be written");
        ApiError::Internal
    })?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static(media_type))], body).into_response())
}

type Written = Result<Vec<u8>, Box<dyn std::error::Error>>;

fn json(media_type: &str, results: &[FormattedNumber], fields: Option<Fields>) -> Written {
    // All fields of an answer, but only these of its result.
    let fields =
        fields.map(|fields| fields.within(Fields::from_type::<FormattedNumber>(), "result"));
    let results = results.iter().map(|answer| Thinned { answer, fields: fields.as_ref() });
    if media_type != JSON_LINES {
        return Ok(serde_json::to_vec(&BTreeMap::from([(
            "results",
            results.collect::<Vec<_>>(),
        )]))?);
    }
    let mut body = Vec::new();
    for result in results {
        serde_json::to_writer(&mut body, &result)?;
        body.push(b'\n');
    }
    Ok(body)
}

/// The columns of the table sent (or `id` and `tn`), then the result columns.
fn csv(table: Option<&Table>, columns: &Columns, results: &[FormattedNumber]) -> Written {
    let mut writer = writer_of_rows(Vec::new(), table.map_or(b',', |table| table.delimiter));
    let mut names: Vec<Cow<'_, str>> = match table {
        Some(table) => table.names.iter().map(|name| inert(name)).collect(),
        None => vec!["id".into(), "tn".into()],
    };
    for name in columns.names() {
        names.push(name.into());
    }
    writer.write_record(names.iter().map(|name| name.as_bytes()))?;
    for (index, answer) in results.iter().enumerate() {
        let FormattedNumber { id, tn, result, error } = answer;
        let mut cells: Vec<Cow<'_, str>> = match table {
            Some(table) => table.rows[index].iter().map(inert).collect(),
            None => vec![inert(id.as_deref().unwrap_or_default()), inert(tn)],
        };
        cells.extend(columns.cells(result.as_ref()));
        cells.push(inert(error.as_ref().map_or("", ErrorBody::message)));
        writer.write_record(cells.iter().map(|cell| cell.as_bytes()))?;
    }
    Ok(writer.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

#[cfg(test)]
mod tests {
    use shared::params::Params;

    use super::{super::ColumnParams, *};

    #[test]
    fn column_names_cannot_be_formulas() {
        let text = "=name,phone\nAnn,305\n";
        let table = Table::read(text, true, &ColumnParams::default()).unwrap();
        let options = Options::parse(&Params::from_uri(&"/".parse().unwrap())).unwrap();
        let body = csv(Some(&table), &Columns::new(&options), &[]).unwrap();
        assert!(body.starts_with(b"'=name,phone,tn_valid,"));
    }
}
