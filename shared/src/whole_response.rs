//! Responses as the Lambda runtime takes them.

use std::{convert::Infallible, future::ready};

use axum::{
    body::to_bytes,
    http::{HeaderMap, Response, header},
    response::IntoResponse,
};
use lambda_http::{Body, BoxFuture};

use crate::errors::ApiError;

/// A response whose body is in memory. Lambda gets it as a whole anyway, and a runtime that takes
/// several requests at once shares it between threads.
pub(crate) struct WholeResponse(Response<Body>);

impl lambda_http::IntoResponse for WholeResponse {
    fn into_response(self) -> BoxFuture<'static, Response<Body>> {
        Box::pin(ready(self.0))
    }
}

/// Reads the body of a response.
pub(crate) async fn read(
    Ok(response): Result<axum::response::Response, Infallible>,
) -> Result<WholeResponse, Infallible> {
    let (parts, body) = response.into_parts();
    let (parts, bytes) = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => (parts, bytes),
        Err(error) => {
            tracing::error!(%error, "the body of a response cannot be read");
            let (parts, body) = ApiError::Internal.into_response().into_parts();
            (parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
        }
    };
    let body = lambda_body(bytes.into(), &parts.headers);
    Ok(WholeResponse(Response::from_parts(parts, body)))
}

/// A body as Lambda takes it: text, or bytes, which go in base64. All text of this service is UTF-8, so
/// that the tables of other encodings need not be a part of each function.
fn lambda_body(bytes: Vec<u8>, headers: &HeaderMap) -> Body {
    if bytes.is_empty() {
        return Body::Empty;
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        return bytes.into();
    }
    match String::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(error) => error.into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn text_stays_text_and_what_is_encoded_or_no_text_goes_as_bytes() {
        let plain = HeaderMap::new();
        let gzip =
            HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        let kind = |bytes: &[u8], headers| match lambda_body(bytes.to_vec(), headers) {
            Body::Text(_) => "text",
            Body::Binary(_) => "bytes",
            _ => "nothing",
        };
        assert_eq!(kind("{\"é\":1}".as_bytes(), &plain), "text");
        assert_eq!(kind(b"{}", &gzip), "bytes");
        assert_eq!(kind(b"\xff", &plain), "bytes");
        let png = flags::image("countries/US-48x32.png").unwrap().bytes;
        assert_eq!(kind(&png, &plain), "bytes");
        assert_eq!(kind(b"", &plain), "nothing");
    }
}
