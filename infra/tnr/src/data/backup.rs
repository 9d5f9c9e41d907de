//! Backs up the embedded database, even while it is being served, and restores it. Both check that
//! the copy is readable.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::Args;
use dynoxide::Database as Dynoxide;
use indicatif::HumanCount;
use ingest::{IngestError, Repair};
use logging::with_causes;
use store::{DatasetError, Store};
use tempfile::Builder;

use crate::{
    CliError,
    database::{
        Database,
        args::{DatabaseLocation, FolderArgs},
        copy::{self, FULL_CHECK, check, damaged, is_damage, unreadable},
        data_folder::{DATABASE_FILE, FolderLock, database_files, open_private},
    },
    error::{Cause, Context, pluralize},
    new_file::{Kind, NewFile, Replacement},
    terminal::{
        progress::{Progress, Unit},
        show_message,
    },
};

/// The name prefix of databases that are being restored. Other unfinished files in the folder may be in use.
const UNFINISHED_PREFIX: &str = ".tnr-unfinished-restore-";

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// File to write, or to read with --verify
    pub file: PathBuf,
    /// Only check a backup
    #[arg(long, conflicts_with_all = ["force", "data_dir"])]
    pub verify: bool,
    #[command(flatten)]
    pub replacement: Replacement,
    #[command(flatten)]
    pub folder: FolderArgs,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// Backup to restore
    pub file: PathBuf,
    #[command(flatten)]
    pub folder: FolderArgs,
}

/// Backs up a folder's database, which may be in use, or only checks a backup. The file appears
/// only once it is complete, checked and synced to disk.
pub async fn backup(args: &BackupArgs) -> Result<(), CliError> {
    let file = &absolute_path(&args.file)?;
    let progress = Progress::new();
    if args.verify {
        progress.start("Checking the backup", Unit::Time, None);
        let contents = check_backup(file).await?;
        drop(progress);
        show_message(&format!("{} can be restored.\n{contents}", file.display()));
        return Ok(());
    }
    let folder = args.folder.path()?;
    let database = folder.join(DATABASE_FILE);
    let failed = CliError::io(format!("cannot read folder '{}'", folder.display()));
    if !database.try_exists().map_err(failed)? {
        return Err(DatabaseLocation::Folder(folder).no_database(&args.folder.next()));
    }
    let new = NewFile::create(file, Kind::Private, args.replacement.force)?;
    progress.start("Copying the database", Unit::Time, None);
    copy(&database, &new.path())?;
    progress.start("Checking the copy", Unit::Time, None);
    let contents =
        read_contents(&new.path()).await.map_err(|cause| unreadable(&database, cause))?;
    new.finish()?;
    drop(progress);
    let file = file.display();
    show_message(&format!("Backed up the data, key hashes and usage to {file}.\n{contents}"));
    Ok(())
}

async fn check_backup(file: &Path) -> Result<String, CliError> {
    let name = file.display();
    read_contents(file).await.map_err(|cause| {
        if is_damage(&cause) {
            let damage = with_causes(&*cause);
            CliError::failed(format!("backup {name} is damaged: {damage}; use another one"))
        } else {
            CliError::io(format!("cannot read {name}"))(cause)
        }
    })
}

/// Reads an entire database file (pages, data versions and keys) without changing it, because a backup may
/// be the last copy. Returns a description.
async fn read_contents(file: &Path) -> Result<String, Cause> {
    copy::read(file, |connection| {
        if !connection.table_exists(None, "_tables")? {
            return Err(damaged("this program did not create it".to_owned()).into());
        }
        Ok(check(connection, FULL_CHECK)?)
    })?;
    let database = Database::from_copy(copy::in_memory(file)?.0).await?;
    let contents = read_store(&database.store()).await;
    database.close().await;
    // For a copy in memory, damage is the only possible reason.
    contents.map_err(|error| damaged(with_causes(&error)).into())
}

