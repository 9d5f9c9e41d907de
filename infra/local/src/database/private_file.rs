//! Files that only their owner can read, on systems with file owners.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

use tempfile::NamedTempFile;

/// Replaces a file with one that holds `text`.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut new = NamedTempFile::new_in(file.parent().unwrap_or(Path::new(".")))?;
    new.write_all(text.as_bytes())?;
    new.persist(file)?;
    Ok(())
}

/// Opens a file for writing. An existing one keeps its permissions.
pub fn open(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create(true).truncate(false).open(file)
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
