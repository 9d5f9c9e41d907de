//! Report content: unpacked, with normalized line endings and limits on size.

#[cfg(test)]
mod tests;

use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};

use flate2::read::MultiGzDecoder;
use logging::with_causes;
use sha2::{Digest, Sha256};
use zip::ZipArchive;

use crate::{
    IngestError,
    error::{Cause, ReportError},
};

/// Maximum unpacked bytes; the largest published report, on thousands blocks, is 200 MB.
const MAX_BYTES: u64 = 512 << 20;
/// Maximum bytes in a line, since a file that is not a report may have no line endings.
const MAX_LINE_BYTES: u64 = 64 * 1024;
/// The number of leading bytes used to detect the kind of file.
const HEAD_BYTES: u64 = 512;
/// The number of bytes hashed at a time.
const HASHED_BYTES: usize = 64 << 10;

pub(crate) trait ReadSeek: Read + Seek + Send {}
impl<T: Read + Seek + Send> ReadSeek for T {}

const ZIP: &str = "zip";
const GZIP: &str = "gzip file";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Zip,
    Gzip,
}

const UTF_16: &str = "it is UTF-16 text; save it as UTF-8";

/// The first bytes of files that are not reports, with an error message for each.
const OTHER_FORMATS: [(&[u8], &str); 5] = [
    (b"\xd0\xcf\x11\xe0", "it is an Excel workbook (XLS); save its sheet as CSV"),
    (b"%PDF", "it is a PDF, not a report"),
    (b"\xff\xfe", UTF_16),
    (b"\xfe\xff", UTF_16),
    (b"7z\xbc\xaf", "it is a 7z archive; unpack it first"),
];

impl Kind {
    /// Detects the kind from the first bytes. Rejects web pages, since a publisher's error page may have status 200.
    fn detect(head: &[u8]) -> Result<Self, &'static str> {
        if let Some((_, what)) = OTHER_FORMATS.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(what);
        }
        if head.starts_with(b"PK") {
            return Ok(Self::Zip);
        }
        if head.starts_with(b"\x1f\x8b") {
            return Ok(Self::Gzip);
        }
        // Latin text in UTF-16 is half NULs. UTF-8 text may contain a few.
        let nuls = head.iter().filter(|&&byte| byte == 0).count();
        if nuls > 0 && nuls * 4 >= head.len() {
            return Err(UTF_16);
        }
        let text = String::from_utf8_lossy(head);
        if text.trim_start_matches('\u{feff}').trim_start().starts_with('<') {
            return Err("it is a web page, not a report");
        }
        Ok(Self::Text)
    }
}

/// Returns `false` for folders and for files that macOS adds to archives.
fn is_content(name: &str) -> bool {
    let file_name = name.rsplit('/').next().unwrap_or_default();
    let is_macos_metadata =
        name.starts_with("__MACOSX/") || file_name.starts_with("._") || file_name == ".DS_Store";
    !file_name.is_empty() && !is_macos_metadata
}

fn damage_error(archive: &str, error: impl Into<io::Error>) -> Cause {
    format!("the {archive} is damaged or truncated: {}", with_causes(&error.into())).into()
}

/// Returns the index of the only report in an archive.
fn report_index<R: Read + Seek>(archive: &ZipArchive<R>) -> Result<usize, Cause> {
    let names = (0..archive.len())
        .filter_map(|index| archive.name_for_index(index))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| damage_error(ZIP, error))?;
    if names.iter().any(|name| name == "xl/workbook.xml") {
        return Err("it is an Excel workbook (XLSX); save its sheet as CSV".into());
    }
    let files: Vec<usize> = (0..names.len()).filter(|&index| is_content(&names[index])).collect();
    match files[..] {
        [index] => Ok(index),
        _ => Err(format!("the zip has {} files; it must have exactly one", files.len()).into()),
    }
}

pub(crate) struct Content {
    source_name: String,
    bytes: Box<dyn ReadSeek>,
    kind: Kind,
    pub fingerprint: Fingerprint,
}

/// The size and SHA-256 hash of a file, before unpacking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

impl Fingerprint {
    fn new(bytes: impl Read) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(HASHED_BYTES, bytes);
        let (mut length, mut hash) = (0, Sha256::new());
        loop {
            let part = reader.fill_buf()?;
            if part.is_empty() {
                let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
                return Ok(Self { bytes: length, sha256 });
            }
            hash.update(part);
            let read = part.len();
            length += read as u64;
            reader.consume(read);
        }
    }
}

