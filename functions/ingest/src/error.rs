//! The reasons why an import fails, in words for the operator.

use std::error::Error;

use logging::with_causes;
use numbering::{dataset::DamagedSnapshot, records::Version};
use store::{DatasetError, StoreError, UnreadableSnapshot};

/// The error that a library gave, whichever it is.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// The reason why an import failed. The version that was current still is, and the next import starts
/// anew.
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

/// The rule that a report breaks.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReportError {
    message: String,
    /// The message without a word of what the file holds.
    without_contents: String,
}

impl ReportError {
    /// The error with a message that quotes nothing.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { without_contents: message.clone(), message }
    }

    /// The error with a message that quotes the file, and one that does not.
    pub(crate) fn quoting(message: String, without_contents: String) -> Self {
        Self { message, without_contents }
    }
}

impl IngestError {
    /// The message without a word of what the files or the tables hold, for callers who may not
    /// read them.
    ///
    /// Causes are left out, since a library may quote the text that it could not read. The only
    /// exception is why a source cannot be read: that is about the file as a whole.
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
    fn a_library_cannot_quote_contents_to_callers() {
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
    }

    #[test]
    fn callers_are_told_why_a_source_cannot_be_read() {
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied).into();
        let error = IngestError::Unreadable { source_name: "s3://b/k".to_owned(), source };
        assert_eq!(error.without_contents(), "s3://b/k cannot be read: permission denied");
        assert_eq!(with_causes(&error), error.without_contents());
    }
}
