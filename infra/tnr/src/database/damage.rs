//! Damage to a database file: checks for it, and the error with its remedies.

use std::path::Path;

use dynoxide::DynoxideError;
use logging::with_causes;
use rusqlite::{Connection, ErrorCode, ffi};

use crate::{CliError, error::Cause, terminal::next_commands::NextCommands};

/// Checks every page in about 0.1 seconds.
pub const QUICK_CHECK: &str = "quick_check(1)";
/// Also compares tables with their indexes.
pub const FULL_CHECK: &str = "integrity_check(1)";

pub fn check(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let found: String = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let found = found.trim_start_matches("*** in database main ***").trim().replace('\n', "; ");
    Err(damaged(found))
}

/// Rejects views, triggers and other objects that SQLite would run and this program does not create,
/// because a file can come from anywhere.
pub fn reject_unknown_objects(connection: &Connection) -> rusqlite::Result<()> {
    // SQLite creates the indexes of primary keys itself, without a statement.
    let query = "SELECT ifnull(group_concat(name), '') FROM sqlite_schema WHERE sql IS NOT NULL \
                 AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";
    let names: String = connection.query_row(query, [], |row| row.get(0))?;
    if names.is_empty() {
        return Ok(());
    }
    Err(damaged(format!("its schema has unknown objects: {}", names.escape_debug())))
}

/// An error for damaged or unknown content.
pub fn damaged(message: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CORRUPT), Some(message))
}

pub fn is_damage(cause: &Cause) -> bool {
    let error = match cause.downcast_ref() {
        Some(DynoxideError::SqliteError(error)) => Some(error),
        _ => cause.downcast_ref(),
    };
    let code = error.and_then(rusqlite::Error::sqlite_error_code);
    matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

/// The error for a folder's database that failed to open.
pub fn unreadable(database: &Path, cause: Cause) -> CliError {
    let name = database.display();
    if !is_damage(&cause) {
        return CliError::io(format!("cannot read {name}"))(cause);
    }
    let folder = database.parent().unwrap_or(Path::new(".")).display().to_string();
    let next = NextCommands::with_options([("--data-dir", folder)]);
    CliError::failed(format!(
        "database {name} is damaged: {}; move its dynamodb.sqlite* files away, then restore a backup \
         with '{}', or import the data without the keys with '{}'",
        with_causes(&*cause),
        next.tnr("restore FILE"),
        next.tnr("import --fetch")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_schema_objects_are_rejected() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE usage (pk TEXT PRIMARY KEY)").unwrap();
        reject_unknown_objects(&connection).unwrap();
        for (statement, undo) in [
            ("CREATE VIEW x AS SELECT pk FROM usage", "DROP VIEW x"),
            (
                "CREATE TRIGGER x AFTER INSERT ON usage BEGIN DELETE FROM usage; END",
                "DROP TRIGGER x",
            ),
            ("CREATE VIRTUAL TABLE x USING fts5(a)", "DROP TABLE x"),
            ("CREATE INDEX x ON usage (pk) WHERE pk > 1", "DROP INDEX x"),
        ] {
            connection.execute_batch(statement).unwrap();
            let error = reject_unknown_objects(&connection).unwrap_err();
            assert!(is_damage(&error.into()), "{statement}");
            connection.execute_batch(undo).unwrap();
        }
    }
}
