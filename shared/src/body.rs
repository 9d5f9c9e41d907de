//! Reads whole request and response bodies.

use std::{ops::Deref, sync::Arc};

use axum::{
    body::{Body, Bytes, HttpBody, to_bytes},
    extract::{
        DefaultBodyLimit, FromRequest, Request,
        rejection::{BytesRejection, FailedToBufferBody},
    },
    http::response::Parts,
    response::{IntoResponse, Response},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{auth::Charge, errors::ApiError};

/// The memory for all request bodies that are being read or processed, in KiB.
const BUDGET: usize = 65_536;

const NO_MEMORY: &str = "The server has no memory left for this request's body";
const MALFORMED_BODY_MESSAGE: &str =
    "The body must be complete, and its chunks must be well-formed";

/// The memory left for request bodies, in KiB. Cheap to clone.
#[derive(Clone)]
pub struct BodyBudget(Arc<Semaphore>);

impl Default for BodyBudget {
    fn default() -> Self {
        Self::new(BUDGET)
    }
}

impl BodyBudget {
    pub fn new(kib: usize) -> Self {
        Self(Arc::new(Semaphore::new(kib)))
    }

    fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, ApiError> {
        let kib = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(kib).map_err(|_| ApiError::Busy(NO_MEMORY))
    }
}

/// The maximum size of a request's body, and how to handle a larger one.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit {
    pub bytes: usize,
    /// The number of bytes that count as one request, rounded up. Reading and parsing them must cost less than
    /// 20 single-number requests.
    pub bytes_per_request: usize,
    pub advice: &'static str,
}

/// A request's body. Hold it while the request is processed, since it holds the body's share of the memory budget.
#[derive(Debug)]
pub struct RequestBody {
    bytes: Bytes,
    _reserved: OwnedSemaphorePermit,
}

impl Deref for RequestBody {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl BodyLimit {
    /// Reads a whole body, after charging for it and reserving memory. A body without a declared length is treated as
    /// having the maximum length.
    pub async fn read(
        self,
        budget: &BodyBudget,
        charge: &Charge,
        body: Body,
    ) -> Result<RequestBody, ApiError> {
        let declared = body.size_hint().exact();
        let length = declared.map_or(self.bytes, |length| length.try_into().unwrap_or(usize::MAX));
        if length > self.bytes {
            return Err(self.exceeded(&length.to_string()));
        }
        charge.raise_to(length.div_ceil(self.bytes_per_request) as u64).await?;
        let reserved = budget.reserve(length)?;
        Ok(RequestBody { bytes: self.buffer(body).await?, _reserved: reserved })
    }

    async fn buffer(self, body: Body) -> Result<Bytes, ApiError> {
        let mut request = Request::new(body);
        DefaultBodyLimit::max(self.bytes).apply(&mut request);
        Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
            BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => {
                self.exceeded("more")
            }
            // The body is incomplete, or its chunks are malformed.
            _ => ApiError::invalid(MALFORMED_BODY_MESSAGE),
        })
    }

    fn exceeded(self, got: &str) -> ApiError {
        let Self { bytes, advice, .. } = self;
        let message = format!("The body must be at most {bytes} bytes, got {got}; {advice}");
        ApiError::ContentTooLarge(message)
    }
}

/// Reads a response's body into memory. Replaces the response with an internal error if that fails.
pub(crate) async fn buffer_body(response: Response) -> (Parts, Bytes) {
    let (parts, body) = response.into_parts();
    match to_bytes(body, usize::MAX).await {
        Ok(bytes) => (parts, bytes),
        Err(error) => {
            tracing::error!(%error, "failed to read a response body");
            let (parts, body) = ApiError::Internal.into_response().into_parts();
            (parts, to_bytes(body, usize::MAX).await.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{FutureExt, stream};
    use store::{KeyRecord, Store};

    use super::*;
    use crate::{auth::key_record, quota::Quotas};

    const LIMIT: BodyLimit =
        BodyLimit { bytes: 64 * 1024, bytes_per_request: 16 * 1024, advice: "send less" };

    /// A budget for one body of the maximum size.
    fn small_budget() -> BodyBudget {
        BodyBudget::new(LIMIT.bytes / 1024)
    }

    const PER_DAY: u64 = 1000;

    fn charge(quotas: &Arc<Quotas>) -> Charge {
        let record = KeyRecord { per_day: Some(PER_DAY as u32), ..key_record("a") };
        Charge::for_key(quotas, record)
    }

    fn counted(charge: &Charge) -> u64 {
        PER_DAY - charge.min_remaining().unwrap()
    }

    fn streamed(parts: Vec<std::io::Result<String>>) -> Body {
        Body::from_stream(stream::iter(parts))
    }

    fn endless() -> Body {
        Body::from_stream(stream::pending::<Result<Bytes, Infallible>>())
    }

    async fn read(budget: &BodyBudget, body: impl Into<Body>) -> Result<RequestBody, String> {
        let read = LIMIT.read(budget, &Charge::default(), body.into()).await;
        read.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn malformed_and_oversized_bodies_have_different_errors() {
        let longest = "1".repeat(LIMIT.bytes);
        let too_long =
            |got| Err(format!("The body must be at most 65536 bytes, got {got}; send less"));
        let cut_off = || Err(std::io::ErrorKind::UnexpectedEof.into());
        for (body, expected) in [
            (longest.clone().into(), Ok(LIMIT.bytes)),
            (streamed(vec![Ok(longest.clone())]), Ok(LIMIT.bytes)),
            (streamed(vec![Ok(longest.clone()), Ok("1".to_owned())]), too_long("more")),
            ((longest + "1").into(), too_long("65537")),
            (streamed(vec![Ok("1".to_owned()), cut_off()]), Err(MALFORMED_BODY_MESSAGE.to_owned())),
        ] {
            let read = read(&BodyBudget::default(), body).await;
            assert_eq!(read.map(|body| body.len()), expected);
        }
    }

    #[tokio::test]
    async fn a_body_is_charged_by_its_declared_size_before_it_arrives() {
        let quotas = Arc::new(Quotas::new(Store::unreachable()));
        // Cause two failed writes, after which requests no longer wait for the table.
        charge(&quotas).raise_to(2).await.unwrap();
        for (body, requests) in [
            (Body::empty(), 1),
            (Body::from("1"), 1),
            (Body::from("1".repeat(LIMIT.bytes_per_request + 1)), 2),
            (streamed(vec![Ok("1".to_owned())]), 4),
            (endless(), 4),
        ] {
            let charge = charge(&quotas);
            charge.raise_to(1).await.unwrap();
            let before = counted(&charge) - 1;
            _ = LIMIT.read(&BodyBudget::default(), &charge, body).now_or_never();
            assert_eq!(counted(&charge) - before, requests);
        }
    }

    #[tokio::test]
    async fn bodies_share_the_memory_until_they_are_dropped() {
        let budget = small_budget();
        let held = read(&budget, "1".repeat(LIMIT.bytes)).await.unwrap();
        let no_memory = ApiError::Busy(NO_MEMORY).to_string();
        assert_eq!(read(&budget, "1").await.unwrap_err(), no_memory);
        drop(held);
        assert!(read(&budget, "1").await.is_ok());
        let mut waiting = Box::pin(read(&budget, endless()));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(read(&budget, "1").await.unwrap_err(), no_memory);
        drop(waiting);
        let broken = streamed(vec![Err(std::io::ErrorKind::UnexpectedEof.into())]);
        assert_eq!(read(&budget, broken).await.unwrap_err(), MALFORMED_BODY_MESSAGE);
        assert!(read(&budget, "1").await.is_ok());
    }
}
