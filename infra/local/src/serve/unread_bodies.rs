//! Request bodies that are refused unread, for example by a quota.
//!
//! hyper closes the connection unless the whole body has arrived, and the client notices only with
//! its next request. So bodies are read first, or the client is told.

use std::time::Duration;

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody as _},
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use futures_util::{StreamExt as _, stream};
use tokio::time::timeout;

/// Maximum bytes to read first. No accepted request has a longer body.
const MAX_BYTES: usize = 1024 * 1024;
/// Maximum wait for a body. A later part is read only if the request is accepted.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Reads a body before its request, or announces that the connection will close.
pub async fn read_first(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let (mut begun, mut rest) = (Vec::new(), body.into_data_stream());
    // Such a client sends its body only if the request is accepted.
    let asks_first = parts.headers.contains_key(header::EXPECT);
    let is_whole =
        !asks_first && timeout(MAX_WAIT, read(&mut rest, &mut begun)).await.unwrap_or(false);
    let body = Body::from_stream(stream::iter(begun).chain(rest));
    let mut response = next.run(Request::from_parts(parts, body)).await;
    if !is_whole {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads to the end; returns `false` if the body is too long or incomplete.
async fn read(rest: &mut BodyDataStream, begun: &mut Vec<Result<Bytes, axum::Error>>) -> bool {
    let mut length = 0;
    while let Some(part) = rest.next().await {
        length += part.as_ref().map_or(MAX_BYTES, Bytes::len);
        begun.push(part);
        if length >= MAX_BYTES {
            return false;
        }
    }
    true
}
