//! DynamoDB timeouts.

use std::time::Duration;

use aws_sdk_dynamodb::config::{Builder, retry::RetryConfig, timeout::TimeoutConfig};

/// The limit for one call from a request, including retries.
const REQUEST_READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The total limit for a request's reads of data that is also in memory.
const BRIEF_READ_BUDGET: Duration = Duration::from_millis(300);
/// The limit for one call to the embedded database. A retry would only add load to a busy machine.
const EMBEDDED_READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Sets of timeouts for calls to DynamoDB.
#[derive(Debug, Clone, Copy)]
pub enum TimeoutProfile {
    /// For requests, because a client is waiting.
    Request,
    /// For requests to a server with the embedded database, which is only slow on a busy machine.
    EmbeddedRequest,
    /// For imports and operator commands, which can wait.
    Batch,
}

impl TimeoutProfile {
    /// The limit for reading a snapshot, including retries.
    pub(crate) fn snapshot_read(self) -> Duration {
        match self {
            Self::Request => Duration::from_secs(4),
            Self::EmbeddedRequest => EMBEDDED_READ_TIMEOUT,
            Self::Batch => Duration::from_secs(60),
        }
    }

    /// The total limit for a request's reads of data that is also in memory; `None` for no limit.
    pub(crate) fn brief_reads(self) -> Option<Duration> {
        match self {
            Self::Request => Some(BRIEF_READ_BUDGET),
            Self::EmbeddedRequest => Some(REQUEST_READ_TIMEOUT),
            Self::Batch => None,
        }
    }

    /// The limit for a batch read of lookup items, including retries.
    pub(crate) fn lookups(self) -> Duration {
        match self {
            Self::Request | Self::EmbeddedRequest => REQUEST_READ_TIMEOUT,
            Self::Batch => Duration::from_secs(15),
        }
    }

    pub(crate) fn apply(self, config: Builder) -> Builder {
        let (attempts, attempt, operation) = match self {
            // A request reads at most a key, the manifest, a snapshot and items in sequence. A batch also
            // reads its quota's counts. The total stays below the Lambda function timeout of 15 seconds.
            Self::Request => (3, Duration::from_millis(700), REQUEST_READ_TIMEOUT),
            Self::EmbeddedRequest => (3, EMBEDDED_READ_TIMEOUT, EMBEDDED_READ_TIMEOUT),
            // A scan can be slow on a DynamoDB stand-in, and a retry would add to its load.
            Self::Batch => (4, Duration::from_secs(10), Duration::from_secs(30)),
        };
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(1))
            .operation_attempt_timeout(attempt)
            .operation_timeout(operation);
        let retries = RetryConfig::standard()
            .with_max_attempts(attempts)
            .with_initial_backoff(Duration::from_millis(50));
        config.timeout_config(timeouts.build()).retry_config(retries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reads_in_a_request_fit_in_the_lambda_timeout() {
        let key_manifest_and_counts = 3 * REQUEST_READ_TIMEOUT;
        let snapshot_and_items =
            TimeoutProfile::Request.snapshot_read() + TimeoutProfile::Request.lookups();
        assert!(key_manifest_and_counts + snapshot_and_items < Duration::from_secs(15));
    }
}
