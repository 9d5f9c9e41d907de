//! Facts gathered for a diagnosis. If gathering fails, the failure becomes a finding.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use ingest::IngestError;
use logging::with_causes;
use signed_requests::CallError;
use store::StoreError;
use tokio::time::timeout;

use super::finding::{Finding, Group, State, section};
use crate::error::Cause;

pub type FactResult<T> = Result<T, FactError>;

/// The reason that facts are unknown.
#[derive(Debug, thiserror::Error)]
pub enum FactError {
    #[error("a permission is missing: {0}")]
    Denied(String),
    #[error("{operation} failed with {code}: {message}")]
    Refused { operation: &'static str, code: String, message: String },
    #[error("{what} failed")]
    Failed { what: String, source: Cause },
    #[error(transparent)]
    Call(CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("it took longer than {0:?}; pass --timeout to wait longer")]
    Timeout(Duration),
    #[error("the stack, which lists what to check, could not be read")]
    NoStack,
}

/// AWS error codes for missing permissions.
const DENIED_CODES: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"];

impl FactError {
    /// Makes an error from a failed DynamoDB call, for `map_err`.
    pub fn table<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let what = format!("{operation} for table {table}");
        move |error| match (error.code(), error.message()) {
            (Some(code), message) if DENIED_CODES.contains(&code) => {
                Self::Denied(message.unwrap_or(operation).to_owned())
            }
            _ => Self::Failed { what, source: error.into() },
        }
    }

    pub fn refused(operation: &'static str, code: String, message: String) -> Self {
        if DENIED_CODES.contains(&code.as_str()) {
            Self::Denied(message)
        } else {
            Self::Refused { operation, code, message }
        }
    }

    pub fn finding(&self, check: impl Into<String>) -> Finding {
        let message = format!("could not be checked; {}", with_causes(self));
        Finding::new(State::Unknown, check, message).section(section::EXAMINE)
    }
}

pub async fn with_timeout<T>(
    limit: Duration,
    facts: impl Future<Output = FactResult<T>>,
) -> FactResult<T> {
    timeout(limit, facts).await.unwrap_or(Err(FactError::Timeout(limit)))
}

/// The findings from facts, or a finding that they are unknown.
pub fn group<T>(
    name: &'static str,
    facts: &FactResult<T>,
    findings: impl FnOnce(&T) -> Vec<Finding>,
) -> Group {
    let findings = match facts {
        Ok(facts) => findings(facts),
        Err(error) => vec![error.finding(name)],
    };
    Group { name, findings }
}
