//! List pages as CSV.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use axum::{
    extract::FromRequestParts,
    http::{
        HeaderValue, Uri,
        header::{CONTENT_DISPOSITION, CONTENT_TYPE},
        request::Parts,
    },
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::Value;
use strum::{EnumString, VariantNames};
use utoipa::{IntoParams, ToSchema};

use crate::{
    cells::{MEDIA_TYPE, csv_writer, escape_formula},
    errors::ApiError,
    http::preferred_media_type,
    json::ALWAYS_WRITABLE,
    params::Params,
};

/// A list that can be written as a table.
pub trait Rows {
    /// The column names, separated by spaces. They must match the field names of the rows.
    const COLUMNS: &'static str;

    /// An optional column that this list does not have.
    fn omitted_column(&self) -> Option<&'static str> {
        None
    }

    fn rows(&self) -> impl Iterator<Item = impl Serialize>;
}

/// The format of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, VariantNames, ToSchema)]
#[strum(serialize_all = "lowercase", ascii_case_insensitive)]
#[schema(rename_all = "lowercase")]
pub enum ListFormat {
    Json,
    Csv,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FormatParam {
    /// Page format, which overrides `Accept`. `csv` has one column per result field, and pagination only in the `Link`
    /// header. Errors are always JSON.
    #[param(value_type = Option<ListFormat>, inline)]
    pub format: ListFormat,
}

impl<S: Sync> FromRequestParts<S> for FormatParam {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let requested = Params::from_uri(&parts.uri).parse_variant("format")?;
        let preferred =
            || match preferred_media_type(&parts.headers, ["application/json", "text/csv"]) {
                "text/csv" => ListFormat::Csv,
                _ => ListFormat::Json,
            };
        Ok(Self { format: requested.unwrap_or_else(preferred) })
    }
}

/// Returns the page as a CSV file, with a header row even for an empty list.
pub(crate) fn response<T: Rows>(uri: &Uri, list: &T) -> Response {
    let _span = otlp::start_span("render");
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE)),
        (CONTENT_DISPOSITION, content_disposition(uri)),
    ];
    let mut body = Vec::new();
    let omitted = list.omitted_column();
    let columns = T::COLUMNS.split(' ').filter(|name| Some(*name) != omitted);
    let columns = columns.collect::<Vec<_>>().join(" ");
    write_rows(&mut body, &columns, list.rows()).expect(ALWAYS_WRITABLE);
    (headers, body).into_response()
}

/// Writes a header row, then rows whose fields are named like the columns. No cell can run as a formula.
pub fn write_rows(
    output: impl Write,
    columns: &str,
    rows: impl Iterator<Item = impl Serialize>,
) -> io::Result<()> {
    let columns: Vec<&str> = columns.split(' ').collect();
    let mut writer = csv_writer(output, b',');
    writer.write_record(&columns)?;
    for row in rows {
        let values = serde_json::to_value(row)?;
        for column in &columns {
            writer.write_field(cell(&values[*column]).as_bytes())?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

fn cell(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => escape_formula(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Gives the file a name, such as `npa-415.csv`.
fn content_disposition(uri: &Uri) -> HeaderValue {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let path = uri.path().trim_start_matches("/v1/").replace('/', "-");
    let name: String = path.chars().filter(is_plain).collect();
    HeaderValue::try_from(format!("attachment; filename=\"{name}.csv\""))
        .expect("letters, digits and dashes are valid in headers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_format_parameter_precedes_the_accept_header() {
        for (query, accept, expected) in [
            ("", "*/*", ListFormat::Json),
            ("", "text/csv", ListFormat::Csv),
            ("format=json", "text/csv", ListFormat::Json),
            ("format=csv", "application/json", ListFormat::Csv),
        ] {
            let request = axum::http::Request::get(format!("/?{query}"));
            let request = request.header("accept", accept).body(()).unwrap();
            let found = FormatParam::from_request_parts(&mut request.into_parts().0, &()).await;
            assert_eq!(found.unwrap().format, expected, "{query} {accept}");
        }
    }
}
