//! Why an import fails, in words for the operator.

use std::error::Error;

use jiff::civil::Date;
use logging::with_causes;
use numbering::{dataset::DamagedSnapshot, records::Version};
use store::{DatasetError, StoreError, UnreadableSnapshot};

/// The error that a library gave, whichever it is.
pub(crate) type Cause = Box<dyn Error + Send + Sync>;

/// Why an import failed. The version that was current still is, and the next import starts anew.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    #[error("{source_name} cannot be read")]
    Unreadable { source_name: String, source: Cause },
    #[error("{file} cannot be fetched from {address}")]
    NotFetched { file: &'static str, address: String, source: Cause },
    #[error("{file} did not come from {source_name} in time; the current version stays as it is")]
    TooSlow { file: &'static str, source_name: String },
    #[error("{source_name} cannot be imported")]
    InSource { source_name: String, source: Box<IngestError> },
    #[error("{file} cannot be read as rows")]
    Rows { file: &'static str, source: csv::Error },
    #[error("{file} does not look like the expected report: it is empty")]
    Empty { file: &'static str },
    #[error(
        "{file} does not look like the expected report: \
         no header row contains the column(s) {missing}; line {line} has '{found}'"
    )]
    NoHeader { file: &'static str, missing: String, line: u64, found: String },
    #[error("{file}, line {line}, column {column}: '{value}' {rule}")]
    Cell { file: &'static str, line: u64, column: &'static str, value: String, rule: String },
    #[error(
        "{file}, line {line}: the row has {found} cells and must have {expected}, as the header; \
         check whether the file is cut off or a cell is not quoted"
    )]
    Ragged { file: &'static str, line: u64, found: usize, expected: usize },
    #[error(
        "{file}, line {line}: a quote is not closed in the rows before it, or a cell has a line break"
    )]
    OpenQuote { file: &'static str, line: u64 },
    #[error(
        "{file}, line {line}: the header names the column {column} twice, in cells {first} and \
         {second}; remove the column that is wrong"
    )]
    RepeatedColumn {
        file: &'static str,
        line: u64,
        column: &'static str,
        first: usize,
        second: usize,
    },
    #[error("{file} must have at most {most} rows, and has more")]
    TooLong { file: &'static str, most: u64 },
    #[error("{file} holds no rows")]
    NoRows { file: &'static str },
    #[error("{file} holds no row that can be imported")]
    Unusable { file: &'static str },
    #[error("{file} is dated {date}; the date of a report must be in 1990 or later")]
    ImplausibleDate { file: &'static str, date: Date },
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

impl IngestError {
    /// The message without a word of what the files or the tables hold, for callers who may not
    /// read them.
    ///
    /// Causes are left out, since a library may quote the text that it could not read. The only
    /// exception is why a source cannot be read: that is about the file as a whole.
    pub(crate) fn without_contents(&self) -> String {
        match self {
            Self::InSource { source_name: _, source } => {
                format!("{self}: {}", source.without_contents())
            }
            Self::Unreadable { source, .. } | Self::NotFetched { source, .. } => {
                format!("{self}: {}", with_causes(source.as_ref()))
            }
            Self::Cell { file, line, column, value: _, rule } => {
                format!("{file}, line {line}, column {column}: the cell {rule}")
            }
            Self::NoHeader { file, missing, line: _, found: _ } => {
                format!(
                    "{file} does not look like the expected report: \
                     no header row contains the column(s) {missing}"
                )
            }
            other => other.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_source(error: IngestError) -> IngestError {
        IngestError::InSource { source_name: "s3://b/k".to_owned(), source: Box::new(error) }
    }

    /// The message for the log, and the one for callers who may not read the files.
    fn both_messages(error: IngestError) -> (String, String) {
        (with_causes(&error), error.without_contents())
    }

    #[test]
    fn a_wrong_cell_is_told_by_its_place_and_not_by_its_value() {
        let (whole, for_callers) = both_messages(in_source(IngestError::Cell {
            file: "a report",
            line: 2,
            column: "NPA",
            value: "SECRET".to_owned(),
            rule: "must be exactly 3 digits".to_owned(),
        }));
        let place = "s3://b/k cannot be imported: a report, line 2, column NPA:";
        assert_eq!(whole, format!("{place} 'SECRET' must be exactly 3 digits"));
        assert_eq!(for_callers, format!("{place} the cell must be exactly 3 digits"));
    }

    #[test]
    fn a_header_is_told_by_the_columns_it_lacks_and_not_by_its_text() {
        let (whole, for_callers) = both_messages(in_source(IngestError::NoHeader {
            file: "a report",
            missing: "NPA".to_owned(),
            line: 1,
            found: "SECRET=1".to_owned(),
        }));
        assert!(whole.ends_with("line 1 has 'SECRET=1'"), "{whole}");
        assert!(for_callers.ends_with("contains the column(s) NPA"), "{for_callers}");
    }

    #[test]
    fn a_library_cannot_quote_contents_to_callers() {
        let quoting = || std::io::Error::other("cannot read 'SECRET'");
        let version = Version::new(jiff::Timestamp::UNIX_EPOCH);
        let damage = DamagedSnapshot::from(quoting());
        let errors = [
            IngestError::Rows { file: "a report", source: csv::Error::from(quoting()) },
            IngestError::Current(DatasetError::Unreadable {
                version,
                source: UnreadableSnapshot::Contents(damage),
            }),
            IngestError::Snapshot(DamagedSnapshot::from(quoting())),
            IngestError::Store(StoreError::Item {
                table: "carriers".to_owned(),
                source: quoting().into(),
            }),
        ];
        for error in errors {
            let (whole, for_callers) = both_messages(in_source(error));
            assert!(whole.contains("SECRET"), "{whole}");
            assert!(!for_callers.contains("SECRET"), "{for_callers}");
        }
    }

    #[test]
    fn callers_are_told_why_a_source_cannot_be_read() {
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied).into();
        let (whole, for_callers) =
            both_messages(IngestError::Unreadable { source_name: "s3://b/k".to_owned(), source });
        assert_eq!(for_callers, "s3://b/k cannot be read: permission denied");
        assert_eq!(whole, for_callers);
    }
}
