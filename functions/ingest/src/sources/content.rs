//! A report's content: unpacked, its lines ended alike, and bounded as it is read.

#[cfg(test)]
mod tests;

use std::io::{self, Read, Seek};

use flate2::read::MultiGzDecoder;
use zip::ZipArchive;

use crate::IngestError;

/// Most a report may unpack to; the largest published one, of the thousands blocks, has 200 MB.
const MOST_BYTES: u64 = 512 << 20;
/// Most one line may have: what is no report at all need not have lines.
const LONGEST_LINE: usize = 64 * 1024;
/// How much of the content tells what it is.
const HEAD: u64 = 512;

pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

/// What content is, by how it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Zip,
    Gzip,
}

const UTF_16: &str = "it is UTF-16 text; save it as UTF-8";

/// How files begin that are no report, packed or not.
const FOREIGN: [(&[u8], &str); 5] = [
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook (XLS); save its sheet as CSV"),
    (b"%PDF", "it is a PDF and no report"),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (b"7z\xbc\xaf", "it is a 7z archive; unpack it first"),
];

impl Kind {
    /// Tells by the first bytes. A publisher's error page may come with status 200, so web pages
    /// have to be told from reports, too.
    fn of(head: &[u8]) -> Result<Self, &'static str> {
        if let Some((_, what)) = FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(what);
        }
        if head.starts_with(b"PK") {
            return Ok(Self::Zip);
        }
        if head.starts_with(b"\x1f\x8b") {
            return Ok(Self::Gzip);
        }
        // In UTF-16 every other byte of Latin letters is NUL; a stray NUL is not yet that.
        let nuls = head.iter().filter(|&&byte| byte == 0).count();
        if nuls > 0 && nuls * 4 >= head.len() {
            return Err(UTF_16);
        }
        let text = String::from_utf8_lossy(head);
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return Err("it is a web page and no report");
        }
        Ok(Self::Text)
    }
}

/// The bytes of a report, packed or not.
enum Bytes {
    Text(Box<dyn ReadSeek>),
    Gzip(Box<dyn ReadSeek>),
    Zip {
        archive: ZipArchive<Box<dyn ReadSeek>>,
        /// Where the report is in it.
        place: usize,
    },
}

impl Bytes {
    /// The unpacked bytes from their beginning.
    fn unpacked(&mut self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Text(bytes) => {
                bytes.rewind()?;
                Ok(Box::new(bytes))
            }
            Self::Gzip(bytes) => {
                bytes.rewind()?;
                Ok(Box::new(MultiGzDecoder::new(bytes)))
            }
            Self::Zip { archive, place } => Ok(Box::new(archive.by_index(*place)?)),
        }
    }

    /// Reads packed bytes to their end, where their checksum stands: a damaged report must not be
    /// taken for one whose rows are wrong. Gives how the unpacked bytes begin.
    fn verify(&mut self) -> io::Result<Vec<u8>> {
        let mut unpacked = self.unpacked()?.take(MOST_BYTES + 1);
        let mut head = Vec::new();
        unpacked.by_ref().take(HEAD).read_to_end(&mut head)?;
        let rest = io::copy(&mut unpacked, &mut io::sink())?;
        if head.len() as u64 + rest > MOST_BYTES {
            return Err(too_large());
        }
        Ok(head)
    }
}

fn too_large() -> io::Error {
    io::Error::other(format!("it unpacks to more than {MOST_BYTES} bytes"))
}

/// Whether an entry of an archive is more than what file managers add: folders, and the files that
/// macOS keeps beside others.
fn is_content(entry: &str) -> bool {
    let file_name = entry.rsplit('/').next().unwrap_or_default();
    let is_of_macos =
        entry.starts_with("__MACOSX/") || file_name.starts_with("._") || file_name == ".DS_Store";
    !file_name.is_empty() && !is_of_macos
}

/// The place of the one report in an archive.
fn place_of_report<R: Read + Seek>(archive: &ZipArchive<R>) -> Result<usize, String> {
    let names = (0..archive.len()).filter_map(|place| archive.name_for_index(place));
    let names = names.collect::<Result<Vec<_>, _>>();
    let names = names.map_err(|error| format!("the zip is damaged or cut off: {error}"))?;
    if names.iter().any(|name| name == "xl/workbook.xml") {
        return Err("it is an Excel workbook (XLSX); save its sheet as CSV".to_owned());
    }
    let places: Vec<usize> = (0..names.len()).filter(|&place| is_content(&names[place])).collect();
    match places[..] {
        [place] => Ok(place),
        _ => Err(format!("the zip holds {} files, a report's holds one", places.len())),
    }
}

/// A report that is ready to be read.
pub(crate) struct Content {
    source_name: String,
    bytes: Bytes,
}

impl Content {
    /// Looks at how the content begins, and whether it is whole if it is packed.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, is damaged, or is something else than one report.
    pub fn new(source_name: String, mut bytes: Box<dyn ReadSeek>) -> Result<Self, String> {
        let mut head = Vec::new();
        let read = bytes.by_ref().take(HEAD).read_to_end(&mut head);
        read.and_then(|_| bytes.rewind()).map_err(|error| error.to_string())?;
        let (packing, mut packed) = match Kind::of(&head)? {
            Kind::Text => return Ok(Self { source_name, bytes: Bytes::Text(bytes) }),
            Kind::Gzip => ("gzip file", Bytes::Gzip(bytes)),
            Kind::Zip => {
                let archive = ZipArchive::new(bytes)
                    .map_err(|error| format!("the zip is damaged or cut off: {error}"))?;
                let place = place_of_report(&archive)?;
                ("zip", Bytes::Zip { archive, place })
            }
        };
        let unpacked_head = packed
            .verify()
            .map_err(|error| format!("the {packing} is damaged or cut off: {error}"))?;
        match Kind::of(&unpacked_head) {
            Ok(Kind::Text) => Ok(Self { source_name, bytes: packed }),
            Ok(Kind::Zip | Kind::Gzip) => {
                Err(format!("the {packing} holds a packed file; unpack it first"))
            }
            Err(what) => Err(format!("in the {packing}: {what}")),
        }
    }

    /// Hands the unpacked text to `parse`.
    ///
    /// # Errors
    /// Returns an error that names the source if it cannot be read or `parse` fails.
    pub fn read<T>(
        mut self,
        parse: impl FnOnce(&mut dyn Read) -> Result<T, IngestError>,
    ) -> Result<T, IngestError> {
        let source_name = self.source_name;
        let parsed = match self.bytes.unpacked() {
            Ok(unpacked) => parse(&mut Lines::of(unpacked)),
            Err(error) => {
                return Err(IngestError::Unreadable { source_name, detail: error.to_string() });
            }
        };
        parsed.map_err(|error| IngestError::InSource { source_name, error: Box::new(error) })
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
            self.left = self.left.checked_sub(read as u64).ok_or_else(too_large)?;
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
