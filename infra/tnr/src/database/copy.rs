//! Reads a folder's database while other processes write to it, without changing the folder.
//!
//! SQLite can read alongside a writer if it may create files. Otherwise the database is read as
//! immutable. That is safe if no process has it open, which is checked again afterwards.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use dynoxide::Database as Dynoxide;
use reqwest::Url;
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
};

use crate::{
    database::{
        damage::{QUICK_CHECK, check, reject_unknown_objects},
        data_folder::database_files,
    },
    error::Cause,
};

/// Maximum wait for a lock. Only opening or closing a database blocks readers; writing does not.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// Attempts to read while others open or close the database, and the delay between them.
const MAX_ATTEMPTS: usize = 20;
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Copies a consistent snapshot of the database into memory. The second value describes damaged pages, if
/// any; the rest is readable.
pub fn in_memory(database: &Path) -> Result<(Dynoxide, Option<rusqlite::Error>), Cause> {
    read(database, |source| {
        // Two connections in this process share the copy by name. Other processes cannot open it.
        let name = format!("file:tnr-{:016x}?mode=memory&cache=shared", rand::random::<u64>());
        let mut copy = Connection::open(&name)?;
        copy_all(source, &mut copy)?;
        let damage = check(&copy, QUICK_CHECK).err();
        // Upgrades a copy of an older database.
        Ok((Dynoxide::new(&name)?, damage))
    })
}

/// Copies every page in one transaction.
fn copy_all(source: &Connection, copy: &mut Connection) -> Result<(), Cause> {
    const ALL_PAGES: i32 = -1;
    match Backup::new(source, copy)?.step(ALL_PAGES)? {
        StepResult::Done => Ok(()),
        _ => Err("the database is locked".into()),
    }
}

/// Runs `work` on a read-only connection, and repeats it if others open or close the database in between.
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

/// The state of a database that changes when others open, write to or close it.
#[derive(PartialEq, Eq)]
struct State {
    /// `true` if SQLite's companion files exist: a process has the database open, or was killed.
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
}