async fn read_store(store: &Store) -> Result<String, CliError> {
    let keys = store.all_api_keys().await?;
    if !keys.damaged.is_empty() {
        let names: Vec<String> = keys.damaged.into_iter().map(|key| key.name).collect();
        return Err(CliError::failed(format!("keys are unreadable: {}", names.join(", "))));
    }
    let keys = pluralize(keys.readable.len(), "key");
    let Some(manifest) = store.manifest().await? else {
        return Ok(format!("It contains no numbering data, and {keys}."));
    };
    let items = match ingest::verify(store, Repair::No, None, |_| ()).await {
        Ok(found) if found.drift.contradicting + found.drift.unreadable > 0 => {
            return Err(CliError::Drift(found.drift.contradicting + found.drift.unreadable));
        }
        Ok(found) if found.skipped.is_empty() => HumanCount(found.items as u64),
        // The data may be for another release, but its bytes must be intact.
        Ok(_) | Err(IngestError::Current(DatasetError::NoneReadable { .. })) => {
            store.snapshot(&manifest.current).await?;
            HumanCount(0)
        }
        Err(error) => return Err(error.into()),
    };
    let version = &manifest.current.version;
    Ok(format!("It contains version {version} with {items} items, and {keys}."))
}

/// Copies a database to a new file in one SQLite transaction. Opens the source read-only, because
/// an older release may be serving it, so it must not be upgraded.
fn copy(database: &Path, file: &Path) -> Result<(), CliError> {
    let cannot_write = || CliError::io(format!("cannot write {}", file.display()));
    // SQLite would create a file that other users can read.
    let copy = open_private(file).map_err(cannot_write())?;
    copy::read(database, |connection| {
        // Discard output from an earlier attempt.
        copy.set_len(0)?;
        Ok(connection.execute("VACUUM INTO ?1", [file.to_str()])?)
    })
    .map_err(|cause| unreadable(database, cause))?;
    copy.sync_all().map_err(cannot_write())
}

/// The absolute path. SQLite requires Unicode, and would parse a relative path such as `file:x` as a URI.
fn absolute_path(file: &Path) -> Result<PathBuf, CliError> {
    if file.to_str().is_none() {
        return Err(CliError::failed(format!("file name '{}' must be Unicode", file.display())));
    }
    std::path::absolute(file).context(format!("cannot use file name '{}'", file.display()))
}

/// Restores a backup into a folder without a database, so that no data is replaced by accident.
pub async fn restore(args: &RestoreArgs) -> Result<(), CliError> {
    let folder = args.folder.path()?;
    let lock = FolderLock::acquire(&folder)?;
    let database = folder.join(DATABASE_FILE);
    if database_files(&database).any(|file| file.exists()) {
        return Err(CliError::failed(format!(
            "folder '{}' already has a database; move its dynamodb.sqlite* files away, or choose \
             another folder with --data-dir",
            folder.display()
        )));
    }
    let file = &absolute_path(&args.file)?;
    let progress = Progress::new();
    progress.start("Checking the backup", Unit::Time, None);
    let contents = check_backup(file).await?;
    progress.start("Copying the backup", Unit::Time, None);
    restore_copy(file, &database).context(format!("cannot restore {}", args.file.display()))?;
    drop(progress);
    drop(lock);
    let (file, folder) = (args.file.display(), folder.display());
    show_message(&format!("Restored {file} into folder {folder}.\n{contents}"));
    Ok(())
}

/// Copies a backup to a new database, and upgrades the copy if it is from an older release.
fn restore_copy(backup: &Path, database: &Path) -> Result<(), Cause> {
    let folder = database.parent().unwrap_or(Path::new("."));
    remove_unfinished(folder)?;
    // Only the owner can read it.
    let copy = Builder::new().prefix(UNFINISHED_PREFIX).tempfile_in(folder)?;
    Dynoxide::new(&copy.path().to_string_lossy())?.restore_from(&backup.to_string_lossy())?;
    copy.persist_noclobber(database)?;
    Ok(())
}

/// Removes copies that killed restores left in a locked folder, including SQLite's companion files.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED_PREFIX.as_bytes()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
