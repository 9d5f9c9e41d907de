//! A report's content: unpacked, its lines ended alike, and bounded as it is read.

use std::io::{self, Read, Seek};

use zip::ZipArchive;

use crate::IngestError;

/// Most a report may unpack to; the largest published one, of the thousands blocks, has 200 MB.
const MOST_BYTES: u64 = 512 << 20;
/// Most one line may have: what is no report at all need not have lines.
const LONGEST_LINE: usize = 64 * 1024;
/// Begins a zip, an empty one too; and no line of a report.
const ZIP_MAGIC: &[u8] = b"PK";

pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// A report that is ready to be read, packed or not.
pub(crate) struct Content {
    source_name: String,
    bytes: Box<dyn ReadSeek>,
    zipped: bool,
}

impl Content {
    /// Looks at how the content begins.
    ///
    /// # Errors
    /// Where it cannot be read, or is a web page: a publisher's error page may come with status
    /// 200.
    pub fn new(source_name: String, mut bytes: Box<dyn ReadSeek>) -> Result<Self, String> {
        let mut head = Vec::new();
        let read = bytes.by_ref().take(512).read_to_end(&mut head).and_then(|_| bytes.rewind());
        read.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&head);
        match text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            true => Err("it is a web page and no report".to_owned()),
            false => Ok(Self { source_name, bytes, zipped: head.starts_with(ZIP_MAGIC) }),
        }
    }

    /// Hands the unpacked text to `parse`.
    ///
    /// # Errors
    /// Where the zip is damaged or holds anything but one file, or where `parse` fails.
    pub fn read<T>(
        self,
        parse: impl FnOnce(&mut dyn Read) -> Result<T, IngestError>,
    ) -> Result<T, IngestError> {
        let Self { source_name, bytes, zipped } = self;
        if !zipped {
            return parse(&mut Lines::of(bytes));
        }
        let unreadable = |detail: String| IngestError::Unreadable { source_name, detail };
        let damaged = |error| format!("the zip is damaged or cut off: {error}");
        let mut archive = match ZipArchive::new(bytes) {
            Ok(archive) => archive,
            Err(error) => return Err(unreadable(damaged(error))),
        };
        if archive.len() != 1 {
            let count = archive.len();
            return Err(unreadable(format!("the zip holds {count} files, a report's holds one")));
        }
        match archive.by_index(0) {
            Ok(file) => parse(&mut Lines::of(file)),
            Err(error) => Err(unreadable(damaged(error))),
        }
    }
}

/// Text with every line, the last too, ended by LF alone, so that lines count alike however they
/// end; fails where it grows beyond what a report can be.
struct Lines<R> {
    inner: R,
    left: u64,
    /// Bytes of the line that has begun.
    line: usize,
    after_cr: bool,
}

impl<R: Read> Lines<R> {
    fn of(inner: R) -> Self {
        Self { inner, left: MOST_BYTES, line: 0, after_cr: false }
    }

    /// Ends lines alike in place and gives how many bytes are left.
    fn end_alike(&mut self, bytes: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..bytes.len() {
            let byte = bytes[at];
            let second_of_two = byte == b'\n' && self.after_cr;
            self.after_cr = byte == b'\r';
            if !second_of_two {
                bytes[kept] = if byte == b'\r' { b'\n' } else { byte };
                kept += 1;
            }
        }
        kept
    }

    fn measure(&mut self, bytes: &[u8]) -> io::Result<()> {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line += part.len();
            if self.line > LONGEST_LINE {
                return Err(io::Error::other(format!("a line has more than {LONGEST_LINE} bytes")));
            }
            if part.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.inner.read(buffer)?;
            self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
                io::Error::other(format!("it unpacks to more than {MOST_BYTES} bytes"))
            })?;
            if read == 0 && self.line > 0 && !buffer.is_empty() {
                self.line = 0;
                buffer[0] = b'\n';
                return Ok(1);
            }
            let kept = self.end_alike(&mut buffer[..read]);
            self.measure(&buffer[..kept])?;
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use proptest::prelude::*;
    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn text(bytes: &[u8]) -> Result<String, String> {
        let content = Content::new("a report".to_owned(), Box::new(Cursor::new(bytes.to_vec())))?;
        let read = content.read(|reader| {
            let mut text = String::new();
            reader.read_to_string(&mut text).map_err(|error| IngestError::Foreign {
                file: "a report",
                detail: error.to_string(),
            })?;
            Ok(text)
        });
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_zip_of_one_file_is_unpacked_and_any_other_refused() {
        let good = zipped(&[("a.txt", b"text")]);
        assert_eq!(text(&good).unwrap(), "text\n");
        assert!(text(&good[..good.len() / 2]).unwrap_err().contains("cut off"));
        let two = zipped(&[("a", b""), ("b", b"")]);
        assert!(text(&two).unwrap_err().contains("holds 2 files"));
        assert!(text(&zipped(&[])).is_err());
    }

    #[test]
    fn a_web_page_is_refused_however_it_begins() {
        for page in ["<!DOCTYPE html>", "\u{feff}\r\n <html>", "<?xml version=\"1.0\"?>"] {
            assert_eq!(text(page.as_bytes()).unwrap_err(), "it is a web page and no report");
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        let bomb = zipped(&[("zeros", &vec![0; 8 << 20])]);
        assert!(bomb.len() < 20_000, "{}", bomb.len());
        assert!(text(&bomb).unwrap_err().contains("a line has more than 65536 bytes"));
        let mut endless = Lines { left: 1000, ..Lines::of(io::repeat(b'\n')) };
        let error = io::copy(&mut endless, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("unpacks to more than"), "{error}");
    }

    proptest! {
        #[test]
        fn lines_end_alike_wherever_a_read_is_cut(text in "[ab\r\n]{0,40}", size in 1_usize..8) {
            let mut expected = text.replace("\r\n", "\n").replace('\r', "\n");
            if !expected.is_empty() && !expected.ends_with('\n') {
                expected.push('\n');
            }
            let mut lines = Lines::of(text.as_bytes());
            let (mut all, mut buffer) = (Vec::new(), vec![0; size]);
            loop {
                match lines.read(&mut buffer).unwrap() {
                    0 => break,
                    read => all.extend_from_slice(&buffer[..read]),
                }
            }
            prop_assert_eq!(String::from_utf8(all).unwrap(), expected);
        }
    }
}
