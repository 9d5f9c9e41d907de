//! Examination results. A failure becomes a finding and never ends an examination.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use ingest::IngestError;
use logging::with_causes;
use signed_requests::CallError;
use store::StoreError;
use tokio::time::timeout;

use super::finding::{Finding, Group, State, section};

/// The facts, or why they are unknown.
pub type Examined<T> = Result<T, ExaminationError>;

/// An examination error.
#[derive(Debug, thiserror::Error)]
pub enum ExaminationError {
    #[error("a permission is missing: {0}")]
    Denied(String),
    /// The service returned an error.
    #[error("{operation} is refused: {code}: {message}")]
    Refused { operation: &'static str, code: String, message: String },
    #[error("{what} failed")]
    Failed { what: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error(transparent)]
    Call(CallError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("it took longer than {0:?}; pass --timeout to wait longer")]
    TooSlow(Duration),
    /// The stack, which lists what to examine, is unreadable.
    #[error("the stack could not be examined, which names what to look at")]
    NoStack,
}

/// AWS error codes for missing permissions.
const DENIALS: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"];

impl ExaminationError {
    /// Makes an error from a failed DynamoDB call, for `map_err`.
    pub fn table<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let what = format!("{operation} of table {table}");
        move |error| match (error.code(), error.message()) {
            (Some(code), message) if DENIALS.contains(&code) => {
                Self::Denied(message.unwrap_or(operation).to_owned())
            }
            _ => Self::Failed { what, source: error.into() },
        }
    }

    pub fn refused(operation: &'static str, code: String, message: String) -> Self {
        if DENIALS.contains(&code.as_str()) {
            Self::Denied(message)
        } else {
            Self::Refused { operation, code, message }
        }
    }

    /// The finding that the examination failed.
    pub fn finding(&self, check: impl Into<String>) -> Finding {
        let message = format!("could not be examined; {}", with_causes(self));
        Finding::new(State::Unknown, check, message).section(section::EXAMINE)
    }
}

/// The facts gathered by `looking` within a time limit.
pub async fn within<T>(limit: Duration, looking: impl Future<Output = Examined<T>>) -> Examined<T> {
    timeout(limit, looking).await.unwrap_or(Err(ExaminationError::TooSlow(limit)))
}

/// The findings from facts, or the finding that there are none.
pub fn group<T>(
    name: &'static str,
    look: &Examined<T>,
    findings: impl FnOnce(&T) -> Vec<Finding>,
) -> Group {
    let findings = match look {
        Ok(facts) => findings(facts),
        Err(error) => vec![error.finding(name)],
    };
    Group { name, findings }
}
