//! The files that this program keeps in a data folder.

use std::{
    ffi::OsString,
    fs::DirBuilder,
    io, iter,
    path::{Path, PathBuf},
};

/// The embedded database in its folder.
pub const DATABASE_FILE: &str = "dynamodb.sqlite";
/// The endings of the files that SQLite puts beside a database. They are a part of the database:
/// one that is left behind would be played into whatever takes the place of its database.
const FILES_BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];
/// The address of the process that serves the folder.
pub const ENDPOINT_FILE: &str = "endpoint";
/// The credential of the database, as variables of the environment.
pub const CREDENTIAL_FILE: &str = "dynamodb.env";
/// The key that a folder's server made for itself.
pub const KEY_FILE: &str = "api-key";
/// The lock by which a process has the folder for itself.
pub const LOCK_FILE: &str = "lock";

/// Makes a data folder if it does not exist. Nobody but its owner can look into a new one.
pub fn create(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// The files of the SQLite database that has this name, of which some may not exist.
pub fn files_of_database(database: &Path) -> impl Iterator<Item = PathBuf> {
    iter::once("").chain(FILES_BESIDE).map(move |ending| {
        let mut name = OsString::from(database);
        name.push(ending);
        PathBuf::from(name)
    })
}

/// Returns `true` for the name of a file that this program keeps in a data folder.
pub fn is_own_file(name: &Path) -> bool {
    let (Some(folder), Some(file_name)) = (name.parent(), name.file_name()) else { return false };
    let is_data_folder = folder.join(DATABASE_FILE).exists();
    let beside = files_of_database(Path::new(DATABASE_FILE));
    let mut own =
        beside.chain([KEY_FILE, ENDPOINT_FILE, CREDENTIAL_FILE, LOCK_FILE].map(PathBuf::from));
    // Some file systems do not tell upper from lower case.
    is_data_folder && own.any(|own| file_name.eq_ignore_ascii_case(own.as_os_str()))
}
