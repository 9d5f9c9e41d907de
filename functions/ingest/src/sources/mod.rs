//! Where a report comes from: a file, an S3 object, a published address, or the program itself.

mod bucket;
mod content;
mod download;

use std::{fmt, fs::File, io::Cursor, path::PathBuf, str::FromStr};

use logging::with_causes;
use serde::Deserialize;

use crate::IngestError;
pub(crate) use content::Content;

/// Where NANPA and CNAC publish their reports.
pub const NANPA_ADDRESS: &str =
    "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip";
pub const CNAC_ADDRESS: &str = "https://www.cnac.ca/data/COCodeStatus_ALL.zip";
pub const NPA_REPORT_ADDRESS: &str = "https://reports.nanpa.com/public/npa_report.csv";

/// Most bytes that are fetched of one source; the largest published one has 13 MB.
const MOST_FETCHED: usize = 128 * 1024 * 1024;

/// The inputs of an import.
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
    /// NANPA's thousands block assignments, CSV or zip.
    pub thousands_blocks: Option<Source>,
}

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    /// An `https://` address.
    Https(String),
    /// An `s3://bucket/key` object.
    S3 {
        bucket: String,
        key: String,
    },
    /// Bytes the program brings along.
    Embedded(&'static [u8]),
}

/// Text that names no source; says the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSource {
    #[error("an address begins with https://")]
    Scheme,
    #[error("an S3 object is named s3://bucket/key")]
    Object,
    #[error("must be an https:// address or an s3://bucket/key object")]
    Local,
}

impl FromStr for Source {
    type Err = NoSource;

    fn from_str(text: &str) -> Result<Self, NoSource> {
        match text.split_once("://") {
            Some(("s3", object)) => match object.split_once('/') {
                Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => {
                    Ok(Self::S3 { bucket: bucket.to_owned(), key: key.to_owned() })
                }
                _ => Err(NoSource::Object),
            },
            Some(("https", _)) => Ok(Self::Https(text.to_owned())),
            Some(_) => Err(NoSource::Scheme),
            None => Ok(Self::File(text.into())),
        }
    }
}

/// A source that has to be fetched: an `https://` address or an `s3://` object, and never a file of
/// the machine that reads it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RemoteSource(pub Source);

impl FromStr for RemoteSource {
    type Err = NoSource;

    fn from_str(text: &str) -> Result<Self, NoSource> {
        match text.parse()? {
            source @ (Source::Https(_) | Source::S3 { .. }) => Ok(Self(source)),
            Source::File(_) | Source::Embedded(_) => Err(NoSource::Local),
        }
    }
}

impl TryFrom<String> for RemoteSource {
    type Error = NoSource;

    fn try_from(text: String) -> Result<Self, NoSource> {
        text.parse()
    }
}

/// An address without the password or signature that it may carry.
fn without_secrets(address: &str) -> String {
    let rest = address.strip_prefix("https://").unwrap_or(address);
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("https://{host}/{path}")
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Https(address) => without_secrets(address).fmt(f),
            Self::S3 { bucket, key } => write!(f, "s3://{bucket}/{key}"),
            Self::Embedded(_) => f.write_str("the embedded sample"),
        }
    }
}

impl Source {
    /// Opens the report; what has to be fetched is fetched whole.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened or fetched, or is something else than one report,
    /// packed or not.
    pub(crate) async fn open(&self) -> Result<Content, IngestError> {
        let unreadable =
            |detail: String| IngestError::Unreadable { source_name: self.to_string(), detail };
        let content = match self {
            Self::File(path) => {
                let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
                Content::new(self.to_string(), Box::new(file))
            }
            Self::Https(address) => {
                let bytes = download::download(address).await;
                let bytes = bytes.map_err(|error| unreadable(with_causes(&error)))?;
                Content::new(self.to_string(), Box::new(Cursor::new(bytes)))
            }
            Self::S3 { bucket, key } => {
                let bytes = bucket::object(bucket, key).await;
                let bytes = bytes.map_err(|error| unreadable(with_causes(&error)))?;
                Content::new(self.to_string(), Box::new(Cursor::new(bytes)))
            }
            Self::Embedded(bytes) => Content::new(self.to_string(), Box::new(Cursor::new(*bytes))),
        };
        content.map_err(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_objects_and_paths_are_told_apart() {
        assert_eq!("https://x/y".parse(), Ok(Source::Https("https://x/y".into())));
        assert_eq!("x/y.zip".parse(), Ok(Source::File("x/y.zip".into())));
        let object = Source::S3 { bucket: "b".into(), key: "k/l.csv".into() };
        assert_eq!("s3://b/k/l.csv".parse(), Ok(object.clone()));
        assert_eq!(object.to_string(), "s3://b/k/l.csv");
        for wrong in ["http://x/y", "HTTPS://x", "ftp://x", "s3://bucket", "s3:///key", "s3://b/"] {
            assert!(wrong.parse::<Source>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_is_no_remote_source() {
        for text in ["/proc/self/environ", "reports/a.zip", "https:/x", "", "file:///etc/passwd"] {
            assert!(text.parse::<RemoteSource>().is_err(), "{text}");
        }
        let address: RemoteSource = "https://x/y".parse().unwrap();
        assert_eq!(address.0, Source::Https("https://x/y".into()));
        assert!("s3://b/k".parse::<RemoteSource>().is_ok());
    }

    #[test]
    fn a_password_or_signature_is_not_shown() {
        let source: Source = "https://user:pw@host/a/b.zip?X-Amz-Signature=secret".parse().unwrap();
        assert_eq!(source.to_string(), "https://host/a/b.zip");
    }
}
