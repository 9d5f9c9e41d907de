//! Request bodies that are still unread when the request is rejected, for example by a quota.
//!
//! If part of a body is unread, hyper closes the connection, and the client notices only on its next
//! request. So each body is read first. If that fails, the response says `Connection: close`.

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

/// Maximum bytes to read in advance. Longer bodies are always rejected.
const MAX_BYTES: usize = 1024 * 1024;
/// Maximum wait for a body. Whatever arrives later is read only if the request is accepted.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Reads the body before running the request, or announces that the connection will close.
pub async fn read_first(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let (mut received, mut rest) = (Vec::new(), body.into_data_stream());
    // Such a client sends its body only after the request is accepted.
    let expects_continue = parts.headers.contains_key(header::EXPECT);
    let is_complete = !expects_continue
        && timeout(MAX_WAIT, read(&mut rest, &mut received)).await.unwrap_or(false);
    let body = Body::from_stream(stream::iter(received).chain(rest));
    let mut response = next.run(Request::from_parts(parts, body)).await;
    if !is_complete {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads to the end; returns `false` if the body is too long or incomplete.
async fn read(rest: &mut BodyDataStream, received: &mut Vec<Result<Bytes, axum::Error>>) -> bool {
    let mut length = 0;
    while let Some(part) = rest.next().await {
        length += part.as_ref().map_or(MAX_BYTES, Bytes::len);
        received.push(part);
        if length >= MAX_BYTES {
            return false;
        }
    }
    true
}
