//! Discards request bodies that are still unread when the response is ready, for example because a quota is
//! exhausted.
//!
//! If part of a body is unread, hyper closes the connection, which the client only notices on its next
//! request. So the rest is read and discarded. If that takes too long, the response has
//! `Connection: close`.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Error,
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use http_body::{Frame, SizeHint};
use tokio::time::timeout;

const MAX_BYTES: usize = 1024 * 1024;
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Runs the request, then discards the rest of its body, or announces that the connection will close.
pub async fn discard(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // Such a client sends its body only when the server starts to read it.
    let expects_continue = parts.headers.contains_key(header::EXPECT);
    let body = SharedBody(Arc::new(Mutex::new(body)));
    let mut response = next.run(Request::from_parts(parts, Body::new(body.clone()))).await;
    let is_complete = body.is_end_stream() || (!expects_continue && body.discard_rest().await);
    if !is_complete {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// A body that outlives the request it belongs to.
#[derive(Clone)]
struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    fn with<T>(&self, work: impl FnOnce(&mut Body) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads to the end. Returns `false` if the body is too long, too slow or incomplete.
    async fn discard_rest(self) -> bool {
        let is_too_long = self.size_hint().lower() > MAX_BYTES as u64;
        let read = async { to_bytes(Body::new(self), MAX_BYTES).await.is_ok() };
        !is_too_long && timeout(MAX_WAIT, read).await.unwrap_or(false)
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.with(|body| {
            let frame = Pin::new(&mut *body).poll_frame(context);
            if let Poll::Ready(None) = frame {
                *body = Body::empty();
            }
            frame
        })
    }

    fn is_end_stream(&self) -> bool {
        self.with(|body| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|body| body.size_hint())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::{Router, middleware::from_fn, routing::post};
    use futures_util::stream;
    use lambda_http::tower::ServiceExt;

    use super::*;

    fn chunks(length: usize, count: usize) -> Body {
        let chunk = move |_| Ok::<_, Infallible>(Bytes::from(vec![b'1'; length]));
        Body::from_stream(stream::iter((0..count).map(chunk)))
    }

    #[tokio::test]
    async fn unread_bodies_are_discarded_unless_they_are_too_long_slow_or_broken() {
        let read = async |request: Request| _ = to_bytes(request.into_body(), 4).await;
        let routes = Router::new().route("/read", post(read)).route("/refuse", post(async || ()));
        let service = routes.layer(from_fn(discard));
        let pending = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let broken = Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other(""))]));
        for (path, body, expect, closes) in [
            ("/read", Body::empty(), "", false),
            ("/read", chunks(2, 2), "", false),
            ("/read", Body::from("1"), "100-continue", false),
            // The handler stops before the end.
            ("/read", chunks(2, 100), "", false),
            ("/refuse", Body::from("1"), "", false),
            ("/refuse", Body::from("1"), "100-continue", true),
            ("/refuse", chunks(MAX_BYTES, 1), "", false),
            ("/refuse", chunks(MAX_BYTES, 2), "", true),
            ("/refuse", Body::from(vec![b'1'; MAX_BYTES + 1]), "", true),
            ("/refuse", pending, "", true),
            ("/refuse", broken, "", true),
        ] {
            let size = body.size_hint();
            let mut request = Request::post(path);
            if !expect.is_empty() {
                request = request.header(header::EXPECT, expect);
            }
            let response = service.clone().oneshot(request.body(body).unwrap()).await.unwrap();
            let connection = response.headers().get(header::CONNECTION);
            assert_eq!(connection.is_some_and(|it| it == "close"), closes, "{path} {size:?}");
        }
    }
}
