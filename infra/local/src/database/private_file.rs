//! Files that only their owner can read, where the system knows owners.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Its owner reads and writes it, and nobody else does either.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// Writes `text` into a file, which replaces what is in it.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut opened =
        owned(OpenOptions::new().write(true).create(true).truncate(true)).open(file)?;
    // The options say only how a new file is made.
    #[cfg(unix)]
    opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(OWNER_ONLY))?;
    opened.write_all(text.as_bytes())
}

/// Writes `text` into a new file.
pub fn write_new(file: &Path, text: &str) -> io::Result<()> {
    create(file)?.write_all(text.as_bytes())
}

/// Opens a file to write into it. One that exists keeps the permissions that its owner gave it.
pub fn open(file: &Path) -> io::Result<File> {
    owned(OpenOptions::new().write(true).create(true).truncate(false)).open(file)
}

/// Makes an empty file.
pub fn create(file: &Path) -> io::Result<File> {
    owned(OpenOptions::new().write(true).create_new(true)).open(file)
}

/// The same options for files that only their owner can read.
fn owned(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, OWNER_ONLY);
    options
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_file_that_others_could_read_is_closed_to_them_when_it_is_replaced() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("api-key");
        fs::write(&file, "an older and longer text").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&file, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
