//! The timeouts of calls to DynamoDB.

use std::time::Duration;

use aws_sdk_dynamodb::config::{Builder, retry::RetryConfig, timeout::TimeoutConfig};

/// The limit of one call for a request, with all attempts.
const REQUEST_READ_TIMEOUT: Duration = Duration::from_secs(2);
/// The limit of all reads of a request together that memory can answer, too.
const BRIEF_READS_OF_REQUEST: Duration = Duration::from_millis(300);
/// The limit of one call to the embedded database. A second attempt would only add to what keeps
/// the machine busy.
const EMBEDDED_READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The timeouts of calls to DynamoDB.
#[derive(Debug, Clone, Copy)]
pub enum TimeoutProfile {
    /// For requests, since a client waits for the response.
    Request,
    /// For requests to a server with the database embedded. That is slow only while the machine is busy,
    /// for instance with an import, which is no outage.
    EmbeddedRequest,
    /// For imports and the commands of operators, to which a late answer is better than none.
    Batch,
}

impl TimeoutProfile {
    /// The limit of reading a snapshot, with all attempts.
    pub(crate) fn snapshot_read(self) -> Duration {
        match self {
            Self::Request => Duration::from_secs(4),
            Self::EmbeddedRequest => EMBEDDED_READ_TIMEOUT,
            Self::Batch => Duration::from_secs(60),
        }
    }

    /// The limit of all reads of a request together that memory can answer, too; `None` if a late
    /// answer is better than that of memory.
    pub(crate) fn brief_reads(self) -> Option<Duration> {
        match self {
            Self::Request => Some(BRIEF_READS_OF_REQUEST),
            Self::EmbeddedRequest => Some(REQUEST_READ_TIMEOUT),
            Self::Batch => None,
        }
    }

    /// The limit of reading many lookup items, with all attempts: that of reading one.
    pub(crate) fn lookups(self) -> Duration {
        match self {
            Self::Request | Self::EmbeddedRequest => REQUEST_READ_TIMEOUT,
            Self::Batch => Duration::from_secs(15),
        }
    }

    /// The configuration with these timeouts.
    pub(crate) fn apply(self, config: Builder) -> Builder {
        let (attempts, attempt, operation) = match self {
            // A request reads at most a key, the manifest, a snapshot and items, one after the other, and
            // one for many numbers the counts of its quota. Together that stays below the timeout of a
            // Lambda function, 15 seconds.
            Self::Request => (3, Duration::from_millis(700), REQUEST_READ_TIMEOUT),
            Self::EmbeddedRequest => (3, EMBEDDED_READ_TIMEOUT, EMBEDDED_READ_TIMEOUT),
            Self::Batch => (4, Duration::from_secs(5), Duration::from_secs(15)),
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
