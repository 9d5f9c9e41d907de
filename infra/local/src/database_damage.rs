//! What damage of a database there is, and the checks of SQLite that find it.

use ingest::IngestError;
use rusqlite::{Connection, ErrorCode, ffi};
use store::StoreError;

use crate::{
    cause::Cause,
    database_catalog::DamagedCatalog,
    database_schema::{ForeignPart, SchemaError},
};

/// Why a database is of no use, or of little.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    #[error("SQLite cannot read it")]
    Pages(#[source] rusqlite::Error),
    #[error("it is no database of this program")]
    Foreign,
    #[error("{0}")]
    ForeignPart(ForeignPart),
    #[error("{0}")]
    Catalog(DamagedCatalog),
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
    /// The damage that made SQLite fail; the cause itself if it was something else.
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
        let cause = match cause.downcast::<DamagedCatalog>() {
            Ok(damaged) => return Ok(Self::Catalog(*damaged)),
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
}

/// Looks at every page of a database, which takes a tenth of a second.
pub fn quick_check(connection: &Connection) -> Result<(), rusqlite::Error> {
    check(connection, "quick_check(1)")
}

/// Runs one of the checks of SQLite, which answers with what is wrong, or with `ok`.
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
