//! Files that only their owner can read, on systems with file owners.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Read and write for the owner only.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// Replaces the contents of a file with `text`.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut opened =
        owned(OpenOptions::new().write(true).create(true).truncate(true)).open(file)?;
    // The options apply only to a new file.
    #[cfg(unix)]
    opened.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(OWNER_ONLY))?;
    opened.write_all(text.as_bytes())
}

/// Writes `text` to a new file.
pub fn write_new(file: &Path, text: &str) -> io::Result<()> {
    create(file)?.write_all(text.as_bytes())
}

/// Opens a file for writing. An existing one keeps its permissions.
pub fn open(file: &Path) -> io::Result<File> {
    owned(OpenOptions::new().write(true).create(true).truncate(false)).open(file)
}

/// Creates an empty file.
pub fn create(file: &Path) -> io::Result<File> {
    owned(OpenOptions::new().write(true).create_new(true)).open(file)
}

/// Adds owner-only permissions.
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
    fn replacing_a_file_closes_it_to_others() {
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("api-key");
        fs::write(&file, "an older and longer text").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        replace(&file, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
