//! Looking at something, and why that can fail. A failure is a finding of its own and never ends an
//! examination.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use ingest::IngestError;
use logging::with_causes;
use signed_requests::CallError;
use store::StoreError;
use tokio::time::timeout;

use super::finding::{Finding, Group, State, section};

/// The facts, or the reason why they are not known.
pub type Examined<T> = Result<T, ExaminationError>;

/// Error of an examination.
#[derive(Debug, thiserror::Error)]
pub enum ExaminationError {
    #[error("a permission is missing: {0}")]
    Denied(String),
    /// The service answered with an error.
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
    /// The stack, which names what to look at, could not be read.
    #[error("the stack could not be examined, which names what to look at")]
    NoStack,
}

/// The codes with which services of AWS say that a permission is missing.
const DENIALS: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"];

impl ExaminationError {
    /// Makes an error of a call to DynamoDB that failed, for `map_err`.
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

    /// The finding that something could not be examined.
    pub fn finding(&self, check: impl Into<String>) -> Finding {
        let message = format!("could not be examined; {}", with_causes(self));
        Finding::new(State::Unknown, check, message).section(section::EXAMINE)
    }
}

/// The facts that `looking` gathers within a time limit.
pub async fn within<T>(limit: Duration, looking: impl Future<Output = Examined<T>>) -> Examined<T> {
    timeout(limit, looking).await.unwrap_or(Err(ExaminationError::TooSlow(limit)))
}

/// The group of the findings that follow from facts, or of the one that there are none.
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
