//! The files in a data folder.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io, iter,
    path::{Path, PathBuf},
};

pub const DATABASE_FILE: &str = "dynamodb.sqlite";
/// Suffixes of SQLite's companion files. SQLite would apply leftover ones to a new database.
const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The URL of the process that serves the folder.
pub const ENDPOINT_FILE: &str = "endpoint";
/// The database's credential, as environment variables.
pub const CREDENTIAL_FILE: &str = "dynamodb.env";
/// The key that the folder's server created.
pub const KEY_FILE: &str = "api-key";
pub const LOCK_FILE: &str = "lock";

/// Creates a data folder if it does not exist. Only its owner can open a new one.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The database file and its companions, some of which may not exist.
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
