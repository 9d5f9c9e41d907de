//! Reads a folder's database while other processes write to it, without changing the folder. Checks it for damage.
//!
//! SQLite can read alongside a writer if it may create files. If not, the database is read as
//! immutable. This is safe if no process has the database open, which is checked again afterward.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use dynoxide::{Database as Dynoxide, DynoxideError};
use logging::with_causes;
use reqwest::Url;
use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
    ffi,
};

use crate::{
    CliError, database::data_folder::database_files, error::Cause, terminal::NextCommands,
};

/// The maximum wait for a lock. Only opening or closing a database blocks readers; writing does not.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// The number of attempts to read while others open or close the database, and the delay between them.
const MAX_ATTEMPTS: usize = 20;
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Copies a consistent snapshot of the database into memory. The second value describes any damaged pages.
/// The rest is readable.
pub fn in_memory(database: &Path) -> Result<(Dynoxide, Option<rusqlite::Error>), Cause> {
    read(database, |source| {
        // Two connections in this process share the copy by name. Other processes cannot open it.
        let name = format!("file:tnr-{:016x}?mode=memory&cache=shared", rand::random::<u64>());
        let mut copy = Connection::open(&name)?;
        copy_all(source, &mut copy)?;
        let damage = check(&copy, QUICK_CHECK).err();
        // Upgrades the copy of an older database.
        Ok((Dynoxide::new(&name)?, damage))
    })
}

fn copy_all(source: &Connection, copy: &mut Connection) -> Result<(), Cause> {
    const ALL_PAGES: i32 = -1;
    match Backup::new(source, copy)?.step(ALL_PAGES)? {
        StepResult::Done => Ok(()),
        _ => Err("the database is locked".into()),
    }
}

/// Runs `work` on a read-only connection. Retries if another process opens or closes the database in the meantime.
pub fn read<T>(
    database: &Path,
    work: impl Fn(&Connection) -> Result<T, Cause>,
) -> Result<T, Cause> {
    let mut attempts = 1;
    loop {
        let before = State::read(database);
        let result = open(database, before.is_in_use).and_then(|connection| work(&connection));
        let is_reliable = result.is_ok() && before.is_in_use || State::read(database) == before;
        if is_reliable || attempts == MAX_ATTEMPTS {
            return result;
        }
        attempts += 1;
        thread::sleep(RETRY_DELAY);
    }
}

fn open(database: &Path, is_in_use: bool) -> Result<Connection, Cause> {
    let path = std::path::absolute(database)?;
    let url =
        Url::from_file_path(&path).map_err(|()| format!("{} is not a path", path.display()))?;
    let mode = if is_in_use { "mode=ro" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("{url}?{mode}"), flags)?;
    connection.busy_timeout(MAX_LOCK_WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    reject_unknown_objects(&connection)?;
    Ok(connection)
}

/// The state of a database, which changes when others open it, write to it or close it.
#[derive(PartialEq, Eq)]
struct State {
    /// `true` if SQLite's companion files exist: a process has the database open or was killed.
    is_in_use: bool,
    length: Option<u64>,
    modified: Option<SystemTime>,
}

impl State {
    fn read(database: &Path) -> Self {
        let metadata = fs::metadata(database).ok();
        Self {
            is_in_use: database_files(database).skip(1).any(|file| file.exists()),
            length: metadata.as_ref().map(fs::Metadata::len),
            modified: metadata.and_then(|metadata| metadata.modified().ok()),
        }
    }
}

/// Checks every page in about 0.1 seconds.
pub const QUICK_CHECK: &str = "quick_check(1)";
/// Also compares tables with indexes.
pub const FULL_CHECK: &str = "integrity_check(1)";

pub fn check(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    let found: String = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let found = found.trim_start_matches("*** in database main ***").trim().replace('\n', "; ");
    Err(damaged(found))
}

/// Rejects views, triggers and other objects that SQLite would run and this program never creates,
/// because the file can come from anywhere.
pub fn reject_unknown_objects(connection: &Connection) -> rusqlite::Result<()> {
    // SQLite creates primary key indexes itself, without a statement.
    let query = "SELECT ifnull(group_concat(name), '') FROM sqlite_schema WHERE sql IS NOT NULL \
                 AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";
    let names: String = connection.query_row(query, [], |row| row.get(0))?;
    if names.is_empty() {
        return Ok(());
    }
    Err(damaged(format!("its schema has unknown objects: {}", names.escape_debug())))
}

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
    use std::cell::Cell;

    use super::*;

    #[test]
    fn databases_that_change_during_a_read_are_read_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("a name%41 of? a #URI.sqlite");
        Connection::open(&database).unwrap().execute("CREATE TABLE a (b)", []).unwrap();
        // Modification times are only as precise as the system clock.
        thread::sleep(RETRY_DELAY);
        let attempts = Cell::new(0);
        let rows = read(&database, |connection| {
            attempts.set(attempts.get() + 1);
            let rows = connection.query_row("SELECT count(*) FROM a", [], |row| row.get(0))?;
            if attempts.get() == 1 {
                Connection::open(&database)?.execute("INSERT INTO a VALUES (1)", [])?;
            }
            Ok::<i64, Cause>(rows)
        });
        assert_eq!((rows.unwrap(), attempts.get()), (1, 2));
    }

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
