//! Database damage: checks for it, and error messages with remedies.

use std::path::Path;

use dynoxide::DynoxideError;
use indicatif::HumanCount;
use ingest::IngestError;
use logging::with_causes;
use rusqlite::{Connection, ErrorCode, ffi};
use store::StoreError;

use crate::{CliError, error::Cause, terminal::next_commands::NextCommands};

/// Damage to a database.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("SQLite cannot read it")]
    Pages(#[source] Cause),
    /// Content that this program does not write.
    #[error("{0}")]
    Unrecognized(String),
    #[error("its current version is unreadable")]
    Version(#[source] IngestError),
    #[error("{} of its items contradict its current version or are unreadable", HumanCount(*.0 as u64))]
    Items(usize),
    #[error("its keys are unreadable")]
    Keys(#[source] StoreError),
    #[error("some of its keys are unreadable: {}", .0.join(", "))]
    SomeKeys(Vec<String>),
}

impl Damage {
    /// Returns the damage that caused a failure, or the cause itself if nothing is damaged.
    pub fn from_cause(cause: Cause) -> Result<Self, Cause> {
        let cause = match cause.downcast::<Self>() {
            Ok(damage) => return Ok(*damage),
            Err(cause) => cause,
        };
        let dynoxide_error = || match cause.downcast_ref() {
            Some(DynoxideError::SqliteError(error)) => Some(error),
            _ => None,
        };
        if cause.downcast_ref().or_else(dynoxide_error).is_some_and(is_damage) {
            Ok(Self::Pages(cause))
        } else {
            Err(cause)
        }
    }

    /// The error for this folder's database, with remedies.
    pub fn to_error(&self, folder: &Path, database: &Path) -> CliError {
        let next = NextCommands::with_options([("--data-dir", folder.display().to_string())]);
        let remedy = match self {
            Self::Items(_) => format!("rewrite them with '{}'", next.tnr("verify --repair")),
            Self::Version(_) => format!("import another with '{}'", next.tnr("import --fetch")),
            Self::SomeKeys(_) => format!(
                "delete them with '{}', and create new ones with '{}'",
                next.tnr("keys delete PREFIX"),
                next.tnr("keys create --name NAME")
            ),
            Self::Pages(_) | Self::Unrecognized(_) | Self::Keys(_) => format!(
                "move its dynamodb.sqlite* files away, then restore a backup with '{}', or import the \
                 data without the keys with '{}'",
                next.tnr("restore FILE"),
                next.tnr("import --fetch")
            ),
        };
        let (database, damage) = (database.display(), with_causes(self));
        CliError::failed(format!("database {database} is damaged: {damage}; {remedy}"))
    }
}

/// The error for a folder's unreadable database.
pub fn unreadable(folder: &Path, database: &Path, cause: Cause) -> CliError {
    match Damage::from_cause(cause) {
        Ok(damage) => damage.to_error(folder, database),
        Err(cause) => CliError::io(format!("cannot read {}", database.display()))(cause),
    }
}

/// Checks every page of a database in about 0.1 seconds.
pub fn quick_check(connection: &Connection) -> rusqlite::Result<()> {
    check(connection, "quick_check(1)")
}

/// Runs one of SQLite's checks.
pub fn check(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let found: String = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let found = found.trim_start_matches("*** in database main ***").trim().replace('\n', "; ");
    Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(found)))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    let codes = [ErrorCode::NotADatabase, ErrorCode::DatabaseCorrupt];
    error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}
