//! How patient a caller of DynamoDB is.

use std::time::Duration;

use aws_config::{BehaviorVersion, ConfigLoader, retry::RetryConfig, timeout::TimeoutConfig};
use aws_smithy_http_client::{
    Builder,
    tls::{Provider, rustls_provider::CryptoMode},
};

/// How long a call may take, all attempts together.
#[derive(Debug, Clone, Copy)]
pub enum TimeoutProfile {
    /// A client waits for the answer.
    Request,
    /// An import or an operator's command: a late answer is better than none.
    Batch,
}

impl TimeoutProfile {
    /// How long reading a snapshot may take, all attempts together.
    pub(crate) fn snapshot_read(self) -> Duration {
        match self {
            Self::Request => Duration::from_secs(8),
            Self::Batch => Duration::from_secs(60),
        }
    }

    /// The configuration of AWS clients, from the environment.
    pub fn loader(self) -> ConfigLoader {
        let (attempts, attempt, operation) = match self {
            // A lookup makes at most four calls, which together stay below the 10 s of a Lambda.
            Self::Request => (3, Duration::from_millis(700), Duration::from_secs(2)),
            Self::Batch => (4, Duration::from_secs(5), Duration::from_secs(15)),
        };
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(Duration::from_secs(1))
            .operation_attempt_timeout(attempt)
            .operation_timeout(operation);
        let retries = RetryConfig::standard()
            .with_max_attempts(attempts)
            .with_initial_backoff(Duration::from_millis(50));
        let tls = Provider::Rustls(CryptoMode::Ring);
        aws_config::defaults(BehaviorVersion::latest())
            .http_client(Builder::new().tls_provider(tls).build_https())
            .timeout_config(timeouts.build())
            .retry_config(retries)
    }
}
