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

/// The error message for [`UnreadableBody::Broken`].
pub const BROKEN_MESSAGE: &str = "The body must be complete, and its chunks must be well-formed";

/// The reason a body cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadableBody {
    TooLong,
    /// It is incomplete, or its chunks are malformed.
    Broken,
}

/// Reads a whole body of at most `max_bytes`.
pub async fn read(body: Body, max_bytes: usize) -> Result<Bytes, UnreadableBody> {
    let mut request = Request::new(body);
    DefaultBodyLimit::max(max_bytes).apply(&mut request);
    Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
            UnreadableBody::TooLong
        }
        _ => UnreadableBody::Broken,
    })
}

/// Reads a response's body into memory. Replaces the response with an internal error if that fails.
pub(crate) async fn buffer_body(response: Response) -> (Parts, Bytes) {
    let (parts, body) = response.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(bytes) => (parts, bytes),
        Err(error) => {
            tracing::error!(%error, "a response body cannot be read");
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
