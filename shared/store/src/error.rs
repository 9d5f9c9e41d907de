//! The reasons why DynamoDB could not be read or written.

use std::{error::Error, time::Duration};

use aws_sdk_dynamodb::error::{BuildError, ProvideErrorMetadata, SdkError};
use numbering::records::Version;

use crate::FailureKind;

/// An error of any library.
pub type Cause = Box<dyn Error + Send + Sync>;

/// The reasons why DynamoDB could not be read or written. The messages are for operators and not for clients.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// DynamoDB refused the call or did not answer it.
    #[error("{operation} on table {table} failed")]
    Call { operation: &'static str, table: String, kind: FailureKind, source: Cause },
    /// A table is slower than a request waits for what is in memory, too.
    #[error("DynamoDB did not answer within {limit:?}")]
    TooSlow { limit: Duration },
    /// A table has failed, and is not asked for some seconds.
    #[error("table {table} failed some seconds ago and is not asked now")]
    LeftAlone { table: String },
    /// The attributes of an item are not those that this release expects or can write.
    #[error("an item of table {table} cannot be read or written in the form of this release")]
    Item { table: String, source: Cause },
    /// The manifest is not what was written, so that no version is known.
    #[error(
        "the manifest in table {table} cannot be read; 'tnr import --fetch --replace-manifest' \
         imports the published reports as the first version"
    )]
    Manifest { table: String, source: Cause },
    /// The chunks of a snapshot are not the ones that were written.
    #[error("version {version} cannot be read")]
    Snapshot { version: Version, source: UnreadableSnapshot },
    /// DynamoDB answers too slowly.
    #[error("the snapshot {version} could not be read within {limit:?}")]
    SnapshotTimeout { version: Version, limit: Duration },
    /// DynamoDB throttled a batch for longer than it is retried.
    #[error(
        "DynamoDB is too busy: {left} items of {operation} are left undone; run it again later"
    )]
    Busy { operation: &'static str, left: usize },
    /// No key has this hash.
    #[error("there is no key with the hash {0}")]
    NoKey(String),
    /// The manifest is no longer the one that was to be replaced.
    #[error(
        "another import or rollback changed the data meanwhile; \
         see which version is current, and run this one again if it is still wanted"
    )]
    Overtaken,
}

/// The reason why a snapshot cannot be read, however often it is tried.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct UnreadableSnapshot(pub Cause);

impl StoreError {
    /// Makes an error of a call that failed, for `map_err`.
    pub(crate) fn call<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: ProvideErrorMetadata + Error + ProvideErrorMetadata + Send + Sync + 'static,
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

    /// The kind of DynamoDB's failure; `None` if it has answered, or was not asked.
    pub(crate) fn failure(&self) -> Option<FailureKind> {
        match self {
            Self::Call { kind, .. } => Some(*kind),
            Self::TooSlow { .. } | Self::SnapshotTimeout { .. } => Some(FailureKind::Timeout),
            Self::Busy { .. } => Some(FailureKind::Throttled),
            _ => None,
        }
    }

    /// `true` if this is only a consequence of a failure that has been logged.
    pub fn is_left_alone(&self) -> bool {
        matches!(self, Self::LeftAlone { .. })
    }

    /// Makes an error of a request that the SDK cannot build, for `map_err`. It is a defect of this
    /// service, and must not be answered like an empty request.
    pub(crate) fn unbuildable(
        operation: &'static str,
        table: &str,
    ) -> impl FnOnce(BuildError) -> Self {
        move |error| Self::Call {
            operation,
            table: table.to_owned(),
            kind: FailureKind::Refused,
            source: error.into(),
        }
    }

    /// Makes an error of an item that cannot be read or written, for `map_err`.
    pub(crate) fn item<E: Into<Cause>>(table: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::Item { table: table.to_owned(), source: error.into() }
    }
}

/// `true` if the embedded database answers, but cannot read the item that it was asked for.
fn is_of_damaged_item<E: ProvideErrorMetadata>(error: &SdkError<E>) -> bool {
    const MESSAGES: [&str; 3] = ["Bad item JSON", "UTF-8", "utf-8"];
    let message = error.as_service_error().and_then(ProvideErrorMetadata::message);
    message.is_some_and(|message| MESSAGES.iter().any(|text| message.contains(text)))
}
