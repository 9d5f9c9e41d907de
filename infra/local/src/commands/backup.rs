//! Copies the embedded database into a file while it is served, and makes a database from such a file.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process,
    time::Duration,
};

use dynoxide::Database as Dynoxide;
use rusqlite::{Connection, OpenFlags};

use crate::{
    LocalError,
    args::{BackupArgs, RestoreArgs},
    database::{DATABASE_FILE, FolderLock},
    private_file,
};

/// How long to wait for a lock on the database. A writer never holds up a reader, so that only the
/// moment of opening or closing it can make one wait.
const LONGEST_LOCK: Duration = Duration::from_secs(10);

/// Copies the database of the folder as it is at one moment. Whoever serves it is not held up.
///
/// The copy has its name only once it is complete and on the disk.
///
/// # Errors
/// Returns an error if the folder holds no database, the file exists, or it cannot be written.
pub fn backup(args: &BackupArgs) -> Result<(), LocalError> {
    let (database, file) = (args.data_dir.join(DATABASE_FILE), &args.file);
    if !database.exists() {
        return Err(LocalError::NoDatabase(args.data_dir.display().to_string()));
    }
    if file.exists() {
        return Err(LocalError::FileExists(file.display().to_string()));
    }
    let unfinished = unfinished(file);
    let copied = copy(&database, &unfinished).and_then(|()| {
        let failed = format!("cannot write {}", file.display());
        fs::rename(&unfinished, file).map_err(LocalError::io(failed))
    });
    if copied.is_err() {
        // Nothing can be made of a part of a copy.
        _ = fs::remove_file(&unfinished);
    }
    copied?;
    println!("{} holds the data, the hashes of the keys, and their usage.", file.display());
    Ok(())
}

/// Copies a database into a new file. SQLite reads it in one transaction, so that the copy has all of
/// a write or nothing of it. The database is opened for reading only: another release may be serving
/// it, whose file this one must not upgrade.
fn copy(database: &Path, file: &Path) -> Result<(), LocalError> {
    let failed = || LocalError::io(format!("cannot copy {}", database.display()));
    let cannot_write = || LocalError::io(format!("cannot write {}", file.display()));
    // SQLite writes into an empty file that exists, and would make one that others can read.
    let copy = private_file::create(file).map_err(cannot_write())?;
    let connection = Connection::open_with_flags(
        database,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(failed())?;
    connection.busy_timeout(LONGEST_LOCK).map_err(failed())?;
    connection.execute("VACUUM INTO ?1", [file.to_string_lossy()]).map_err(failed())?;
    copy.sync_all().map_err(cannot_write())
}

/// The name of the file while it is written.
fn unfinished(file: &Path) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(format!(".unfinished-{}", process::id()));
    PathBuf::from(name)
}

/// Makes the database of a folder from a backup. The folder must have none, so that no data is
/// replaced by mistake.
///
/// # Errors
/// Returns an error if the folder holds a database or is in use, or the file is no backup.
pub fn restore(args: &RestoreArgs) -> Result<(), LocalError> {
    let folder = args.data_dir.display().to_string();
    let lock = FolderLock::take(&args.data_dir)?;
    let database = args.data_dir.join(DATABASE_FILE);
    if database.exists() {
        return Err(LocalError::HasDatabase(folder));
    }
    let unfinished = unfinished(&database);
    let failed = || format!("cannot restore {}", args.file.display());
    // It has its name only once it is complete.
    let restored = copy_back(&args.file, &unfinished)
        .map_err(LocalError::io(failed()))
        .and_then(|()| fs::rename(&unfinished, &database).map_err(LocalError::io(failed())));
    if restored.is_err() {
        _ = fs::remove_file(&unfinished);
    }
    restored?;
    drop(lock);
    println!("Folder {folder} holds the data of {}.", args.file.display());
    Ok(())
}

/// Copies a backup into a new database, and upgrades it if an earlier release wrote it.
fn copy_back(backup: &Path, database: &Path) -> dynoxide::errors::Result<()> {
    let restored = Dynoxide::new(&database.to_string_lossy())?;
    restored.restore_from(&backup.to_string_lossy())
}
