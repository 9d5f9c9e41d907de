//! Request bodies left unread, for example when a quota refuses the request.
//!
//! hyper closes the connection unless the whole body has arrived, and the client notices only with
//! its next request. So the rest is read, or the client is told.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, BodyDataStream, Bytes, HttpBody as _},
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use futures_util::{Stream, StreamExt as _};
use tokio::time::timeout;

/// Maximum bytes to read of an unwanted body. No accepted request has a longer one.
const MAX_REST_BYTES: usize = 1024 * 1024;
/// Maximum wait of a response for such a body.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Reads the rest of a body, or announces that the connection will close.
pub async fn read_rest(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    // Such a client sends its body only when asked.
    let asks_first = request.headers().contains_key(header::EXPECT);
    let (parts, body) = request.into_parts();
    let body = SharedBody::new(body);
    let rest = body.clone();
    let mut response = next.run(Request::from_parts(parts, Body::from_stream(body))).await;
    let is_read = rest.is_at_end()
        || !asks_first && timeout(MAX_WAIT, rest.read_to_end()).await.unwrap_or(false);
    if !is_read {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A body that can be read further after its reader drops it.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<(BodyDataStream, bool)>>);

impl SharedBody {
    fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new((body.into_data_stream(), false))))
    }

    fn is_at_end(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Reads the rest; returns `false` if it is too long or incomplete.
    async fn read_to_end(mut self) -> bool {
        let mut length = 0;
        while let Some(part) = self.next().await {
            length += part.map_or(MAX_REST_BYTES, |part| part.len());
            if length >= MAX_REST_BYTES {
                return false;
            }
        }
        true
    }
}

impl Stream for SharedBody {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (body, is_at_end) = &mut *shared;
        if *is_at_end {
            return Poll::Ready(None);
        }
        let part = body.poll_next_unpin(context);
        *is_at_end = matches!(part, Poll::Ready(None));
        part
    }
}
