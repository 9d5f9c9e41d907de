//! Reads a folder's embedded database while others write it, without changing the folder.
//!
//! SQLite allows readers next to a writer if it may create files next to the database. A folder
//! where it may not, or where nothing may be left behind, is read as immutable. That is safe while
//! no process has the database open, which is checked afterwards.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use dynoxide::Database as Dynoxide;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
};

use crate::{
    database::{
        damage::{Damage, quick_check},
        damaged_items::{Scope, isolate},
        data_folder::files_of_database,
        schema::distrust,
    },
    error::Cause,
};

/// Maximum wait for a lock. Writers never block readers; only opening or closing the database does.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// Attempts while others open or close the database, and the delay between them.
const ATTEMPTS: usize = 20;
const WAIT: Duration = Duration::from_millis(50);

/// Characters to escape in the path of a `file:` URI.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// An in-memory copy of a database.
pub struct Copy {
    pub database: Dynoxide,
    /// Damage to some pages. The others are still readable.
    pub damage: Option<Damage>,
}

/// Copies a consistent snapshot of the database into memory.
pub fn in_memory(database: &Path, scope: Scope) -> Result<Copy, Cause> {
    read(database, |source| {
        // Two connections in this process share the copy by name; no one else can see it.
        let name = format!("file:tnr-{:016x}?mode=memory&cache=shared", rand::random::<u64>());
        let mut copy = Connection::open(&name)?;
        copy_all(source, &mut copy)?;
        let checked = quick_check(&copy).map_err(Cause::from);
        let checked = checked.and_then(|()| isolate(&copy, scope));
        let damage = checked.err().map(Damage::behind).transpose()?;
        // Upgrades the copy if an earlier release wrote the database.
        Ok(Copy { database: Dynoxide::new(&name)?, damage })
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

/// Runs `work` on a read-only connection, and retries if others open or close the database
/// meanwhile.
pub fn read<T>(
    database: &Path,
    work: impl Fn(&Connection) -> Result<T, Cause>,
) -> Result<T, Cause> {
    let mut attempts = 1;
    loop {
        let before = State::read(database);
        let done = open(database, before.is_in_use).and_then(|connection| work(&connection));
        let is_certain = done.is_ok() && before.is_in_use || State::read(database) == before;
        if is_certain || attempts == ATTEMPTS {
            return done;
        }
        attempts += 1;
        thread::sleep(WAIT);
    }
}

fn open(database: &Path, is_in_use: bool) -> Result<Connection, Cause> {
    let path = std::path::absolute(database)?;
    let path = path.to_str().ok_or("its name must be Unicode")?.replace('\\', "/");
    let root = if path.starts_with('/') { "" } else { "/" };
    let path = utf8_percent_encode(&path, IN_PATH);
    let mode = if is_in_use { "mode=ro" } else { "immutable=1" };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(format!("file:{root}{path}?{mode}"), flags)?;
    connection.busy_timeout(MAX_LOCK_WAIT)?;
    distrust(&connection)?;
    Ok(connection)
}

/// Signs that a database has changed.
#[derive(PartialEq, Eq)]
struct State {
    /// Files next to the database: a process has it open, or was killed while it did.
    is_in_use: bool,
    length: Option<u64>,
    modified: Option<SystemTime>,
}

impl State {
    fn read(database: &Path) -> Self {
        let metadata = fs::metadata(database).ok();
        Self {
            is_in_use: files_of_database(database).skip(1).any(|file| file.exists()),
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
    fn databases_that_change_meanwhile_are_read_again() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("a name%41 of? a #URI.sqlite");
        let schema = "CREATE TABLE _config ( key TEXT PRIMARY KEY, value TEXT NOT NULL )";
        Connection::open(&database).unwrap().execute(schema, []).unwrap();
        // Modification times have the resolution of the system clock's tick.
        thread::sleep(WAIT);
        let attempts = Cell::new(0);
        let rows = read(&database, |connection| {
            attempts.set(attempts.get() + 1);
            let rows =
                connection.query_row("SELECT count(*) FROM _config", [], |row| row.get(0))?;
            if attempts.get() == 1 {
                Connection::open(&database)?
                    .execute("INSERT INTO _config VALUES ('a', 'b')", [])?;
            }
            Ok::<i64, Cause>(rows)
        });
        assert_eq!((rows.unwrap(), attempts.get()), (1, 2));
    }
}
