//! Backup of the embedded database while it is served, and restore. Both read everything they copy.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dynoxide::Database as Dynoxide;
use indicatif::HumanCount;
use logging::with_causes;

use crate::{
    CliError,
    data::args::{BackupArgs, RestoreArgs},
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
/// A folder's database during a restore.
const UNFINISHED_FILE: &str = "dynamodb.sqlite.unfinished";

/// Copies a consistent snapshot of the folder's database, or only checks such a copy.
///
/// The server keeps serving meanwhile. The copy appears under its name only when complete, checked
/// and synced to disk.
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
        return Err(Place::Folder(folder).no_database(&args.folder.next()));
    }
    let new = NewFile::private_file(file, args.replacement.force)?;
    copy(&folder, &database, &new.path())?;
    let contents = contents(&new.path()).await;
    let contents = contents.map_err(|cause| unreadable(&folder, &database, cause))?;
    new.finish()?;
    println!("{} holds the data, the hashes of the keys, and their usage.", file.display());
    print_contents(&contents);
    Ok(())
}

/// Reads all of a backup file.
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

/// Copies a database to a new file. SQLite reads it in one transaction, so the copy has all of a
/// write or none. The source is opened read-only, because another release that must not be upgraded
/// may be serving it.
fn copy(folder: &Path, database: &Path, file: &Path) -> Result<(), CliError> {
    let cannot_write = || CliError::io(format!("cannot write {}", file.display()));
    // Created here, because SQLite would let others read it.
    let copy = private_file::open(file).map_err(cannot_write())?;
    copy::read(database, |connection| {
        // Discard what an earlier attempt wrote.
        copy.set_len(0)?;
        Ok(connection.execute("VACUUM INTO ?1", [file.to_str()])?)
    })
    .map_err(|cause| unreadable(folder, database, cause))?;
    copy.sync_all().map_err(cannot_write())
}

/// The absolute path. SQLite takes a path that begins with `file:` for a URI, and needs Unicode.
fn absolute(file: &Path) -> Result<PathBuf, CliError> {
    let failed = format!("cannot use the name {}", file.display());
    if file.to_str().is_none() {
        return Err(CliError::io(failed)("it must be Unicode"));
    }
    std::path::absolute(file).context(failed)
}

/// Removes a useless database and its files.
fn remove_database(database: &Path) {
    for file in files_of_database(database) {
        // Some may not exist.
        _ = fs::remove_file(file);
    }
}

/// Restores a folder's database from a backup. The folder must have none, so no data is replaced by
/// mistake.
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
    // Only the lock holder writes this file, so an existing one was left by a killed command.
    let unfinished = folder.join(UNFINISHED_FILE);
    remove_database(&unfinished);
    let file = &absolute(&args.file)?;
    let contents = checked_backup(file).await?;
    let failed = || format!("cannot restore {}", args.file.display());
    // It gets its name only when complete.
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

/// Copies a backup to a new database, and upgrades one from an earlier release.
fn copy_back(backup: &Path, database: &Path) -> Result<(), Cause> {
    // Created here, because SQLite would let others read it.
    private_file::open(database)?;
    let restored = Dynoxide::new(&database.to_string_lossy())?;
    Ok(restored.restore_from(&backup.to_string_lossy())?)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn file_names_are_never_parsed_as_uris() {
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
