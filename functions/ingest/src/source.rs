//! Where a report comes from, and its text once it is fetched, unzipped and decoded.

use std::{
    fmt,
    io::{Cursor, Read},
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use zip::ZipArchive;

use crate::IngestError;

/// The four inputs of an import.
#[derive(Debug, Clone)]
pub struct Sources {
    /// NANPA's utilised central office codes, text or zip.
    pub nanpa: Source,
    /// CNAC's CO code status report, CSV or zip.
    pub cnac: Source,
    /// NANPA's area code database, `npa_report.csv`.
    pub npa_report: Source,
    /// Carrier types and trade names, which no report holds; a CSV in the columns of spec 2.2.
    pub carriers: Option<Source>,
}

/// A file, a published address, or bytes the program brings along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    Https(String),
    Embedded(&'static [u8]),
}

/// What an uncompressed report may have; the largest published one has 40 MB.
const LARGEST: u64 = 512 * 1024 * 1024;
const FETCH_TIMEOUT: Duration = Duration::from_secs(120);
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

impl FromStr for Source {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.starts_with("https://") {
            true => Self::Https(text.to_owned()),
            false => Self::File(text.into()),
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Https(address) => address.fmt(f),
            Self::Embedded(_) => f.write_str("the embedded sample"),
        }
    }
}

impl Source {
    /// The report's text.
    ///
    /// # Errors
    /// Where it cannot be fetched or read, or is a zip of anything but one text file.
    pub(crate) async fn read(&self) -> Result<String, IngestError> {
        let unreadable =
            |detail: String| IngestError::Unreadable { source_name: self.to_string(), detail };
        let bytes = match self {
            Self::File(path) => read_file(path).map_err(|error| unreadable(error.to_string()))?,
            Self::Https(address) => {
                fetch(address).await.map_err(|error| unreadable(reasons(&error)))?
            }
            Self::Embedded(bytes) => bytes.to_vec(),
        };
        let bytes = match bytes.starts_with(ZIP_MAGIC) {
            true => unzip(bytes).map_err(unreadable)?,
            false => bytes,
        };
        Ok(decode(bytes))
    }
}

fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

async fn fetch(address: &str) -> Result<Vec<u8>, reqwest::Error> {
    let client = reqwest::Client::builder().timeout(FETCH_TIMEOUT).https_only(true).build()?;
    let answer = client.get(address).send().await?.error_for_status()?;
    Ok(answer.bytes().await?.to_vec())
}

/// The error with its causes: reqwest's own text stops at «error sending request».
fn reasons(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", reasons(cause)),
        None => error.to_string(),
    }
}

fn unzip(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))
        .map_err(|error| format!("the zip is damaged or cut off: {error}"))?;
    if archive.len() != 1 {
        return Err(format!("the zip holds {} files, a report's holds one", archive.len()));
    }
    let entry = archive.by_index(0).map_err(|error| format!("the zip is damaged: {error}"))?;
    let mut content = Vec::new();
    let size = entry.take(LARGEST + 1).read_to_end(&mut content);
    match size.map_err(|error| format!("the zip is damaged: {error}"))? as u64 {
        ..=LARGEST => Ok(content),
        _ => Err(format!("the zip unpacks to more than {LARGEST} bytes")),
    }
}

/// Text in UTF-8, with or without a byte order mark, or else in Windows-1252, where any bytes are
/// text.
fn decode(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
        Err(error) => encoding_rs::WINDOWS_1252.decode(error.as_bytes()).0.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

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

    #[test]
    fn a_zip_of_one_file_is_unpacked_and_any_other_refused() {
        let good = zipped(&[("a.txt", b"text")]);
        assert_eq!(unzip(good.clone()), Ok(b"text".to_vec()));
        assert!(unzip(good[..good.len() / 2].to_vec()).unwrap_err().contains("cut off"));
        assert!(unzip(zipped(&[("a", b""), ("b", b"")])).unwrap_err().contains("2 files"));
    }

    #[test]
    fn text_is_utf8_or_windows_1252() {
        assert_eq!(decode("\u{feff}Québec".into()), "Québec");
        assert_eq!(decode(b"Qu\xe9bec".to_vec()), "Québec");
    }

    #[test]
    fn an_address_and_a_path_are_told_apart() {
        assert_eq!("https://x/y".parse(), Ok(Source::Https("https://x/y".into())));
        assert_eq!("x/y.zip".parse(), Ok(Source::File("x/y.zip".into())));
    }
}
