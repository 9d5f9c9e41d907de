//! Files that only their owner can read, where the system knows owners.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Writes `text` into a file, which replaces what is in it.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    owned(&mut options).open(file)?.write_all(text.as_bytes())
}

/// Makes an empty file.
///
/// # Errors
/// Returns an error if it exists, or cannot be made.
pub fn create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    owned(&mut options).open(file)
}

/// The same options for files that only their owner can read.
fn owned(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
