//! Command errors and their exit codes.

use std::{error::Error, process::ExitCode};

use ingest::{IngestError, PUBLISHED_ADDRESSES};
use logging::with_causes;
use reqwest::StatusCode;
use shared::{auth::MalformedKey, flag_images::InvalidFlagsBaseUrl};
use store::{DatasetError, StoreError};

/// Any library's error, as a source.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Exit code when nothing could be examined.
pub const UNKNOWN_EXIT_CODE: u8 = 3;

/// Exit code when nothing is found or a check fails, as in `grep` and `diff`.
pub const NOT_FOUND_EXIT_CODE: u8 = 1;

/// Exit code for errors and invalid command lines, as in `grep` and clap.
const FAILURE_EXIT_CODE: u8 = 2;

/// Exit code after Ctrl-C, as in shells.
const INTERRUPTED_EXIT_CODE: u8 = 130;

/// A command's error, worded for the user.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Any other failure: a message and its source.
    #[error("{context}")]
    Failed { context: String, source: Option<Cause> },
    #[error(
        "stack '{stack}' is not a deployment of this service in region '{region}'; \
         give the name that 'sam deploy' was given, and its region as AWS_REGION"
    )]
    NoStack { stack: String, region: String },
    #[error(transparent)]
    FlagsBaseUrl(#[from] InvalidFlagsBaseUrl),
    #[error(transparent)]
    Key(#[from] MalformedKey),
    /// A revoked or expired key.
    #[error("{0}")]
    UnusableKey(String),
    #[error(
        "folder '{folder}' is served by another process; stop that process, or use its DynamoDB with \
         --endpoint-url {endpoint} and the variables in {folder}/dynamodb.env"
    )]
    FolderServed { folder: String, endpoint: String },
    #[error("folder '{0}' is in use by another command; run this one when that has ended")]
    FolderBusy(String),
    /// Nothing has been imported. Commands that only describe numbers can do without.
    #[error("{0}")]
    NoData(String),
    #[error("{0} already exists; pass --force to replace it")]
    FileExists(String),
    #[error("{0} belongs to the data folder and is never replaced; choose another path")]
    OwnFile(String),
    #[error("'{0}' is a file, not a folder; choose another path")]
    NoFolder(String),
    #[error("'{0}' is a folder, not a file; choose another path")]
    IsFolder(String),
    #[error("{url} does not answer")]
    NoAnswer { url: String, source: reqwest::Error },
    #[error("{url} answers {status}")]
    Unhealthy { url: String, status: StatusCode },
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A report could not be fetched. Workarounds follow the causes.
    #[error(
        "{}\n\nDownload these files in a browser and pass them with --nanpa, --cnac and\n\
         --npa-report, in this order, or name a mirror that has them: --mirror URL\n{}",
        with_causes(.0),
        PUBLISHED_ADDRESSES.join("\n")
    )]
    NotFetched(IngestError),
    #[error("the import was refused: {reason}{}", allowing(command.as_deref()))]
    Refused {
        reason: String,
        /// The command that lets the import pass; `None` if none can.
        command: Option<String>,
    },
    #[error("{0} items differ from the current version; run 'verify --repair' to rewrite them")]
    Drift(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// `doctor` found something to act on, and has printed its findings.
    #[error("the examination found {} and {}", counted(*problems, "problem"), counted(*warnings, "warning"))]
    Findings { problems: usize, warnings: usize },
    #[error("nothing could be examined")]
    NothingExamined,
    #[error("no numbering data can be loaded")]
    Dataset(#[from] DatasetError),
    /// The API found nothing. Holds its message.
    #[error("{0}")]
    NotFound(String),
    #[error(transparent)]
    Other(#[from] Cause),
    #[error("{} {} rejected", counted(*.0 as usize, "number"), if *.0 == 1 { "was" } else { "were" })]
    RejectedNumbers(u64),
    #[error("stopped by a signal; nothing is left of the unfinished output")]
    Stopped,
    #[error("the examination could not begin")]
    Unexamined(#[source] Box<Self>),
    #[error("the findings of the examination cannot be shown")]
    Unprinted(#[source] Box<Self>),
}

impl CliError {
    /// The exit code. `doctor` uses those of monitoring plugins: 1 for warnings, 2 for problems, 3
    /// for unknown.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Findings { problems: 1.., .. } => 2,
            Self::Findings { problems: 0, .. } => 1,
            Self::NotFound(_)
            | Self::RejectedNumbers(_)
            | Self::Drift(_)
            | Self::Unhealthy { .. }
            | Self::NoAnswer { .. } => NOT_FOUND_EXIT_CODE,
            Self::Stopped => INTERRUPTED_EXIT_CODE,
            Self::NothingExamined | Self::Unexamined(_) | Self::Unprinted(_) => UNKNOWN_EXIT_CODE,
            _ => FAILURE_EXIT_CODE,
        })
    }

    /// A failure without a source.
    pub(crate) fn failed(context: impl Into<String>) -> Self {
        Self::Failed { context: context.into(), source: None }
    }

    /// A failure with a source, for `map_err`.
    pub(crate) fn io<E: Into<Cause>>(context: impl Into<String>) -> impl FnOnce(E) -> Self {
        let context = context.into();
        move |error| Self::Failed { context, source: Some(error.into()) }
    }
}

/// Adds context to any library's error.
pub(crate) trait Context<T> {
    fn context(self, context: impl Into<String>) -> Result<T, CliError>;
}

impl<T, E: Into<Cause>> Context<T> for Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T, CliError> {
        self.map_err(CliError::io(context))
    }
}

/// The end of a refusal: how to let the import pass.
fn allowing(command: Option<&str>) -> String {
    let advice = "If the files are right, this imports them:";
    command.map_or(String::new(), |command| format!("\n\n{advice}\n{command}"))
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
