//! Files that only their owner can read, on Unix.

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