impl Content {
    /// Detects the kind of content. Archives are read to the end, so that damage is reported as a checksum error.
    pub fn new(source_name: String, mut bytes: Box<dyn ReadSeek>) -> Result<Self, Cause> {
        let fingerprint = Fingerprint::new(&mut bytes)?;
        let mut content = Self { source_name, bytes, kind: Kind::Text, fingerprint };
        let head = content
            .unpack(|bytes| read_head(bytes))?
            .map_err(|error| format!("its first bytes cannot be read: {}", with_causes(&error)))?;
        content.kind = Kind::detect(&head)?;
        let packing = match content.kind {
            Kind::Text => return Ok(content),
            Kind::Gzip => GZIP,
            Kind::Zip => ZIP,
        };
        let head = content.unpack(|bytes| {
            let mut unpacked = bytes.take(MAX_BYTES + 1);
            let head = read_head(&mut unpacked)?;
            io::copy(&mut unpacked, &mut io::sink())?;
            let is_too_large = unpacked.limit() == 0;
            let too_large =
                || io::Error::other(format!("it unpacks to more than {MAX_BYTES} bytes"));
            if is_too_large { Err(too_large()) } else { Ok(head) }
        })?;
        match Kind::detect(&head.map_err(|error| damage_error(packing, error))?) {
            Ok(Kind::Text) => Ok(content),
            Ok(_) => Err(format!("the {packing} contains another archive; unpack it first").into()),
            Err(what) => Err(format!("in the {packing}: {what}").into()),
        }
    }

    fn unpack<T>(&mut self, read: impl FnOnce(&mut dyn Read) -> T) -> Result<T, Cause> {
        self.bytes.rewind()?;
        match self.kind {
            Kind::Text => Ok(read(&mut self.bytes)),
            Kind::Gzip => Ok(read(&mut MultiGzDecoder::new(&mut self.bytes))),
            Kind::Zip => {
                let archive = ZipArchive::new(&mut self.bytes);
                let mut archive = archive.map_err(|error| damage_error(ZIP, error))?;
                let index = report_index(&archive)?;
                let mut file = archive.by_index(index).map_err(|error| damage_error(ZIP, error))?;
                Ok(read(&mut file))
            }
        }
    }

    /// Calls `parse` with the unpacked text. `on_line` is called with the number of lines read so far.
    pub fn read<T>(
        mut self,
        on_line: impl Fn(u64),
        parse: impl FnOnce(&mut dyn Read) -> Result<T, ReportError>,
    ) -> Result<T, IngestError> {
        let parsed = self.unpack(|bytes| parse(&mut NormalizedText::new(bytes, on_line)));
        let source_name = self.source_name;
        match parsed {
            Ok(parsed) => parsed.map_err(|source| IngestError::Report { source_name, source }),
            Err(source) => Err(IngestError::Unreadable { source_name, source }),
        }
    }
}

fn read_head(bytes: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    bytes.take(HEAD_BYTES).read_to_end(&mut head)?;
    Ok(head)
}

/// Text whose lines all end with LF, including the last. Reading fails if a line is too long.
struct NormalizedText<R, F> {
    inner: BufReader<R>,
    line: Cursor<Vec<u8>>,
    lines: u64,
    /// Called with the number of lines read so far.
    on_line: F,
}

impl<R: Read, F: Fn(u64)> NormalizedText<R, F> {
    fn new(inner: R, on_line: F) -> Self {
        Self { inner: BufReader::new(inner), line: Cursor::default(), lines: 0, on_line }
    }

    /// Reads the next line, which is empty at the end of the text.
    fn read_line(&mut self) -> io::Result<()> {
        let line = self.line.get_mut();
        line.clear();
        self.inner.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', line)?;
        if line.len() as u64 > MAX_LINE_BYTES {
            return Err(io::Error::other(format!(
                "a line is longer than {MAX_LINE_BYTES} bytes; lines must end with LF or CRLF"
            )));
        }
        if !line.is_empty() {
            let end = [&b"\r\n"[..], b"\n", b"\r"].into_iter().find(|end| line.ends_with(end));
            line.truncate(line.len() - end.map_or(0, <[u8]>::len));
            line.push(b'\n');
            self.lines += 1;
            (self.on_line)(self.lines);
        }
        self.line.set_position(0);
        Ok(())
    }
}

impl<R: Read, F: Fn(u64)> Read for NormalizedText<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.line.position() == self.line.get_ref().len() as u64 {
            self.read_line()?;
        }
        self.line.read(buffer)
    }
}
