//! Import errors, with messages for operators.

use std::error::Error;

use logging::with_causes;
use numbering::{dataset::SnapshotError, ranges::RangesError, records::Version};
use store::{DatasetError, StoreError};

pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// The reason why an import failed. The current version is unchanged, and the next import starts over.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{source_name} cannot be read")]
    Unreadable { source_name: String, source: Cause },
    #[error("{file} cannot be fetched from {address}")]
    NotFetched { file: &'static str, address: String, source: Cause },
    #[error("{file} was not received from {source_name} in time; the current version is unchanged")]
    TooSlow { file: &'static str, source_name: String },
    #[error("{source_name} cannot be imported")]
    Report { source_name: String, source: ReportError },
    #[error("ran out of time; the current version is unchanged")]
    OutOfTime,
    #[error(
        "nothing has been imported yet; import the published reports with 'tnr import --fetch'"
    )]
    NothingImported,
    #[error("there is no older version to roll back to")]
    NoOlderVersion,
    #[error(
        "version {version} cannot be read, and neither can any older version; see 'tnr versions', or \
         import the reports instead"
    )]
    NoReadableOlderVersion { version: Version },
    #[error("version '{0}' is not retained; run 'tnr versions' to list those you can roll back to")]
    NotRetained(String),
    #[error("the current data cannot be read")]
    Current(#[from] DatasetError),
    #[error("the snapshot cannot be packed")]
    Snapshot(#[from] SnapshotError),
    #[error("a country's ranges cannot be packed")]
    Ranges(#[from] RangesError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReportError {
    message: String,
    without_contents: String,
}

impl ReportError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { without_contents: message.clone(), message }
    }

    /// Creates an error with two messages: one that quotes the file, and one that does not.
    pub(crate) fn with_quote(message: String, without_contents: String) -> Self {
        Self { message, without_contents }
    }
}

impl IngestError {
    /// Returns the message without the contents of files or tables, for callers that must not see them.
    ///
    /// Omits causes, because a library may quote text that it could not parse. The exception is an unreadable
    /// source, whose cause applies to the whole file.
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
    fn callers_see_the_cause_of_an_unreadable_source_but_no_table_contents() {
        let quoting_error = || std::io::Error::other("cannot read 'SECRET'");
        let version = Version::new(jiff::Timestamp::UNIX_EPOCH);
        let source = quoting_error().into();
        for error in [
            IngestError::Current(DatasetError::Unreadable { version, source }),
            IngestError::Snapshot(SnapshotError::from(quoting_error())),
            IngestError::Store(StoreError::Item {
                table: "carriers".to_owned(),
                source: quoting_error().into(),
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
