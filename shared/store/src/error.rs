//! Why the store has no answer.

use std::{error::Error, time::Duration};

use aws_sdk_dynamodb::error::{BuildError, SdkError};
use numbering::records::Version;

/// The error that a library gave, whichever it is.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// What DynamoDB did not do, in words for the operator's log.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{operation} on table {table} failed")]
    Call { operation: &'static str, table: String, source: Cause },
    #[error("an item of table {table} cannot be read or written in the form of this release")]
    Item { table: String, source: Cause },
    #[error("the snapshot {version} is damaged")]
    Snapshot { version: Version, source: DamagedChunks },
    #[error("the snapshot {version} could not be read within {limit:?}")]
    SnapshotTimeout { version: Version, limit: Duration },
    #[error("DynamoDB was too busy for {left} items; the next import writes them")]
    Busy { left: usize },
    #[error(
        "another import or rollback changed the data meanwhile; \
         see which version is current, and run this one again if it is still wanted"
    )]
    Overtaken,
}

/// What is wrong with the chunks of a snapshot.
#[derive(Debug, thiserror::Error)]
pub enum DamagedChunks {
    #[error("chunk {0} is missing")]
    Missing(String),
    #[error("its SHA-256 is {actual} instead of {expected}")]
    Hash { actual: String, expected: String },
}

impl StoreError {
    pub(crate) fn call<E>(operation: &'static str, table: &str) -> impl FnOnce(SdkError<E>) -> Self
    where
        E: Error + Send + Sync + 'static,
    {
        move |error| Self::Call { operation, table: table.to_owned(), source: error.into() }
    }

    /// A request that the SDK cannot build is a defect of this service and must not pass for an
    /// empty one.
    pub(crate) fn unbuildable(
        operation: &'static str,
        table: &str,
    ) -> impl FnOnce(BuildError) -> Self {
        move |error| Self::Call { operation, table: table.to_owned(), source: error.into() }
    }

    pub(crate) fn item<E: Into<Cause>>(table: &str) -> impl FnOnce(E) -> Self {
        move |error| Self::Item { table: table.to_owned(), source: error.into() }
    }
}
