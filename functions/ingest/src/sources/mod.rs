//! Where a report comes from: a file, an S3 object, a published address, or the program itself.

mod bucket;
mod content;
mod download;

use std::{fmt, fs::File, io::Cursor, path::PathBuf, str::FromStr};

use serde::Deserialize;

use crate::{IngestError, error::Cause};
pub(crate) use content::Content;
use content::ReadSeek;

/// The addresses at which NANPA and CNAC publish their reports.
const NANPA_ADDRESS: &str =
    "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip";
const CNAC_ADDRESS: &str = "https://www.cnac.ca/data/COCodeStatus_ALL.zip";
const NPA_REPORT_ADDRESS: &str = "https://reports.nanpa.com/public/npa_report.csv";

/// Most bytes that are fetched of one source; the largest published one has 13 MB.
const MOST_FETCHED: usize = 128 * 1024 * 1024;

/// The sources of an import.
#[derive(Debug, Clone)]
pub struct Sources {
    /// NANPA's utilized central office codes, text or zip.
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

/// The sources that somebody named, by the fields of [`Sources`].
#[derive(Debug, Clone, Default)]
pub struct NamedSources {
    pub nanpa: Option<Source>,
    pub cnac: Option<Source>,
    pub npa_report: Option<Source>,
    pub carriers: Option<Source>,
    pub thousands_blocks: Option<Source>,
}

impl NamedSources {
    /// The sources of an import: a needed report that nobody named comes from the address at which
    /// NANPA or CNAC publishes it.
    pub fn or_published(self) -> Sources {
        let at = |address: &str| Source::Https(address.to_owned());
        Sources {
            nanpa: self.nanpa.unwrap_or_else(|| at(NANPA_ADDRESS)),
            cnac: self.cnac.unwrap_or_else(|| at(CNAC_ADDRESS)),
            npa_report: self.npa_report.unwrap_or_else(|| at(NPA_REPORT_ADDRESS)),
            carriers: self.carriers,
            thousands_blocks: self.thousands_blocks,
        }
    }
}

impl Sources {
    /// Whether `source` is one of them.
    pub(crate) fn include(&self, source: &Source) -> bool {
        let Self { nanpa, cnac, npa_report, carriers, thousands_blocks } = self;
        [nanpa, cnac, npa_report].contains(&source)
            || [carriers, thousands_blocks].into_iter().flatten().any(|named| named == source)
    }
}

/// Where one report comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file on this machine.
    File(PathBuf),
    /// An `https://` address.
    Https(String),
    /// An `s3://bucket/key` object.
    S3 { bucket: String, key: String },
    /// Bytes that are part of the program.
    Embedded(&'static [u8]),
}

/// The rule that a text breaks if it names no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    #[error("an address must begin with https://")]
    Scheme,
    #[error("an S3 object must be named s3://bucket/key")]
    Object,
    #[error("must be an https:// address or an s3://bucket/key object")]
    Local,
}

impl FromStr for Source {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        match text.split_once("://") {
            Some(("s3", object)) => match object.split_once('/') {
                Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => {
                    Ok(Self::S3 { bucket: bucket.to_owned(), key: key.to_owned() })
                }
                _ => Err(SourceError::Object),
            },
            Some(("https", _)) => Ok(Self::Https(text.to_owned())),
            Some(_) => Err(SourceError::Scheme),
            None => Ok(Self::File(text.into())),
        }
    }
}

/// A source that has to be fetched: an `https://` address or an `s3://` object, and never a file on
/// the machine that reads it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RemoteSource(pub Source);

impl FromStr for RemoteSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        match text.parse()? {
            source @ (Source::Https(_) | Source::S3 { .. }) => Ok(Self(source)),
            Source::File(_) | Source::Embedded(_) => Err(SourceError::Local),
        }
    }
}

impl TryFrom<String> for RemoteSource {
    type Error = SourceError;

    fn try_from(text: String) -> Result<Self, SourceError> {
        text.parse()
    }
}

/// An address without the password or signature that it may carry.
fn without_secrets(address: &str) -> String {
    let without_scheme = address.strip_prefix("https://").unwrap_or(address);
    let without_query = without_scheme.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = without_query.split_once('/').unwrap_or((without_query, ""));
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
    /// Opens the report. One that has to be fetched is fetched whole.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened or fetched, or is something else than one report,
    /// packed or not.
    pub(crate) async fn open(&self) -> Result<Content, IngestError> {
        let unreadable =
            |source: Cause| IngestError::Unreadable { source_name: self.to_string(), source };
        let bytes = self.bytes().await.map_err(unreadable)?;
        Content::new(self.to_string(), bytes).map_err(|error| unreadable(error.into()))
    }

    /// The bytes of the source, packed or not.
    async fn bytes(&self) -> Result<Box<dyn ReadSeek>, Cause> {
        Ok(match self {
            Self::File(path) => Box::new(File::open(path)?),
            Self::Https(address) => Box::new(Cursor::new(download::download(address).await?)),
            Self::S3 { bucket, key } => {
                Box::new(Cursor::new(bucket::read_object(bucket, key).await?))
            }
            Self::Embedded(bytes) => Box::new(Cursor::new(*bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_an_address_an_object_or_a_file() {
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
    fn a_path_is_not_a_remote_source() {
        for text in ["/proc/self/environ", "reports/a.zip", "https:/x", "", "file:///etc/passwd"] {
            assert!(text.parse::<RemoteSource>().is_err(), "{text}");
        }
        let address: RemoteSource = "https://x/y".parse().unwrap();
        assert_eq!(address.0, Source::Https("https://x/y".into()));
        assert!("s3://b/k".parse::<RemoteSource>().is_ok());
    }

    #[test]
    fn only_needed_reports_that_nobody_named_come_from_their_publishers() {
        let file = |name: &str| Source::File(name.into());
        let named = NamedSources {
            cnac: Some(file("cnac.csv")),
            thousands_blocks: Some(file("blocks.csv")),
            ..NamedSources::default()
        };
        let sources = named.or_published();
        assert_eq!(sources.nanpa, Source::Https(NANPA_ADDRESS.to_owned()));
        assert_eq!(sources.npa_report, Source::Https(NPA_REPORT_ADDRESS.to_owned()));
        assert_eq!(sources.cnac, file("cnac.csv"));
        assert_eq!(
            (&sources.carriers, &sources.thousands_blocks),
            (&None, &Some(file("blocks.csv")))
        );
        assert!(sources.include(&file("cnac.csv")) && sources.include(&file("blocks.csv")));
        assert!(!sources.include(&file("nanpa.csv")));
    }

    #[test]
    fn a_password_or_signature_is_not_shown() {
        let source: Source = "https://user:pw@host/a/b.zip?X-Amz-Signature=secret".parse().unwrap();
        assert_eq!(source.to_string(), "https://host/a/b.zip");
    }
}
