//! Checks that a database reads back: its pages, the versions of the data in it, and the keys.
//!
//! Every command checks the pages of the database that it opens. A backup, which may be all that is left
//! one day, is read as a whole.

use std::path::Path;

use dynoxide::{Database as Dynoxide, actions::list_tables::ListTablesRequest};
use ingest::{IngestError, Repair};
use numbering::records::Version;
use rusqlite::{Connection, ErrorCode, ffi};
use store::{DatasetError, Store, StoreError};

use crate::{
    LocalError,
    damaged_items::Scope,
    database::Database,
    database_copy,
    database_schema::{ForeignPart, SchemaError},
    error::Cause,
    next_commands::NextCommands,
};

/// Why a database is of no use, or of little.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("SQLite cannot read it")]
    Pages(#[source] rusqlite::Error),
    #[error("what it says of its tables cannot be read")]
    Tables(#[source] serde_json::Error),
    #[error("it is no database of this program")]
    Foreign,
    #[error("{0}")]
    ForeignPart(ForeignPart),
    #[error("its current version cannot be read")]
    Version(#[source] IngestError),
    #[error("{0} of its items contradict its current version, or cannot be read")]
    Items(usize),
    #[error("its keys cannot be read")]
    Keys(#[source] StoreError),
    #[error("{} of its keys cannot be read: {}", .0.len(), .0.join(", "))]
    SomeKeys(Vec<String>),
}

/// What a database that reads back holds.
#[derive(Debug)]
pub struct Contents {
    /// The current version and the number of its items; `None` before the first import.
    pub current: Option<(Version, usize)>,
    pub keys: usize,
    /// Retained versions to which no rollback can lead.
    pub unreadable: Vec<Version>,
}

impl Damage {
    /// The damage that made SQLite fail; the cause itself if it was something else.
    ///
    /// # Errors
    /// Returns the cause if it does not tell that a database is damaged.
    pub fn behind(cause: Cause) -> Result<Self, Cause> {
        let cause = match cause.downcast::<SchemaError>().map(|error| *error) {
            Ok(SchemaError::Foreign(part)) => return Ok(Self::ForeignPart(part)),
            Ok(SchemaError::Unreadable(error)) => error.into(),
            Err(cause) => cause,
        };
        let cause = match cause.downcast::<rusqlite::Error>() {
            Ok(error) if is_damage(&error) => return Ok(Self::Pages(*error)),
            Ok(error) => return Err(error),
            Err(cause) => cause,
        };
        let cause = match cause.downcast::<serde_json::Error>() {
            Ok(error) => return Ok(Self::Tables(*error)),
            Err(cause) => cause,
        };
        match cause.downcast::<dynoxide::DynoxideError>().map(|error| *error) {
            Ok(dynoxide::DynoxideError::SqliteError(error)) if is_damage(&error) => {
                Ok(Self::Pages(error))
            }
            Ok(error) => Err(error.into()),
            Err(cause) => Err(cause),
        }
    }

    /// The error of a command that needs the database of a folder, with the ways out.
    pub fn in_folder(self, folder: &Path, database: &Path) -> LocalError {
        let folder = folder.to_string_lossy().into_owned();
        let next = NextCommands::with_options([("--data-dir", folder)]);
        let remedy = match &self {
            Self::Items(_) => format!("'{}' rewrites them", next.tnr("verify --repair")),
            Self::Version(_) => format!("'{}' brings another one", next.tnr("import --fetch")),
            Self::SomeKeys(_) => format!(
                "'{}' deletes one, and '{}' makes another",
                next.tnr("keys delete PREFIX"),
                next.tnr("keys create --name NAME")
            ),
            Self::Pages(_)
            | Self::Tables(_)
            | Self::Foreign
            | Self::ForeignPart(_)
            | Self::Keys(_) => format!(
                "move its files dynamodb.sqlite* away, and '{}' brings a backup back, or '{}' the \
                 data without the keys",
                next.tnr("restore FILE"),
                next.tnr("import --fetch")
            ),
        };
        LocalError::DamagedDatabase {
            file: database.display().to_string(),
            damage: Box::new(self),
            remedy,
        }
    }

    /// The error of a backup that is of no use.
    pub fn in_backup(self, file: &Path) -> LocalError {
        LocalError::DamagedBackup { file: file.display().to_string(), damage: Box::new(self) }
    }
}

/// Looks at every page of a database, which takes a tenth of a second.
///
/// # Errors
/// Returns an error if a page is damaged.
pub fn quick_check(connection: &Connection) -> Result<(), rusqlite::Error> {
    check(connection, "quick_check(1)")
}

/// Reads all that a database file holds, and changes nothing.
///
/// # Errors
/// Returns the damage if a part of the file cannot be read, and the cause if the file cannot be opened.
pub async fn contents(file: &Path) -> Result<Contents, Result<Damage, Cause>> {
    database_copy::read(file, |connection| Ok(check(connection, "integrity_check(1)")?))
        .map_err(Damage::behind)?;
    let copied = database_copy::in_memory(file, Scope::Everything).map_err(Damage::behind)?;
    if !has_tables(&copied.database).map_err(|error| Err(error.into()))? {
        return Err(Ok(Damage::Foreign));
    }
    let database = Database::of_copy(copied.database).await.map_err(|error| Err(error.into()))?;
    let read = read_all(&database.store()).await;
    database.close().await;
    read.map_err(Ok)
}

/// Any database that this program ever opened has tables.
fn has_tables(database: &Dynoxide) -> Result<bool, dynoxide::DynoxideError> {
    Ok(!database.list_tables(ListTablesRequest::default())?.table_names.is_empty())
}

async fn read_all(store: &Store) -> Result<Contents, Damage> {
    let keys = store.all_api_keys().await.map_err(Damage::Keys)?;
    if !keys.damaged.is_empty() {
        let names = keys.damaged.into_iter().map(|key| key.name);
        return Err(Damage::SomeKeys(names.collect()));
    }
    let keys = keys.readable.len();
    let unreadable = |error: StoreError| Damage::Version(error.into());
    let Some(manifest) = store.manifest().await.map_err(unreadable)? else {
        return Ok(Contents { current: None, keys, unreadable: Vec::new() });
    };
    let items = match ingest::verify(store, Repair::No, None, |_| ()).await {
        Ok(found) if found.drift.contradicting + found.drift.unreadable > 0 => {
            return Err(Damage::Items(found.drift.contradicting + found.drift.unreadable));
        }
        Ok(found) if found.passed_over.is_empty() => found.items,
        // Another release reads it, if its bytes are those that were written.
        Ok(_) | Err(IngestError::Current(DatasetError::NoneReadable { .. })) => {
            store.snapshot(&manifest.current).await.map_err(unreadable)?;
            0
        }
        Err(error) => return Err(Damage::Version(error)),
    };
    let mut unreadable = Vec::new();
    for retained in &manifest.retained {
        if store.snapshot(retained).await.is_err() {
            unreadable.push(retained.version.clone());
        }
    }
    Ok(Contents { current: Some((manifest.current.version, items)), keys, unreadable })
}

/// Runs one of the checks of SQLite, which answers with what is wrong, or with `ok`.
///
/// # Errors
/// Returns an error if something is wrong.
pub fn check(connection: &Connection, name: &str) -> Result<(), rusqlite::Error> {
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
