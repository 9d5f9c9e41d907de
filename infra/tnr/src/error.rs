//! Command errors and their exit codes.

use std::{error::Error, process::ExitCode};

use indicatif::HumanCount;
use ingest::{Gate, IngestError};
use logging::with_causes;
use reqwest::StatusCode;
use shared::auth::MalformedKey;
use store::{DatasetError, StoreError};

pub type Cause = Box<dyn Error + Send + Sync>;

/// Exit code if nothing is found or a check fails, as in `grep` and `diff`.
pub const NOT_FOUND_EXIT_CODE: u8 = 1;

/// Exit code for errors and incorrect usage, as in `grep` and clap.
pub const FAILURE_EXIT_CODE: u8 = 2;

/// Exit code after Ctrl-C, as in shells.
const INTERRUPTED_EXIT_CODE: u8 = 130;

#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("{context}")]
    Failed { context: String, source: Option<Cause> },
    #[error(
        "stack '{stack}' is not a deployment of this service in region '{region}'; \
         pass the name that you deployed it with, and set AWS_REGION to its region"
    )]
    NoStack { stack: String, region: String },
    #[error(transparent)]
    Key(#[from] MalformedKey),
    #[error("{0}")]
    UnusableKey(String),
    #[error(
        "folder '{folder}' is served by another process; stop that process, or use its DynamoDB with \
         --endpoint-url {endpoint} and the variables in {folder}/dynamodb.env"
    )]
    FolderInUseByServer { folder: String, endpoint: String },
    #[error("folder '{0}' is in use by another command; try again when that one is done")]
    FolderBusy(String),
    /// Nothing has been imported yet. Commands that only format numbers work without data.
    #[error("{0}")]
    NoData(String),
    #[error("{0} already exists; pass --force to replace it")]
    FileExists(String),
    #[error("{0} belongs to a data folder, so it is never replaced; choose another path")]
    DataFolderFile(String),
    #[error("'{0}' is a file, not a folder; choose another path")]
    NotAFolder(String),
    #[error("'{0}' is a folder, not a file; choose another path")]
    IsFolder(String),
    #[error("{url} is not responding")]
    NoResponse { url: String, source: reqwest::Error },
    #[error("{url} returned {status}")]
    Unhealthy { url: String, status: StatusCode },
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A report could not be downloaded. Lists the commands that import it from files.
    #[error(
        "{}\nDownload the files where the network allows it, then import them:\n\n{commands}",
        with_causes(error)
    )]
    NotFetched { error: IngestError, commands: String },
    #[error("the import was refused: {reason}{}", override_advice(gates))]
    Refused {
        reason: String,
        /// The gates to pass to `--allow`; empty if the import cannot be allowed.
        gates: Vec<Gate>,
    },
    #[error(
        "{} missing, damaged or different from the current version; run 'verify --repair'",
        pluralize(*.0, "item")
    )]
    Drift(usize),
    #[error(
        "parts of the history are lost; restore table 'history', or give up older changes with \
         'import --restart-history'"
    )]
    LostHistory,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot load the numbering data")]
    Dataset(#[from] DatasetError),
    /// The API's message for a record that does not exist.
    #[error("{0}")]
    NotFound(String),
    #[error(transparent)]
    Other(#[from] Cause),
    #[error("{} {} rejected", pluralize(*.0 as usize, "number"), if *.0 == 1 { "was" } else { "were" })]
    RejectedNumbers(u64),
    #[error("stopped by a signal; unfinished output was deleted")]
    Stopped,
}

impl CliError {
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::NotFound(_)
            | Self::RejectedNumbers(_)
            | Self::Drift(_)
            | Self::LostHistory
            | Self::Unhealthy { .. }
            | Self::NoResponse { .. } => NOT_FOUND_EXIT_CODE,
            Self::Stopped => INTERRUPTED_EXIT_CODE,
            _ => FAILURE_EXIT_CODE,
        })
    }

    pub(crate) fn failed(context: impl Into<String>) -> Self {
        Self::Failed { context: context.into(), source: None }
    }

    /// Returns a `map_err` function that adds context to a failure.
    pub(crate) fn io<E: Into<Cause>>(context: impl Into<String>) -> impl FnOnce(E) -> Self {
        let context = context.into();
        move |error| Self::Failed { context, source: Some(error.into()) }
    }
}

pub(crate) trait Context<T> {
    fn context(self, context: impl Into<String>) -> Result<T, CliError>;
}

impl<T, E: Into<Cause>> Context<T> for Result<T, E> {
    fn context(self, context: impl Into<String>) -> Result<T, CliError> {
        self.map_err(CliError::io(context))
    }
}

fn override_advice(gates: &[Gate]) -> String {
    if gates.is_empty() {
        return String::new();
    }
    let gates = gates.iter().map(Gate::to_string).collect::<Vec<_>>().join(",");
    format!("\n\nIf the files are correct, import them with --allow {gates}")
}

pub(crate) fn pluralize(count: usize, what: &str) -> String {
    format!("{} {what}{}", HumanCount(count as u64), if count == 1 { "" } else { "s" })
}
