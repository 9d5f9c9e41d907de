//! The body of a batch request: its format and numbers.

use axum::http::HeaderMap;
use shared::{body::BodyLimit, errors::ApiError};

use super::{ColumnParams, RequestedNumber, check_count, json, table::Table};
use crate::bodies::{BYTES_PER_REQUEST, ContentType, decode_text};

/// A response repeats the request's text as JSON inside Lambda's JSON, where a control character takes seven bytes.
/// Even with a result for each number, this limit keeps the response below Lambda's 6 MB.
pub const LIMIT: BodyLimit = BodyLimit {
    bytes: 512 * 1024,
    bytes_per_request: BYTES_PER_REQUEST,
    advice: "send some of the numbers in another request",
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    Json,
    Lines,
    Csv { has_header: bool },
}

impl BodyFormat {
    /// The format from `Content-Type`. `params` requires a CSV.
    pub fn from_headers(headers: &HeaderMap, params: &ColumnParams) -> Result<Self, ApiError> {
        let content_type = ContentType::from_headers(headers)?;
        let format = match content_type.media_type() {
            "application/json" => Self::Json,
            "text/plain" => Self::Lines,
            "text/csv" => {
                Self::Csv { has_header: content_type.parameter("header") != Some("absent") }
            }
            _ => return Err(content_type.unsupported("application/json, text/plain or text/csv")),
        };
        let params = [("column", &params.column), ("countryColumn", &params.country_column)];
        match params.into_iter().find(|(_, param)| param.is_some()) {
            Some((name, _)) if !matches!(format, Self::Csv { .. }) => {
                Err(ApiError::invalid_param(name, format!("{name} requires a text/csv body")))
            }
            _ => Ok(format),
        }
    }

    /// The numbers in a body: at least one, and at most [`super::MAX_NUMBERS`]. For a CSV, also returns the table,
    /// whose columns `params` selects.
    pub fn parse(
        self,
        body: &[u8],
        params: &ColumnParams,
    ) -> Result<(Vec<RequestedNumber>, Option<Table>), ApiError> {
        let text = decode_text(body)?;
        match self {
            Self::Json => Ok((json::parse_array(text)?, None)),
            Self::Lines => Ok((parse_lines(text)?, None)),
            Self::Csv { has_header } => {
                let table = Table::parse(text, has_header, params)?;
                Ok((table.numbers().collect(), Some(table)))
            }
        }
    }
}

/// Reads one number per line. Lines end with LF or CRLF, or all of them with CR, as in Excel for Mac. A trailing line
/// ending is ignored.
fn parse_lines(text: &str) -> Result<Vec<RequestedNumber>, ApiError> {
    if !text.contains('\n') && text.contains('\r') {
        return parse_lines(&text.replace('\r', "\n"));
    }
    check_count(text.lines().count())?;
    Ok(text.lines().map(|line| RequestedNumber::from_text(line.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::MAX_NUMBERS, *};

    proptest! {
        #[test]
        fn arbitrary_bodies_do_not_panic(
            body in prop::collection::vec(any::<u8>(), 0..200),
            text in "[\\[\\]{}\",:;tn0-9\n\r ]{0,80}",
            column in prop::option::of("[a-z0-9]{0,3}"),
            country_column in prop::option::of("[a-z0-9]{0,3}")
        ) {
            let params = ColumnParams { column, country_column };
            let tables = [true, false].map(|has_header| BodyFormat::Csv { has_header });
            for body in [body, text.into_bytes()] {
                for format in [BodyFormat::Json, BodyFormat::Lines].into_iter().chain(tables) {
                    if let Ok((numbers, table)) = format.parse(&body, &params) {
                        prop_assert!((1..=MAX_NUMBERS).contains(&numbers.len()));
                        prop_assert!(table.is_none_or(|table| table.rows.len() == numbers.len()));
                    }
                }
            }
        }
    }
}
