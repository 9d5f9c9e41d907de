//! The reasons an import fails, in words for the operator.

use std::error::Error;

use logging::with_causes;
use numbering::{dataset::DamagedSnapshot, records::Version};
use store::{DatasetError, StoreError, UnreadableSnapshot};

/// Any error from a library.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// The reason an import failed. The current version is unchanged, and the next import starts over.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{source_name} cannot be read")]
    Unreadable { source_name: String, source: Cause },
    #[error("{file} cannot be fetched from {address}")]
    NotFetched { file: &'static str, address: String, source: Cause },
    #[error("{file} did not come from {source_name} in time; the current version stays as it is")]
    TooSlow { file: &'static str, source_name: String },
    #[error("{source_name} cannot be imported")]
    Report { source_name: String, source: ReportError },
    #[error("the time is running out; the work stopped, and the current version stays as it is")]
    OutOfTime,
    #[error("nothing has been imported yet; 'tnr import --fetch' imports the published reports")]
    NothingImported,
    #[error("there is no older version to go back to")]
    NothingBefore,
    #[error(
        "version {version} cannot be read, nor any other that the rollback may go to; import the \
         reports instead"
    )]
    NoneReadableBefore { version: Version, source: UnreadableSnapshot },
    #[error("version '{0}' is not retained; 'tnr versions' lists those that a rollback can go to")]
    NotRetained(String),
    #[error("the current data cannot be read")]
    Current(#[from] DatasetError),
    #[error("the snapshot cannot be packed")]
    Snapshot(#[from] DamagedSnapshot),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The rule a report breaks.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReportError {
    message: String,
    /// The message without any of the file's content.
    without_contents: String,
}

impl ReportError {
    /// An error whose message quotes nothing.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { without_contents: message.clone(), message }
    }

    /// An error with a message that quotes the file, and one that does not.
    pub(crate) fn quoting(message: String, without_contents: String) -> Self {
        Self { message, without_contents }
    }
}

impl IngestError {
    /// The message without any content of files or tables, for callers who may not read them.
    ///
    /// Causes are left out, since a library may quote text it could not read. The exception is the cause of an
    /// unreadable source, which concerns the file as a whole.
    pub(crate) fn without_contents(&self) -> String {
        match self {
            Self::Report { source, .. } => format!("{self}: {}", source.without_contents),
            Self::Unreadable { source, .. } | Self::NotFetched { source, .. } => {
                format!("{self}: {}", with_causes(source.as_ref()))
            }
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_see_why_a_source_cannot_be_read_and_no_contents_of_tables() {
        let quoting = || std::io::Error::other("cannot read 'SECRET'");
        let version = Version::new(jiff::Timestamp::UNIX_EPOCH);
        let source = UnreadableSnapshot(quoting().into());
        for error in [
            IngestError::Current(DatasetError::Unreadable { version, source }),
            IngestError::Snapshot(DamagedSnapshot::from(quoting())),
            IngestError::Store(StoreError::Item {
                table: "carriers".to_owned(),
                source: quoting().into(),
            }),
        ] {
            assert!(with_causes(&error).contains("SECRET"), "{error:?}");
            assert!(!error.without_contents().contains("SECRET"), "{error:?}");
        }
        let error =
            IngestError::Unreadable { source_name: "s3://b/k".to_owned(), source: "denied".into() };
        assert_eq!(error.without_contents(), "s3://b/k cannot be read: denied");
    }
}
