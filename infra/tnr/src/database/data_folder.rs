//! The files in a data folder, and the lock that limits it to one writing process.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write},
    iter,
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{CliError, error::Context};

pub const DATABASE_FILE: &str = "dynamodb.sqlite";
/// Suffixes of SQLite's companion files. SQLite would apply leftover files to a new database.
const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The URL of the process that serves the folder.
pub const ENDPOINT_FILE: &str = "endpoint";
/// The database's credential, as environment variables.
pub const CREDENTIAL_FILE: &str = "dynamodb.env";
/// The key that the folder's server created.
pub const KEY_FILE: &str = "api-key";
pub const LOCK_FILE: &str = "lock";

/// Creates a data folder if it does not exist. Only the owner can open a new folder.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The database file and its companions. Some may not exist.
pub fn database_files(database: &Path) -> impl Iterator<Item = PathBuf> {
    iter::once("").chain(SQLITE_SUFFIXES).map(move |suffix| {
        let mut name = OsString::from(database);
        name.push(suffix);
        PathBuf::from(name)
    })
}

pub fn is_data_folder_file(name: &Path) -> bool {
    let (Some(folder), Some(file_name)) = (name.parent(), name.file_name()) else { return false };
    let is_data_folder = folder.join(DATABASE_FILE).exists();
    let others = [KEY_FILE, ENDPOINT_FILE, CREDENTIAL_FILE, LOCK_FILE].map(PathBuf::from);
    let mut files = database_files(Path::new(DATABASE_FILE)).chain(others);
    // Some file systems are case-insensitive.
    is_data_folder && files.any(|file| file_name.eq_ignore_ascii_case(file.as_os_str()))
}

/// Replaces a file with one that contains `text`. On Unix, only the owner can read it.
pub fn replace_private(file: &Path, text: &str) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    new.write_all(text.as_bytes())?;
    new.persist(file)?;
    Ok(())
}

/// Opens a file for writing. On Unix, only the owner can read a new file. An existing file's permissions do not change.
pub fn open_private(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create(true).truncate(false).open(file)
}

/// The lock held by the process that writes to a folder.
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Locks the folder. Creates it if it does not exist.
    ///
    /// # Errors
    /// Returns [`CliError::FolderInUseByServer`] if another process serves the folder, and
    /// [`CliError::FolderBusy`] if another command is using it.
    pub fn acquire(data_dir: &Path) -> Result<Self, CliError> {
        let folder = data_dir.display();
        create(data_dir).context(format!("cannot use {folder}"))?;
        let file =
            open_private(&data_dir.join(LOCK_FILE)).context(format!("cannot write to {folder}"))?;
        let endpoint_file = data_dir.join(ENDPOINT_FILE);
        match file.try_lock() {
            Ok(()) => {
                // The process that wrote it has exited.
                _ = fs::remove_file(&endpoint_file);
                Ok(Self { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let folder = folder.to_string();
                Err(match fs::read_to_string(endpoint_file) {
                    Ok(endpoint) => CliError::FolderInUseByServer { folder, endpoint },
                    Err(_) => CliError::FolderBusy(folder),
                })
            }
            Err(TryLockError::Error(error)) => {
                Err(CliError::io(format!("cannot lock {folder}"))(error))
            }
        }
    }
}
