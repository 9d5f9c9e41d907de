//! Database damage: SQLite's checks for it, and messages with the remedy.

use std::path::Path;

use dynoxide::DynoxideError;
use ingest::IngestError;
use logging::with_causes;
use rusqlite::{Connection, ErrorCode, ffi};
use store::StoreError;

use crate::{CliError, error::Cause, terminal::next_commands::NextCommands};

/// Damage that makes a database useless, or nearly so.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("SQLite cannot read it")]
    Pages(#[source] Cause),
    /// Something that this program does not write.
    #[error("{0}")]
    Foreign(String),
    #[error("its current version cannot be read")]
    Version(#[source] IngestError),
    #[error("{0} of its items contradict its current version, or cannot be read")]
    Items(usize),
    #[error("its keys cannot be read")]
    Keys(#[source] StoreError),
    #[error("{} of its keys cannot be read: {}", .0.len(), .0.join(", "))]
    SomeKeys(Vec<String>),
}

impl Damage {
    /// The damage that caused a failure; the cause itself if nothing is damaged.
    pub fn behind(cause: Cause) -> Result<Self, Cause> {
        let cause = match cause.downcast::<Self>() {
            Ok(damage) => return Ok(*damage),
            Err(cause) => cause,
        };
        let of_dynoxide = || match cause.downcast_ref() {
            Some(DynoxideError::SqliteError(error)) => Some(error),
            _ => None,
        };
        if cause.downcast_ref().or_else(of_dynoxide).is_some_and(is_damage) {
            Ok(Self::Pages(cause))
        } else {
            Err(cause)
        }
    }

    /// The error for a command that needs this folder's database, with remedies.
    pub fn in_folder(&self, folder: &Path, database: &Path) -> CliError {
        let next = NextCommands::with_options([("--data-dir", folder.display().to_string())]);
        let remedy = match self {
            Self::Items(_) => format!("'{}' rewrites them", next.tnr("verify --repair")),
            Self::Version(_) => format!("'{}' brings another one", next.tnr("import --fetch")),
            Self::SomeKeys(_) => format!(
                "'{}' deletes one, and '{}' makes another",
                next.tnr("keys delete PREFIX"),
                next.tnr("keys create --name NAME")
            ),
            Self::Pages(_) | Self::Foreign(_) | Self::Keys(_) => format!(
                "move its files dynamodb.sqlite* away, and '{}' brings a backup back, or '{}' the \
                 data without the keys",
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
    match Damage::behind(cause) {
        Ok(damage) => damage.in_folder(folder, database),
        Err(cause) => CliError::io(format!("cannot read {}", database.display()))(cause),
    }
}

/// Checks every page of a database, which takes a tenth of a second.
pub fn quick_check(connection: &Connection) -> rusqlite::Result<()> {
    check(connection, "quick_check(1)")
}

/// Runs one of SQLite's checks, which returns `ok` or the problem.
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
