//! The body of a batch request: its format and numbers.

use axum::http::HeaderMap;
use shared::{body::BodyLimit, errors::ApiError};

use super::{ColumnParams, RequestedNumber, check_count, json, table::Table};
use crate::request_body::{BYTES_PER_REQUEST, ContentType, decode_text};

/// A response repeats the request's text as JSON inside Lambda's JSON, where a control character takes seven bytes. With
/// a result for each number, the response stays below Lambda's 6 MB limit.
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
    /// The format that `Content-Type` specifies. `params` requires a CSV.
    pub fn from_headers(headers: &HeaderMap, params: &ColumnParams) -> Result<Self, ApiError> {
        let content_type = ContentType::from_headers(headers)?;
        let format = match &*content_type.media_type {
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
                Err(ApiError::invalid(format!("{name} requires a text/csv body")))
            }
            _ => Ok(format),
        }
    }

    /// The numbers in a body: at least one, and at most [`super::MAX_NUMBERS`]. A CSV is also returned as a table, whose
    /// columns `params` selects.
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
                let table = Table::read(text, has_header, params)?;
                Ok((table.numbers().collect(), Some(table)))
            }
        }
    }
}

/// Reads one number per line. Lines end with LF or CRLF, or all with CR, which Excel for Mac writes. A trailing line
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
    use axum::{
        body::Body,
        extract::Request,
        http::header::{CONTENT_ENCODING, CONTENT_TYPE},
    };
    use futures_util::stream;
    use proptest::prelude::*;
    use shared::auth::Charge;
    use utoipa::IntoResponses;

    use super::{super::MAX_NUMBERS, *};

    async fn read(content_type: &str, body: impl Into<Body>) -> Result<Vec<String>, String> {
        let request = Request::builder().header(CONTENT_TYPE, content_type);
        read_request(request.body(body.into()).unwrap()).await
    }

    async fn read_request(request: Request) -> Result<Vec<String>, String> {
        let (app, charge, params) = (test_api::app(), Charge::default(), ColumnParams::default());
        let read = async {
            let (parts, body) = request.into_parts();
            let format = BodyFormat::from_headers(&parts.headers, &params)?;
            format.parse(&LIMIT.read(&app, &charge, body).await?, &params)
        };
        match read.await {
            Ok((numbers, _)) => Ok(numbers.into_iter().map(|number| number.tn).collect()),
            Err(error) => Err(error.body().message().to_owned()),
        }
    }

    #[tokio::test]
    async fn content_type_selects_the_format() {
        let mut text = String::new();
        for (content_type, body) in [
            ("Application/JSON; charset=UTF-8", &b"[\"tn\"]"[..]),
            ("text/plain;charset=\"utf-8\"", b"tn"),
            ("text/csv", b"phone\ntn"),
            ("text/csv; header=present", b"phone\ntn"),
            ("text/csv; charset=us-ascii; header=absent", b"tn"),
            // Lines end with LF or CR, and empty ones keep their position.
            ("text/plain", b"305\n\n 306 "),
            ("text/plain", b"\xef\xbb\xbf305\r\n\r\n 306 \r\n"),
            ("text/plain", b"305\r\r 306 \r"),
            ("", b"tn"),
            ("text/csv;charset=latin1", b"tn"),
            ("application/json", b"[]"),
            ("text/plain", b""),
            ("text/csv", b"tn\n"),
            ("text/plain", b"305\r\n1\r30\xe9"),
            ("text/csv", b"\xff\xfet\0n\0"),
        ] {
            let shown = String::from_utf8_lossy(body);
            text += &format!("{content_type} {shown:?}\n  {:?}\n", read(content_type, body).await);
        }
        let gzip = Request::builder().header(CONTENT_ENCODING, "gzip").body(Body::empty()).unwrap();
        text += &format!("gzip\n  {:?}\n", read_request(gzip).await);
        insta::assert_snapshot!(text);
    }

    #[tokio::test]
    async fn a_body_with_too_many_numbers_is_rejected_as_documented() {
        assert_eq!(read("text/plain", "1\n".repeat(MAX_NUMBERS)).await.unwrap().len(), MAX_NUMBERS);
        let responses = shared::errors::BodyError::responses();
        let response = serde_json::to_value(&responses["413"]).unwrap();
        let example = &response["content"]["application/json"]["example"]["message"];
        assert_eq!(*example, read("text/plain", "1\n".repeat(1204)).await.unwrap_err());
    }

    #[tokio::test]
    async fn oversized_bodies_are_rejected_with_or_without_a_length() {
        let longest = "1".repeat(LIMIT.bytes);
        assert_eq!(read("text/plain", longest.clone()).await.unwrap().len(), 1);
        let parts = [Ok::<_, std::convert::Infallible>(longest), Ok("1".to_owned())];
        let message = read("text/plain", Body::from_stream(stream::iter(parts))).await.unwrap_err();
        assert!(message.contains("at most 524288 bytes, got more"), "{message}");
        let message = read("text/plain", "1".repeat(LIMIT.bytes + 1)).await.unwrap_err();
        assert!(message.contains("got 524289; send some of the numbers"), "{message}");
    }

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
