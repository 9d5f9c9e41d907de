//! Phone numbers: command-line lookups, number lists, and tools for agents.

pub mod find;
pub mod format;
pub mod list;
pub mod mcp;
mod pipeline;
pub mod queries;

use std::{
    fs::File,
    io::{self, ErrorKind, IsTerminal, Read},
    path::Path,
};

/// Opens a file, or stdin for `-`. For a file, also returns the length.
fn open_input(file: &Path) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
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
