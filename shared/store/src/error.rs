//! DynamoDB read and write errors.

use std::{error::Error, time::Duration};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use numbering::records::Version;

use crate::FailureKind;

/// Any library's error.
pub type Cause = Box<dyn Error + Send + Sync>;

/// DynamoDB read and write errors. The messages are for operators, not clients.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// DynamoDB refused the call or did not answer it.
    #[error("{operation} on table {table} failed")]
    Call { operation: &'static str, table: String, kind: FailureKind, source: Cause },
    /// A table is slower than a request waits when memory can answer too.
    #[error("DynamoDB did not answer within {limit:?}")]
    TooSlow { limit: Duration },
    /// A table has failed, and is not called for a few seconds.
    #[error("table {table} failed some seconds ago and is not asked now")]
    LeftAlone { table: String },
    /// An item's attributes are not what this release expects or can write.
    #[error("an item of table {table} cannot be read or written in the form of this release")]
    Item { table: String, source: Cause },
    /// The manifest is damaged, so no version is known.
    #[error(
        "the manifest in table {table} cannot be read; 'tnr import --fetch --replace-manifest' \
         imports the published reports as the first version"
    )]
    Manifest { table: String, source: Cause },
    /// A snapshot's chunks are damaged.
    #[error("version {version} cannot be read")]
    Snapshot { version: Version, source: UnreadableSnapshot },
    /// DynamoDB is too slow.
    #[error("the snapshot {version} could not be read within {limit:?}")]
    SnapshotTimeout { version: Version, limit: Duration },
    /// DynamoDB throttled a batch for longer than the retries last.
    #[error(
        "DynamoDB is too busy: {left} items of {operation} are left undone; run it again later"
    )]
    Busy { operation: &'static str, left: usize },
    /// No key has this hash.
    #[error("there is no key with the hash {0}")]
    NoKey(String),
    /// The manifest to replace has changed.
    #[error(
        "another import or rollback changed the data meanwhile; \
         see which version is current, and run this one again if it is still wanted"
    )]
    Overtaken,
}

/// The cause of a permanently unreadable snapshot.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct UnreadableSnapshot(pub Cause);

impl StoreError {
    /// Wraps the error of a failed call, for `map_err`.
    pub(crate) fn call<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + Error + Send + Sync + 'static,
    {
        move |error| {
            let table = table.to_owned();
            if is_of_damaged_item(&error) {
                return Self::Item { table, source: error.into() };
            }
            let kind = FailureKind::from_sdk(&error);
            Self::Call { operation, table, kind, source: error.into() }
        }
    }

    /// The kind of DynamoDB failure; `None` if it answered, or was not called.
    pub(crate) fn failure(&self) -> Option<FailureKind> {
        match self {
            Self::Call { kind, .. } => Some(*kind),
            Self::TooSlow { .. } | Self::SnapshotTimeout { .. } => Some(FailureKind::Timeout),
            Self::Busy { .. } => Some(FailureKind::Throttled),
            _ => None,
        }
    }

    /// Returns `true` if this only follows from a failure that has been logged.
    pub fn is_left_alone(&self) -> bool {
        matches!(self, Self::LeftAlone { .. })
    }

    /// Wraps the error of an item that cannot be read or written, for `map_err`.
    pub(crate) fn item<E: Into<Cause>>(table: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::Item { table: table.to_owned(), source: error.into() }
    }
}

/// Returns `true` if the embedded database answers, but cannot read the requested item.
fn is_of_damaged_item<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    const MESSAGES: [&str; 3] = ["Bad item JSON", "UTF-8", "utf-8"];
    let message = error.as_service_error().and_then(ProvideErrorMetadata::message);
    message.is_some_and(|message| MESSAGES.iter().any(|text| message.contains(text)))
}
