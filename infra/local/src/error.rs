//! Why a command gave up.

use std::{path::Path, process::ExitCode};

use ingest::{IngestError, PUBLISHED_ADDRESSES};
use logging::with_causes;
use reqwest::StatusCode;
use shared::{auth::MalformedKey, flag_images::InvalidFlagsBaseUrl};
use store::{DatasetError, StoreError};

use crate::{
    cause::Cause, database_damage::Damage, key_file::KeyFileError, next_commands::NextCommands,
    number_list::ListError, place::Place,
};

/// The exit code of an examination after which nothing is known.
pub const EXIT_CODE_OF_UNKNOWN: u8 = 3;

/// The exit code where nothing is found, or a check finds what it looks for, as `grep` and `diff` have it.
pub const EXIT_CODE_OF_NOTHING: u8 = 1;

/// The exit code of a failure, and of a command line that is not understood, as `grep` and clap have it.
const EXIT_CODE_OF_FAILURE: u8 = 2;

/// The exit code after Ctrl-C, as shells have it.
const EXIT_CODE_OF_SIGNAL: u8 = 130;

/// Why a command gave up, in words for whoever typed it.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    #[error("{what}")]
    Io { what: String, source: Cause },
    #[error(
        "stack '{stack}' is not a deployment of this service in region '{region}'; \
         give the name that 'sam deploy' was given, and its region as AWS_REGION"
    )]
    NoStack { stack: String, region: String },
    #[error("template.yaml does not define the tables as expected: {0}")]
    Template(String),
    #[error(transparent)]
    FlagsBaseUrl(#[from] InvalidFlagsBaseUrl),
    #[error(transparent)]
    Key(#[from] MalformedKey),
    #[error("the key would have expired already; give a date in the future, or days such as 90d")]
    PastExpiry,
    #[error("API key '{0}…' has been revoked or has expired; give another one")]
    DeadKey(String),
    #[error(
        "API key '{0}…' is damaged in the database; 'tnr keys list' says how to delete it, or give \
         another one"
    )]
    DamagedKey(String),
    #[error(
        "API key '{0}…' still works; revoke it with 'tnr keys revoke', and delete it once clients no \
         longer need it"
    )]
    LiveKey(String),
    #[error(
        "folder '{folder}' is served by another process; stop that process, or use its DynamoDB with \
         --endpoint-url {endpoint} and the variables in {folder}/dynamodb.env"
    )]
    FolderServed { folder: String, endpoint: String },
    #[error("folder '{0}' is in use by another command; run this one when that has ended")]
    FolderBusy(String),
    #[error("{what}; {remedy}")]
    NoDatabase { what: String, remedy: String },
    #[error(
        "folder '{0}' holds a database already; move its files dynamodb.sqlite* away, or name another \
         folder with --data-dir"
    )]
    HasDatabase(String),
    #[error("database {file} is damaged: {}; {remedy}", with_causes(damage))]
    DamagedDatabase { file: String, damage: Box<Damage>, remedy: String },
    #[error("backup {file} is damaged: {}; use another one", with_causes(damage))]
    DamagedBackup { file: String, damage: Box<Damage> },
    #[error("{0} already exists; pass --force to replace it")]
    FileExists(String),
    #[error("{0} belongs to the data folder and is never replaced; choose another path")]
    OwnFile(String),
    #[error("'{0}' must be a folder and is a file; give another name")]
    NoFolder(String),
    #[error("'{0}' must be a file and is a folder; give another name")]
    IsFolder(String),
    #[error("table '{0}' is not ready")]
    TableNotReady(String),
    #[error("{url} does not answer")]
    NoAnswer { url: String, source: reqwest::Error },
    #[error("{url} answers {status}")]
    Unhealthy { url: String, status: StatusCode },
    #[error("stopped by a second signal; the last counts of quotas may not be written")]
    StoppedAtOnce,
    #[error(
        "{0} API keys begin with '{1}'; give a prefix that only one key has ('tnr keys list' shows them)"
    )]
    AmbiguousPrefix(usize, String),
    #[error("file '{file}' cannot be imported")]
    KeyFile { file: String, source: KeyFileError },
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// A report could not be fetched. The ways around it follow the causes.
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
        /// What lets the import pass; `None` if nothing does.
        command: Option<String>,
    },
    #[error("{0} items differ from the current version; run 'verify --repair' to rewrite them")]
    Drift(usize),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The examination found something to act on. Its findings have been printed.
    #[error("the examination found {} and {}", counted(*problems, "problem"), counted(*warnings, "warning"))]
    Findings { problems: usize, warnings: usize },
    #[error("nothing could be examined")]
    NothingExamined,
    #[error("there is no numbering data yet in {place}; {remedy}")]
    NoData { place: String, remedy: String },
    #[error("no numbering data can be loaded")]
    Dataset(#[from] DatasetError),
    /// The API has no answer, in its words.
    #[error("{0}")]
    NotFound(String),
    /// The API failed to answer, in its words.
    #[error("{0}")]
    Unanswered(String),
    /// The API does not understand what was typed, in its words.
    #[error("{0}")]
    NotUnderstood(String),
    #[error("there is no list; name a file, or pipe numbers in")]
    NoList,
    #[error(transparent)]
    List(#[from] ListError),
    #[error("{} {} rejected", counted(*.0 as usize, "number"), if *.0 == 1 { "was" } else { "were" })]
    RejectedNumbers(u64),
    #[error("stopped by a signal; nothing is left of the unfinished output")]
    Stopped,
    #[error("a database holds all tables in one file; name that, without --table")]
    DatabaseExport,
    #[error("the standard output takes one table; pass --table, or name a folder")]
    SeveralTables,
    #[error("the examination could not begin")]
    Unexamined(#[source] Box<Self>),
    #[error("the findings of the examination cannot be shown")]
    Unprinted(#[source] Box<Self>),
}

impl LocalError {
    /// The exit code of the program. Those of an examination are the ones that monitoring plugins have:
    /// 1 for warnings, 2 for problems, 3 if nothing is known.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Findings { problems: 1.., .. } => ExitCode::from(2),
            Self::Findings { problems: 0, .. } => ExitCode::from(1),
            Self::NotFound(_)
            | Self::RejectedNumbers(_)
            | Self::Drift(_)
            | Self::Unhealthy { .. }
            | Self::NoAnswer { .. } => ExitCode::from(EXIT_CODE_OF_NOTHING),
            Self::Stopped => ExitCode::from(EXIT_CODE_OF_SIGNAL),
            Self::NothingExamined | Self::Unexamined(_) | Self::Unprinted(_) => {
                ExitCode::from(EXIT_CODE_OF_UNKNOWN)
            }
            _ => ExitCode::from(EXIT_CODE_OF_FAILURE),
        }
    }

    /// Whether nothing has been imported yet, which those can do without who only describe numbers.
    pub(crate) fn is_lack_of_data(&self) -> bool {
        matches!(self, Self::NoDatabase { .. } | Self::NoData { .. })
    }

    /// Nothing has been stored at the place that the arguments name.
    pub(crate) fn no_database(place: &Place, next: &NextCommands) -> Self {
        let what = match place {
            Place::Folder(_) => format!("there is no database in {place}"),
            Place::Endpoint(_) | Place::Stack(_) => {
                format!("{place} has no tables of this service")
            }
        };
        Self::NoDatabase { what, remedy: bring_data(place, next) }
    }

    /// The database at the place that the arguments name has no version of the data.
    pub(crate) fn no_data(place: &Place, next: &NextCommands) -> Self {
        Self::NoData { place: place.to_string(), remedy: bring_data(place, next) }
    }

    /// The error of a command that needs the database of a folder, with the ways out.
    pub(crate) fn damaged_database(damage: Damage, folder: &Path, database: &Path) -> Self {
        let folder = folder.to_string_lossy().into_owned();
        let next = NextCommands::with_options([("--data-dir", folder)]);
        let remedy = match &damage {
            Damage::Items(_) => format!("'{}' rewrites them", next.tnr("verify --repair")),
            Damage::Version(_) => format!("'{}' brings another one", next.tnr("import --fetch")),
            Damage::SomeKeys(_) => format!(
                "'{}' deletes one, and '{}' makes another",
                next.tnr("keys delete PREFIX"),
                next.tnr("keys create --name NAME")
            ),
            Damage::Pages(_)
            | Damage::Catalog(_)
            | Damage::Foreign
            | Damage::ForeignPart(_)
            | Damage::Keys(_) => format!(
                "move its files dynamodb.sqlite* away, and '{}' brings a backup back, or '{}' the \
                 data without the keys",
                next.tnr("restore FILE"),
                next.tnr("import --fetch")
            ),
        };
        Self::DamagedDatabase {
            file: database.display().to_string(),
            damage: Box::new(damage),
            remedy,
        }
    }

    /// The error of a backup that is of no use.
    pub(crate) fn damaged_backup(damage: Damage, file: &Path) -> Self {
        Self::DamagedBackup { file: file.display().to_string(), damage: Box::new(damage) }
    }

    pub(crate) fn io<E: Into<Cause>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |error| Self::Io { what, source: error.into() }
    }
}

/// The commands that bring data to a place.
fn bring_data(place: &Place, next: &NextCommands) -> String {
    let import = format!("'{}' fetches the published reports", next.tnr("import --fetch"));
    match place {
        // A stack is not served from here.
        Place::Stack(_) => import,
        Place::Endpoint(_) => {
            format!("{import}, and '{}' brings a made-up sample", next.tnr("serve --sample"))
        }
        Place::Folder(_) => {
            format!("{import}, and '{}' brings a made-up sample", next.tnr("serve"))
        }
    }
}

/// The end of a refusal: what lets the import pass.
fn allowing(command: Option<&str>) -> String {
    let advice = "If the files are right, this imports them:";
    command.map_or(String::new(), |command| format!("\n\n{advice}\n{command}"))
}

pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
