//! Responses for the Lambda runtime.

use std::{convert::Infallible, future::ready};

use axum::http::{HeaderMap, Response, header};
use lambda_http::{Body, BoxFuture};

use crate::body::buffer_body;

/// A response with its body in memory. Lambda needs the complete body anyway, and the concurrent runtime sends it
/// between threads.
pub(crate) struct BufferedResponse(Response<Body>);

impl lambda_http::IntoResponse for BufferedResponse {
    fn into_response(self) -> BoxFuture<'static, Response<Body>> {
        Box::pin(ready(self.0))
    }
}

pub(crate) async fn read(
    Ok(response): Result<axum::response::Response, Infallible>,
) -> Result<BufferedResponse, Infallible> {
    let (parts, bytes) = buffer_body(response).await;
    let body = lambda_body(bytes.into(), &parts.headers);
    Ok(BufferedResponse(Response::from_parts(parts, body)))
}

/// Returns text as is, and other bodies as bytes, which Lambda receives as base64.
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
    fn text_stays_text_and_other_bodies_are_binary() {
        let plain = HeaderMap::new();
        let gzip =
            HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        for (body, headers, expected) in [
            (&b""[..], &plain, Body::Empty),
            ("é".as_bytes(), &plain, Body::Text("é".to_owned())),
            (b"{}", &gzip, Body::Binary(b"{}".to_vec())),
            (b"\xff", &plain, Body::Binary(b"\xff".to_vec())),
        ] {
            assert_eq!(lambda_body(body.to_vec(), headers), expected);
        }
    }
}
