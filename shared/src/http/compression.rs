//! Response compression (RFC 9110, 8.4).

use std::io::{Error, Write};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{
        HeaderMap, HeaderValue,
        header::{ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::Response,
};
use flate2::{Compression, write::GzEncoder};

use crate::{body::buffer_body, heavy_work::HeavyWork};

/// The minimum body length to compress, in bytes. A shorter body fits into one packet anyway.
const MIN_LENGTH: u64 = 1024;
/// Compressing a longer body counts as heavy work.
const MAX_LIGHT_LENGTH: usize = 131_072;

/// Compresses a body with gzip if that pays off. The fastest level takes microseconds and shrinks a list page to
/// a fifth of its size. A long body stays uncompressed while the server is busy. Brotli would save another tenth, but
/// add more than 1 MB to each function and slow down cold starts.
pub async fn compress(response: Response, heavy_work: &HeavyWork) -> Response {
    let length = response.body().size_hint().exact().unwrap_or_default();
    if length < MIN_LENGTH || !is_compressible(response.headers()) {
        return response;
    }
    let (mut parts, body) = buffer_body(response).await;
    let compressed = if body.len() > MAX_LIGHT_LENGTH {
        heavy_work.run_if_free(|| gzip(&body)).and_then(Result::ok)
    } else {
        gzip(&body).ok()
    };
    let Some(compressed) = compressed else { return Response::from_parts(parts, body.into()) };
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.remove(ACCEPT_RANGES);
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Response::from_parts(parts, Body::from(compressed))
}

/// Returns `true` unless the media type is already compressed, as for images other than SVG.
fn is_compressible(headers: &HeaderMap) -> bool {
    let media_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_image = media_type.starts_with(b"image/") && !media_type.starts_with(b"image/svg+xml");
    !is_image && !headers.contains_key(CONTENT_ENCODING)
}

fn gzip(body: &Bytes) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The length and encoding of a response after compression.
    async fn compressed(length: usize, media_type: &str, heavy_work: &HeavyWork) -> (u64, bool) {
        let response = Response::builder().header(CONTENT_TYPE, media_type);
        let response =
            compress(response.body("a".repeat(length).into()).unwrap(), heavy_work).await;
        let is_encoded = response.headers().contains_key(CONTENT_ENCODING);
        (response.body().size_hint().exact().unwrap(), is_encoded)
    }

    #[tokio::test]
    async fn bodies_of_a_kibibyte_or_more_are_compressed_except_images() {
        let free = HeavyWork::default();
        assert_eq!(compressed(1023, "text/csv", &free).await, (1023, false));
        assert!(compressed(1024, "text/csv", &free).await.1);
        assert_eq!(compressed(2048, "image/png", &free).await, (2048, false));
        assert!(compressed(2048, "image/svg+xml", &free).await.1);
        let encoded = HeaderMap::from_iter([(CONTENT_ENCODING, HeaderValue::from_static("gzip"))]);
        assert!(!is_compressible(&encoded));
    }

    #[tokio::test]
    async fn long_bodies_are_not_compressed_while_the_server_is_busy() {
        // A busy server does not delay the response either.
        let busy = HeavyWork::new(0, Duration::MAX);
        assert!(compressed(MAX_LIGHT_LENGTH, "text/csv", &busy).await.1);
        assert!(!compressed(MAX_LIGHT_LENGTH + 1, "text/csv", &busy).await.1);
        assert!(compressed(MAX_LIGHT_LENGTH + 1, "text/csv", &HeavyWork::default()).await.1);
    }
}
