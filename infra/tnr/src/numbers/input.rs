//! The input of a command that reads a file or stdin.

use std::{
    fs::File,
    io::{self, ErrorKind, IsTerminal, Read},
    path::Path,
};

/// Opens a file, or stdin for `-`. Also returns the length of a file.
pub fn open(file: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if file == Path::new("-") {
        if io::stdin().is_terminal() {
            return Err(io::Error::other("pass a file, or pipe text to stdin"));
        }
        return Ok((Box::new(io::stdin()), None));
    }
    let opened = File::open(file)?;
    let metadata = opened.metadata()?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Ok((Box::new(opened), metadata.is_file().then_some(metadata.len())))
}
