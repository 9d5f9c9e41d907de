//! Errors from DynamoDB reads and writes.

use std::{error::Error, time::Duration};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use numbering::records::Version;

use crate::FailureKind;

pub type Cause = Box<dyn Error + Send + Sync>;

/// A failed read or write. The messages are for operators, not clients.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// DynamoDB rejected the call or did not respond.
    #[error("{operation} on table {table} failed")]
    Call { operation: &'static str, table: String, kind: FailureKind, source: Cause },
    /// A read exceeded its short time limit.
    #[error("DynamoDB did not respond within {limit:?}")]
    TooSlow { limit: Duration },
    /// The call was skipped, because the table failed recently.
    #[error("table {table} was not called, since a call failed a few seconds ago ({kind})")]
    NotCalled { table: String, kind: FailureKind },
    /// An item is damaged, or in a format that this program does not support.
    #[error("an item in table {table} is damaged or in an unsupported format")]
    Item { table: String, source: Cause },
    /// The manifest is damaged, so no version can be found.
    #[error(
        "the manifest in table {table} cannot be read; 'tnr import --fetch --replace-manifest' \
         imports the published reports as the first version"
    )]
    Manifest { table: String, source: Cause },
    /// A part of the history that the manifest refers to is missing or damaged.
    #[error(
        "{part} of the history is damaged; 'tnr verify --repair' restores what is stored elsewhere"
    )]
    DamagedHistory { part: String, source: Cause },
    /// The difference could not be written when the version was published.
    #[error(
        "the changes of publication {publication} are not in the history until the next import"
    )]
    Unrecorded { publication: Version },
    #[error("snapshot {version} could not be read within {limit:?}")]
    SnapshotTimeout { version: Version, limit: Duration },
    /// DynamoDB throttled a batch until the retries ran out.
    #[error("DynamoDB is too busy: {operation} left {left} items unprocessed; try again later")]
    Busy { operation: &'static str, left: usize },
    #[error("no key has the hash {0}")]
    NoKey(String),
    /// The manifest changed before it could be replaced.
    #[error(
        "another import or rollback changed the data meanwhile; \
         check which version is current, and try again if still needed"
    )]
    Overtaken,
}

impl StoreError {
    /// Returns a `map_err` function that wraps the error from a failed call.
    pub(crate) fn call<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| {
            let table = table.to_owned();
            if is_damaged_item(&error) {
                return Self::Item { table, source: error.into() };
            }
            let kind = FailureKind::from_sdk(&error);
            Self::Call { operation, table, kind, source: error.into() }
        }
    }

    /// The kind of DynamoDB failure; `None` if DynamoDB responded or was not called.
    pub(crate) fn failure(&self) -> Option<FailureKind> {
        match self {
            Self::Call { kind, .. } => Some(*kind),
            Self::TooSlow { .. } | Self::SnapshotTimeout { .. } => Some(FailureKind::Timeout),
            Self::Busy { .. } => Some(FailureKind::Throttled),
            _ => None,
        }
    }

    /// Returns a `map_err` function for an item that cannot be read or written.
    pub(crate) fn item<E: Into<Cause>>(table: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::Item { table: table.to_owned(), source: error.into() }
    }
}

/// Returns `true` if the embedded database responded, but failed to read the requested item.
fn is_damaged_item<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    const MESSAGES: [&str; 3] = ["Bad item JSON", "UTF-8", "utf-8"];
    let message = error.as_service_error().and_then(ProvideErrorMetadata::message);
    message.is_some_and(|message| MESSAGES.iter().any(|text| message.contains(text)))
}
