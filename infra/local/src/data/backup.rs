//! Copies the embedded database into a file while it is served, and makes a database from such a file.
//! Neither is done without reading all that is copied.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dynoxide::Database as Dynoxide;
use indicatif::HumanCount;
use logging::with_causes;

use crate::{
    CliError,
    args::{BackupArgs, RestoreArgs},
    database::{
        check::{Contents, contents},
        copy,
        damage::{Damage, unreadable},
        data_folder::{DATABASE_FILE, files_of_database},
        folder_lock::FolderLock,
        place::Place,
        private_file,
    },
    error::{Cause, Context, counted},
    new_file::NewFile,
};
/// The database of a folder while it is restored.
const UNFINISHED_FILE: &str = "dynamodb.sqlite.unfinished";

/// Copies the database of the folder as it is at one moment, or only checks such a copy. Whoever serves
/// the folder is not held up.
///
/// The copy has its name only once it is complete, checked and on the disk.
pub async fn backup(args: &BackupArgs) -> Result<(), CliError> {
    let file = &absolute(&args.file)?;
    if args.verify {
        let contents = checked_backup(file).await?;
        println!("{} is a backup that can be restored.", file.display());
        print_contents(&contents);
        return Ok(());
    }
    let folder = args.folder.path()?;
    let database = folder.join(DATABASE_FILE);
    let failed = CliError::io(format!("cannot read folder '{}'", folder.display()));
    if !database.try_exists().map_err(failed)? {
        return Err(CliError::no_database(&Place::Folder(folder), &args.folder.next()));
    }
    let new = NewFile::file(file, args.replacement.force)?;
    copy(&folder, &database, &new.path())?;
    let contents = contents(&new.path()).await;
    let contents = contents.map_err(|cause| unreadable(&folder, &database, cause))?;
    new.finish()?;
    println!("{} holds the data, the hashes of the keys, and their usage.", file.display());
    print_contents(&contents);
    Ok(())
}

/// Reads all of a file that `backup` wrote.
async fn checked_backup(file: &Path) -> Result<Contents, CliError> {
    contents(file).await.map_err(|cause| match Damage::behind(cause) {
        Ok(damage) => CliError::failed(format!(
            "backup {} is damaged: {}; use another one",
            file.display(),
            with_causes(&damage)
        )),
        Err(cause) => CliError::io(format!("cannot read {}", file.display()))(cause),
    })
}

fn print_contents(contents: &Contents) {
    let Contents { current, keys, unreadable } = contents;
    let keys = counted(*keys, "key");
    match current {
        Some((version, items)) => println!(
            "All of it was read: version {version} with {} items, and {keys}.",
            HumanCount(*items as u64)
        ),
        None => println!("All of it was read: no version of the data yet, and {keys}."),
    }
    for version in unreadable {
        println!("note: version {version}, which is not current, is damaged");
    }
}

/// Copies a database into a new file. SQLite reads it in one transaction, so that the copy has all of
/// a write or nothing of it. The database is opened for reading only: another release may be serving
/// it, whose file this one must not upgrade.
fn copy(folder: &Path, database: &Path, file: &Path) -> Result<(), CliError> {
    let cannot_write = || CliError::io(format!("cannot write {}", file.display()));
    // SQLite writes into an empty file that exists, and would make one that others can read.
    let copy = private_file::create(file).map_err(cannot_write())?;
    copy::read(database, |connection| {
        // What an earlier attempt has written.
        copy.set_len(0)?;
        Ok(connection.execute("VACUUM INTO ?1", [file.to_str()])?)
    })
    .map_err(|cause| unreadable(folder, database, cause))?;
    copy.sync_all().map_err(cannot_write())
}

/// The path from the root. SQLite takes a path that begins with `file:` for an address, and knows only
/// names in Unicode.
fn absolute(file: &Path) -> Result<PathBuf, CliError> {
    let failed = format!("cannot use the name {}", file.display());
    if file.to_str().is_none() {
        return Err(CliError::io(failed)("it must be Unicode"));
    }
    std::path::absolute(file).context(failed)
}

/// Removes the files of a database that is of no use.
fn remove_database(database: &Path) {
    for file in files_of_database(database) {
        // Those that do not exist cannot be removed.
        _ = fs::remove_file(file);
    }
}

/// Makes the database of a folder from a backup. The folder must have none, so that no data is
/// replaced by mistake.
pub async fn restore(args: &RestoreArgs) -> Result<(), CliError> {
    let folder = args.folder.path()?;
    let lock = FolderLock::take(&folder)?;
    let database = folder.join(DATABASE_FILE);
    if files_of_database(&database).any(|file| file.exists()) {
        return Err(CliError::failed(format!(
            "folder '{}' holds a database already; move its files dynamodb.sqlite* away, or name \
             another folder with --data-dir",
            folder.display()
        )));
    }
    // Only the holder of the lock writes this file, so that one which exists is of a command that was
    // killed.
    let unfinished = folder.join(UNFINISHED_FILE);
    remove_database(&unfinished);
    let file = &absolute(&args.file)?;
    let contents = checked_backup(file).await?;
    let failed = || format!("cannot restore {}", args.file.display());
    // It has its name only once it is complete.
    let restored = copy_back(file, &unfinished)
        .context(failed())
        .and_then(|()| fs::rename(&unfinished, &database).context(failed()));
    remove_database(&unfinished);
    restored?;
    drop(lock);
    println!("Folder {} holds the data of {}.", folder.display(), args.file.display());
    print_contents(&contents);
    Ok(())
}

/// Copies a backup into a new database, and upgrades it if an earlier release wrote it.
fn copy_back(backup: &Path, database: &Path) -> Result<(), Cause> {
    // SQLite takes an empty file for a new database, and would make one that others can read.
    private_file::create(database)?;
    let restored = Dynoxide::new(&database.to_string_lossy())?;
    Ok(restored.restore_from(&backup.to_string_lossy())?)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_file_name_is_never_taken_for_an_address() {
        let folder = tempfile::TempDir::new().unwrap();
        let database = folder.path().join("source.sqlite");
        Connection::open(&database)
            .unwrap()
            .execute("CREATE TABLE _config ( key TEXT PRIMARY KEY, value TEXT NOT NULL )", [])
            .unwrap();
        let file = folder.path().join("file:numbers.sqlite");
        copy(folder.path(), &database, &file).unwrap();
        assert!(fs::metadata(&file).unwrap().len() > 0);
        assert!(absolute(Path::new("file:x")).unwrap().starts_with("/"));
    }
}
