//! Unpacked report content with a limit on line lengths.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    io::{self, Cursor, Read, Seek},
};

use flate2::read::MultiGzDecoder;
use logging::with_causes;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::MAX_BYTES;
use crate::{
    IngestError,
    error::{Cause, ReportError},
};

/// The maximum number of bytes in a line. A file that is not a report may have no line endings.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// The number of leading bytes used to detect the kind of file.
const HEAD_BYTES: u64 = 512;

pub(crate) struct Content {
    source_name: String,
    /// The content as received, before unpacking.
    bytes: Cow<'static, [u8]>,
}

impl Content {
    /// Opens the content. Rejects web pages, because a publisher's error page may have status 200.
    pub fn new(source_name: String, bytes: Cow<'static, [u8]>) -> Result<Self, Cause> {
        let content = Self { source_name, bytes };
        // Only data that consists of several files may come in such an archive.
        if content.file_count()? > 1 {
            return Ok(content);
        }
        let mut head = Vec::new();
        let read = content.unpack(|bytes| bytes.take(HEAD_BYTES).read_to_end(&mut head))?;
        read.map_err(|error| format!("it is damaged: {}", with_causes(&error)))?;
        let text = String::from_utf8_lossy(&head);
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return Err("it is a web page, not a report".into());
        }
        Ok(content)
    }

    /// The size before unpacking.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The SHA-256 hash before unpacking, in hex.
    pub fn sha256(&self) -> String {
        sha256(&self.bytes)
    }

    /// The unpacked files by name, for data that consists of several. A file that is not an archive is called `name`.
    pub fn files(&self, name: &str) -> Result<Vec<(String, Vec<u8>)>, IngestError> {
        let source_name = self.source_name.clone();
        self.unpacked(name).map_err(|source| IngestError::Unreadable { source_name, source })
    }

    fn unpacked(&self, name: &str) -> Result<Vec<(String, Vec<u8>)>, Cause> {
        if !self.bytes.starts_with(b"PK") {
            let bytes = self.unpack(|bytes| read_limited(bytes, MAX_BYTES))??;
            return Ok(vec![(name.to_owned(), bytes)]);
        }
        let mut archive = ZipArchive::new(Cursor::new(&*self.bytes)).map_err(damaged_zip)?;
        let (mut files, mut total) = (Vec::new(), 0);
        for index in report_indexes(&archive)? {
            let mut file = archive.by_index(index).map_err(damaged_zip)?;
            let name = file.name().map_err(damaged_zip)?.into_owned();
            let bytes = read_limited(&mut file, MAX_BYTES - total)?;
            total += bytes.len();
            files.push((name, bytes));
        }
        Ok(files)
    }

    fn file_count(&self) -> Result<usize, Cause> {
        if !self.bytes.starts_with(b"PK") {
            return Ok(1);
        }
        let archive = ZipArchive::new(Cursor::new(&*self.bytes)).map_err(damaged_zip)?;
        Ok(report_indexes(&archive)?.len())
    }

    /// Calls `read` with the unpacked bytes. Damage to an archive is detected at the end of the data at the latest.
    fn unpack<T>(&self, read: impl FnOnce(&mut dyn Read) -> T) -> Result<T, Cause> {
        let mut bytes = &*self.bytes;
        if bytes.starts_with(b"\x1f\x8b") {
            return Ok(read(&mut MultiGzDecoder::new(bytes)));
        }
        if !bytes.starts_with(b"PK") {
            return Ok(read(&mut bytes));
        }
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged_zip)?;
        let index = report_index(&archive)?;
        let mut file = archive.by_index(index).map_err(damaged_zip)?;
        Ok(read(&mut file))
    }

    /// Calls `parse` with the unpacked text. Adds a final line ending, because the last line may lack one. Calls
    /// `on_line` with the number of lines read so far.
    pub fn read<T>(
        self,
        on_line: impl Fn(u64),
        parse: impl FnOnce(&mut dyn Read) -> Result<T, ReportError>,
    ) -> Result<T, IngestError> {
        let parsed = self.unpack(|bytes| {
            let inner = bytes.chain(&b"\n"[..]);
            parse(&mut CountedLines { inner, lines: 0, bytes_in_line: 0, on_line })
        });
        let source_name = self.source_name;
        match parsed {
            Ok(parsed) => parsed.map_err(|source| IngestError::Report { source_name, source }),
            Err(source) => Err(IngestError::Unreadable { source_name, source }),
        }
    }
}

/// The SHA-256 hash of some bytes, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads all bytes, or returns an error if there are more than `max`.
fn read_limited(bytes: &mut dyn Read, max: usize) -> Result<Vec<u8>, Cause> {
    let mut read = Vec::new();
    bytes.take(max as u64 + 1).read_to_end(&mut read)?;
    if read.len() > max {
        return Err(format!("its files are larger than {MAX_BYTES} bytes").into());
    }
    Ok(read)
}

fn damaged_zip(error: impl Into<io::Error>) -> Cause {
    format!("the zip is damaged or truncated: {}", with_causes(&error.into())).into()
}

/// Returns the index of the only report in an archive.
fn report_index<R: Read + Seek>(archive: &ZipArchive<R>) -> Result<usize, Cause> {
    match report_indexes(archive)?[..] {
        [index] => Ok(index),
        ref files => {
            Err(format!("the zip has {} files; it must have exactly one", files.len()).into())
        }
    }
}

/// Returns the indexes of the files in an archive. Ignores folders and files that macOS adds.
fn report_indexes<R: Read + Seek>(archive: &ZipArchive<R>) -> Result<Vec<usize>, Cause> {
    let is_file = |name: &str| !name.ends_with('/') && !name.starts_with("__MACOSX/");
    let mut files = Vec::new();
    for (index, name) in archive.file_names().enumerate() {
        if is_file(&name.map_err(damaged_zip)?) {
            files.push(index);
        }
    }
    Ok(files)
}

/// Counts lines as they are read. Returns an error if a line is too long.
struct CountedLines<R, F> {
    inner: R,
    lines: u64,
    bytes_in_line: usize,
    on_line: F,
}

impl<R: Read, F: Fn(u64)> Read for CountedLines<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        for part in buffer[..read].split_inclusive(|&byte| byte == b'\n') {
            self.bytes_in_line += part.len();
            if self.bytes_in_line > MAX_LINE_BYTES {
                return Err(io::Error::other(format!(
                    "a line is longer than {MAX_LINE_BYTES} bytes; lines must end with LF or CRLF"
                )));
            }
            if part.ends_with(b"\n") {
                self.bytes_in_line = 0;
                self.lines += 1;
                (self.on_line)(self.lines);
            }
        }
        Ok(read)
    }
}
