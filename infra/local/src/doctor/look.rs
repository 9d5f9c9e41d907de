//! Looking at something, and why that can fail. A failure is a finding of its own and never ends an
//! examination.

use std::time::Duration;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use ingest::IngestError;
use logging::with_causes;
use signed_requests::{CallError, Service};
use store::StoreError;
use tokio::time::timeout;

use super::finding::{Finding, Group, Section, State};

/// What was seen, or why it could not be.
pub type Look<T> = Result<T, LookError>;

/// Why something could not be examined.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    #[error("a permission is missing: {0}")]
    Denied(String),
    /// The service answered with an error that has this code.
    #[error("{service:?} refuses: {code}: {message}")]
    Refused { service: Service, code: String, message: String },
    #[error(transparent)]
    Call(CallError),
    #[error("the answer of {service:?} to {operation} cannot be read")]
    Answer {
        service: Service,
        operation: &'static str,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("{operation} on table {table} failed")]
    Table {
        operation: &'static str,
        table: String,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Ingest(#[from] IngestError),
    #[error("it took longer than {0:?}; pass --timeout to wait longer")]
    TooSlow(Duration),
    /// What would have been looked at is named by the stack, which could not be read.
    #[error("the stack could not be examined, which names what to look at")]
    NoStack,
}

/// The codes with which services of AWS say that a permission is missing.
const DENIALS: [&str; 4] =
    ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError"];

impl LookError {
    /// Makes an error of a call to DynamoDB that failed, for `map_err`.
    pub fn table<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    {
        let table = table.to_owned();
        move |error| match (error.code(), error.message()) {
            (Some(code), message) if DENIALS.contains(&code) => {
                Self::Denied(message.unwrap_or(operation).to_owned())
            }
            _ => Self::Table { operation, table, source: error.into() },
        }
    }

    /// Makes an error of an error code and message.
    pub fn refused(service: Service, code: &str, message: &str) -> Self {
        let (code, message) = (code.to_owned(), message.to_owned());
        if DENIALS.contains(&code.as_str()) {
            Self::Denied(message)
        } else {
            Self::Refused { service, code, message }
        }
    }

    /// The finding that something could not be examined.
    pub fn finding(&self, check: impl Into<String>) -> Finding {
        let message = format!("could not be examined; {}", with_causes(self));
        Finding::new(State::Unknown, check, message).section(Section::Examine)
    }
}

/// What `looking` sees, if that takes no longer than `limit`.
pub async fn within<T>(limit: Duration, looking: impl Future<Output = Look<T>>) -> Look<T> {
    timeout(limit, looking).await.unwrap_or(Err(LookError::TooSlow(limit)))
}

/// The group of the findings about something, or of the one that it could not be examined.
pub fn group<T>(
    name: &'static str,
    look: &Look<T>,
    findings: impl FnOnce(&T) -> Vec<Finding>,
) -> Group {
    let findings = match look {
        Ok(facts) => findings(facts),
        Err(error) => vec![error.finding(name)],
    };
    Group { name, findings }
}
