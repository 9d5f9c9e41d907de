//! Request bodies that are still unread once the response exists, for example because a quota is exhausted.
//!
//! If part of a body is unread, hyper closes the connection, and the client notices only on its next request. So the rest
//! is read and discarded. If that takes too long, the response says `Connection: close`.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Error,
    body::{Body, Bytes, HttpBody},
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use futures_util::StreamExt as _;
use http_body::{Frame, SizeHint};
use tokio::{sync::oneshot, time::timeout};

/// Maximum bytes to discard.
const MAX_BYTES: u64 = 1024 * 1024;
/// Maximum wait for them.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Runs the request, then discards what it left of its body, or announces that the connection will close.
pub async fn discard(request: Request, next: Next) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    // Such a client sends its body only once it is read.
    let expects_continue = parts.headers.contains_key(header::EXPECT);
    let (sender, mut unread) = oneshot::channel();
    let lent = LentBody { body: Some(body), unread: Some(sender) };
    let mut response = next.run(Request::from_parts(parts, Body::new(lent))).await;
    let is_complete = match unread.try_recv() {
        Ok(None) => true,
        Ok(Some(rest)) => !expects_continue && discard_rest(rest).await,
        Err(_) => false,
    };
    if !is_complete {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Reads to the end; returns `false` if the body is too long, too slow or incomplete.
async fn discard_rest(body: Body) -> bool {
    if body.size_hint().lower() > MAX_BYTES {
        return false;
    }
    let read = async {
        let (mut length, mut parts) = (0, body.into_data_stream());
        while let Some(part) = parts.next().await {
            length += part.map_or(u64::MAX, |part| part.len() as u64);
            if length > MAX_BYTES {
                return false;
            }
        }
        true
    };
    timeout(MAX_WAIT, read).await.unwrap_or(false)
}

/// A body that comes back unless it is read to the end.
struct LentBody {
    body: Option<Body>,
    /// Receives what is unread once the request no longer needs it; `None` if that is nothing.
    unread: Option<oneshot::Sender<Option<Body>>>,
}

impl HttpBody for LentBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(context);
        if let Poll::Ready(None) = frame {
            self.body = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for LentBody {
    fn drop(&mut self) {
        let unread = self.body.take().filter(|body| !body.is_end_stream());
        if let Some(sender) = self.unread.take() {
            // Fails if the client hung up.
            _ = sender.send(unread);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::{Router, body::to_bytes, middleware::from_fn, routing::post};
    use futures_util::stream;
    use lambda_http::tower::ServiceExt;

    use super::*;

    /// The `Connection` header of the response to a body that is read or refused.
    async fn connection(path: &str, body: Body, expect: Option<&str>) -> Option<HeaderValue> {
        let read = async |request: Request| _ = to_bytes(request.into_body(), 4).await;
        let routes = Router::new().route("/read", post(read)).route("/refuse", post(async || ()));
        let mut request = Request::post(path);
        if let Some(expect) = expect {
            request = request.header(header::EXPECT, expect);
        }
        let service = routes.layer(from_fn(discard));
        let response = service.oneshot(request.body(body).unwrap()).await.unwrap();
        response.headers().get(header::CONNECTION).cloned()
    }

    fn parts(length: usize, count: usize) -> Body {
        let part = move |_| Ok::<_, Infallible>(Bytes::from(vec![b'1'; length]));
        Body::from_stream(stream::iter((0..count).map(part)))
    }

    #[tokio::test]
    async fn unread_bodies_are_discarded_unless_they_are_too_long_slow_or_broken() {
        let megabyte = MAX_BYTES as usize;
        let pending = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
        let broken = Body::from_stream(stream::iter([Err::<Bytes, _>(std::io::Error::other(""))]));
        for (path, body, closes) in [
            ("/read", Body::empty(), false),
            ("/read", parts(2, 2), false),
            // The handler stops before the end.
            ("/read", parts(2, 100), false),
            ("/read", parts(megabyte, 2), false),
            ("/read", parts(megabyte, 3), true),
            ("/refuse", Body::empty(), false),
            ("/refuse", Body::from("1"), false),
            ("/refuse", parts(megabyte, 1), false),
            ("/refuse", parts(megabyte, 2), true),
            ("/refuse", Body::from(vec![b'1'; megabyte + 1]), true),
            ("/refuse", pending, true),
            ("/refuse", broken, true),
        ] {
            let size = body.size_hint();
            let connection = connection(path, body, None).await;
            assert_eq!(connection.is_some_and(|it| it == "close"), closes, "{path} {size:?}");
        }
    }

    #[tokio::test]
    async fn a_body_that_was_never_asked_for_is_not_waited_for() {
        let body = || Body::from("1");
        assert!(connection("/refuse", body(), Some("100-continue")).await.is_some());
        assert!(connection("/read", body(), Some("100-continue")).await.is_none());
    }
}
