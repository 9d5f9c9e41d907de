//! Unpacked files of a source.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    io::{self, Cursor, Read},
};

use flate2::read::MultiGzDecoder;
use logging::with_causes;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::MAX_BYTES;
use crate::error::Cause;

/// The maximum number of bytes in a line. A file that is not a report may have no line endings.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// The content of a source.
pub(crate) struct Content {
    /// The size before unpacking.
    pub size: u64,
    /// The SHA-256 hash before unpacking, in hex.
    pub sha256: String,
    /// The unpacked files with their names.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Content {
    /// Unpacks what was received; `name` is the file's name if it is not a zip. Rejects web pages, because a publisher's
    /// error page may have status 200.
    pub fn new(name: String, received: Cow<'static, [u8]>) -> Result<Self, Cause> {
        let (size, sha256) = (received.len() as u64, sha256(&received));
        let files = if received.starts_with(b"PK") {
            unzip(&received)?
        } else if received.starts_with(b"\x1f\x8b") {
            vec![(name, read_limited(&mut MultiGzDecoder::new(&*received), MAX_BYTES)?)]
        } else {
            vec![(name, received.into_owned())]
        };
        // Only data that consists of several files may come in an archive of several.
        if let [(_, file)] = &files[..]
            && is_web_page(file)
        {
            return Err("it is a web page, not a report".into());
        }
        Ok(Self { size, sha256, files })
    }

    /// The only file, with a final line ending, which its last line may lack.
    pub fn into_report(self) -> Result<Vec<u8>, Cause> {
        let count = self.files.len();
        let [(_, mut report)] = <[_; 1]>::try_from(self.files)
            .map_err(|_| format!("the zip has {count} files; it must have exactly one"))?;
        if report.split(|&byte| byte == b'\n').any(|line| line.len() >= MAX_LINE_BYTES) {
            let rule = "lines must end with LF or CRLF";
            return Err(format!("a line is longer than {MAX_LINE_BYTES} bytes; {rule}").into());
        }
        report.push(b'\n');
        Ok(report)
    }
}

/// The SHA-256 hash of some bytes, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_web_page(file: &[u8]) -> bool {
    let text = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    text.trim_ascii_start().starts_with(b"<")
}

/// Unpacks the files of an archive. Ignores folders and files that macOS adds.
fn unzip(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>, Cause> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged_zip)?;
    let (mut files, mut total) = (Vec::new(), 0);
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(damaged_zip)?;
        let name = file.name().map_err(damaged_zip)?.into_owned();
        if name.ends_with('/') || name.starts_with("__MACOSX/") {
            continue;
        }
        let unpacked = read_limited(&mut file, MAX_BYTES - total)?;
        total += unpacked.len();
        files.push((name, unpacked));
    }
    Ok(files)
}

/// Reads all bytes, or returns an error if there are more than `max`.
fn read_limited(packed: &mut dyn Read, max: usize) -> Result<Vec<u8>, Cause> {
    let mut unpacked = Vec::new();
    let read = packed.take(max as u64 + 1).read_to_end(&mut unpacked);
    read.map_err(|error| format!("it is damaged: {}", with_causes(&error)))?;
    if unpacked.len() > max {
        return Err(format!("its files are larger than {MAX_BYTES} bytes").into());
    }
    Ok(unpacked)
}

fn damaged_zip(error: impl Into<io::Error>) -> Cause {
    format!("the zip is damaged or truncated: {}", with_causes(&error.into())).into()
}
