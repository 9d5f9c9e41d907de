//! The files in a data folder.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io, iter,
    path::{Path, PathBuf},
};

/// The embedded database.
pub const DATABASE_FILE: &str = "dynamodb.sqlite";
/// Suffixes of SQLite's companion files. They are part of the database: SQLite would apply a
/// leftover to whatever database replaces it.
const SQLITE_SUFFIXES: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The address of the process that serves the folder.
pub const ENDPOINT_FILE: &str = "endpoint";
/// The database's credential, as environment variables.
pub const CREDENTIAL_FILE: &str = "dynamodb.env";
/// The key that a folder's server created for itself.
pub const KEY_FILE: &str = "api-key";
/// The lock for exclusive use of the folder.
pub const LOCK_FILE: &str = "lock";

/// Creates a data folder if it does not exist. Only its owner can open a new one.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The database file and its companions, some of which may not exist.
pub fn files_of_database(database: &Path) -> impl Iterator<Item = PathBuf> {
    iter::once("").chain(SQLITE_SUFFIXES).map(move |ending| {
        let mut name = OsString::from(database);
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Returns `true` for a file that this program keeps in a data folder.
pub fn is_own_file(name: &Path) -> bool {
    let (Some(folder), Some(file_name)) = (name.parent(), name.file_name()) else { return false };
    let is_data_folder = folder.join(DATABASE_FILE).exists();
    let beside = files_of_database(Path::new(DATABASE_FILE));
    let mut own =
        beside.chain([KEY_FILE, ENDPOINT_FILE, CREDENTIAL_FILE, LOCK_FILE].map(PathBuf::from));
    // Some file systems are case-insensitive.
    is_data_folder && own.any(|own| file_name.eq_ignore_ascii_case(own.as_os_str()))
}
