//! Counts the calls to DynamoDB that fail, as this service sees them: DynamoDB's own metrics know
//! nothing of a call that has not reached it.

use std::sync::atomic::{AtomicU64, Ordering};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};

/// How a call has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// No answer in time.
    Timeout,
    /// No connection: the name is unknown, the port refuses, or the connection ends.
    Connection,
    /// Too many requests.
    Throttled,
    /// The call is not allowed, or the table does not exist.
    Refused,
    /// An error of DynamoDB.
    ServerError,
}

/// The codes with which DynamoDB answers too many requests.
const THROTTLING_CODES: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "Throttling",
];

impl FailureKind {
    /// Every kind, in the order of the counts.
    pub const ALL: [Self; 5] =
        [Self::Timeout, Self::Connection, Self::Throttled, Self::Refused, Self::ServerError];

    /// The name for a label of a metric.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Throttled => "throttled",
            Self::Refused => "refused",
            Self::ServerError => "server_error",
        }
    }

    pub(crate) fn from_sdk<E: ProvideErrorMetadata>(error: &SdkError<E>) -> Self {
        match error {
            SdkError::TimeoutError(_) => Self::Timeout,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Self::Timeout,
            SdkError::ServiceError(refused) => {
                let code = refused.err().code();
                if code.is_some_and(|code| THROTTLING_CODES.contains(&code)) {
                    Self::Throttled
                } else if refused.raw().status().is_server_error() {
                    Self::ServerError
                } else {
                    Self::Refused
                }
            }
            _ => Self::Connection,
        }
    }
}

/// How many calls have failed since the process started, by kind.
#[derive(Debug, Default)]
pub(crate) struct FailedCalls([AtomicU64; FailureKind::ALL.len()]);

impl FailedCalls {
    pub(crate) fn count(&self, kind: FailureKind) {
        self.0[kind as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn by_kind(&self) -> [(FailureKind, u64); FailureKind::ALL.len()] {
        FailureKind::ALL.map(|kind| (kind, self.0[kind as usize].load(Ordering::Relaxed)))
    }
}
