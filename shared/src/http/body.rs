//! Reads whole request and response bodies.

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{
        DefaultBodyLimit, FromRequest, Request,
        rejection::{BytesRejection, FailedToBufferBody},
    },
    http::response::Parts,
    response::{IntoResponse, Response},
};

use crate::errors::ApiError;

/// The message to a client that sent a broken body.
pub const BROKEN: &str = "The body must be complete, and its chunks must be well-formed";

/// The reason a body cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableBody {
    /// It exceeds the limit.
    TooLong,
    /// It is incomplete, or its chunks are malformed.
    Broken,
}

/// Reads a whole body of at most `longest` bytes.
pub async fn read(body: Body, longest: usize) -> Result<Bytes, UnreadableBody> {
    let mut request = Request::new(body);
    DefaultBodyLimit::max(longest).apply(&mut request);
    Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            UnreadableBody::TooLong
        }
        _ => UnreadableBody::Broken,
    })
}

/// Buffers a response's body; returns an internal error if it cannot be read.
pub(crate) async fn buffered(response: Response) -> (Parts, Bytes) {
    let (parts, body) = response.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(bytes) => (parts, bytes),
        Err(error) => {
            tracing::error!(%error, "the body of a response cannot be read");
            let (parts, body) = ApiError::Internal.into_response().into_parts();
            (parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn broken_and_too_long_bodies_are_distinguished() {
        let streamed = |parts: Vec<Result<&'static str, std::io::Error>>| {
            Body::from_stream(stream::iter(parts))
        };
        assert_eq!(read(streamed(vec![Ok("12"), Ok("34")]), 4).await.unwrap(), "1234");
        let too_long = read(streamed(vec![Ok("12"), Ok("345")]), 4).await;
        assert_eq!(too_long, Err(UnreadableBody::TooLong));
        let broken = vec![Ok("12"), Err(std::io::ErrorKind::UnexpectedEof.into())];
        assert_eq!(read(streamed(broken), 4).await, Err(UnreadableBody::Broken));
    }
}
