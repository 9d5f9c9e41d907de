//! The sources of reports: a file, an S3 object, a URL, or the program itself.

mod bucket;
mod content;
mod download;
mod published;

use std::{fmt, fs::File, io::Cursor, path::PathBuf, str::FromStr, time::Instant};

use crate::{IngestError, error::Cause, options::before_deadline};
pub(crate) use content::Content;
use content::ReadSeek;
pub use published::{Mirror, PUBLISHED_ADDRESSES};

/// Maximum bytes fetched from a source; the largest published one has 13 MB.
const MAX_FETCHED_BYTES: usize = 128 * 1024 * 1024;

/// The sources of an import.
#[derive(Debug, Clone)]
pub struct Sources {
    /// NANPA's utilized central office codes, text or zip.
    pub nanpa: Source,
    /// CNAC's CO code status report, CSV or zip.
    pub cnac: Source,
    /// NANPA's area code database, `npa_report.csv`.
    pub npa_report: Source,
    /// Carrier types and trade names, which no report has; a CSV with the columns listed in docs/CLI.md.
    pub carriers: Option<Source>,
    /// NANPA's thousands block assignments, CSV or zip.
    pub thousands_blocks: Option<Source>,
}

impl Sources {
    /// `true` if `source` is one of these.
    pub(crate) fn include(&self, source: &Source) -> bool {
        let Self { nanpa, cnac, npa_report, carriers, thousands_blocks } = self;
        [nanpa, cnac, npa_report].contains(&source)
            || [carriers, thousands_blocks].into_iter().flatten().any(|named| named == source)
    }
}

/// The source of one report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A file on this machine.
    File(PathBuf),
    /// An `https://` URL, or an `http://` URL of a mirror on this machine.
    Url(String),
    /// An `s3://bucket/key` object.
    S3 { bucket: String, key: String },
    /// Bytes embedded in the program.
    Embedded(&'static [u8]),
}

impl FromStr for Source {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once("://") {
            Some(("s3", object)) => match object.split_once('/') {
                Some((bucket, key)) if !bucket.is_empty() && !key.is_empty() => {
                    Ok(Self::S3 { bucket: bucket.to_owned(), key: key.to_owned() })
                }
                _ => Err("an S3 object must be named s3://bucket/key"),
            },
            Some(("https", _)) => Ok(Self::Url(text.to_owned())),
            Some(_) => Err("an address must begin with https://"),
            None => Ok(Self::File(text.into())),
        }
    }
}

impl Source {
    /// Parses a source to fetch: never a file on the machine that reads it.
    pub(crate) fn remote(text: &str) -> Result<Self, &'static str> {
        match text.parse()? {
            Self::File(_) => Err("must be an https:// address or an s3://bucket/key object"),
            source => Ok(source),
        }
    }
}

/// A URL without its password or signature.
fn without_secrets(address: &str) -> String {
    let (scheme, without_scheme) = address.split_once("://").unwrap_or(("https", address));
    let without_query = without_scheme.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = without_query.split_once('/').unwrap_or((without_query, ""));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{path}")
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(address) => without_secrets(address).fmt(f),
            Self::S3 { bucket, key } => write!(f, "s3://{bucket}/{key}"),
            Self::Embedded(_) => f.write_str("the embedded sample"),
        }
    }
}

impl Source {
    /// Opens the report; messages call it `file`. Remote sources are downloaded in full; `received` gets the bytes so
    /// far, and the total size if the server states it.
    pub(crate) async fn open(
        &self,
        file: &'static str,
        deadline: Option<Instant>,
        received: impl Fn(u64, Option<u64>),
    ) -> Result<Content, IngestError> {
        let source_name = self.to_string();
        let Ok(fetched) = before_deadline(deadline, self.bytes(received)).await else {
            return Err(IngestError::TooSlow { file, source_name });
        };
        let opened = fetched.and_then(|bytes| Content::new(source_name.clone(), bytes));
        opened.map_err(|source| match self {
            Self::Url(_) => IngestError::NotFetched { file, address: source_name, source },
            _ => IngestError::Unreadable { source_name, source },
        })
    }

    /// The source's bytes, packed or not.
    async fn bytes(&self, received: impl Fn(u64, Option<u64>)) -> Result<Box<dyn ReadSeek>, Cause> {
        let fetched = match self {
            Self::File(path) => return Ok(Box::new(File::open(path)?)),
            Self::Embedded(bytes) => return Ok(Box::new(Cursor::new(*bytes))),
            Self::Url(address) => download::download(address, received).await?,
            Self::S3 { bucket, key } => bucket::read_object(bucket, key, received).await?,
        };
        Ok(Box::new(Cursor::new(fetched)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn sources_are_urls_objects_or_files_and_files_are_not_remote() {
        let https = Source::Url("https://x/y".into());
        let object = Source::S3 { bucket: "b".into(), key: "k/l.csv".into() };
        assert_eq!(object.to_string(), "s3://b/k/l.csv");
        for (text, source) in [("https://x/y", https), ("s3://b/k/l.csv", object)] {
            assert_eq!(text.parse(), Ok(source.clone()));
            assert_eq!(Source::remote(text), Ok(source));
        }
        for path in ["/proc/self/environ", "x/y.zip", "https:/x", ""] {
            assert_eq!(path.parse(), Ok(Source::File(path.into())));
            assert!(Source::remote(path).is_err(), "{path}");
        }
        for wrong in [
            "http://127.0.0.1:9001/next",
            "HTTPS://x",
            "file:///x",
            "s3://bucket",
            "s3:///key",
            "s3://b/",
        ] {
            assert!(wrong.parse::<Source>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn timeout_names_the_source() {
        // Accepts the request and never answers.
        let slow = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/codes.zip", slow.local_addr().unwrap());
        let deadline = Instant::now() + crate::options::RESERVED_TIME + Duration::from_millis(300);
        let source = Source::Url(format!("{address}?signature=secret"));
        let opened = source.open("the codes of CNAC", Some(deadline), |_, _| ()).await;
        let expected = format!(
            "the codes of CNAC did not come from {address} in time; the current version stays as it is"
        );
        assert_eq!(opened.err().unwrap().to_string(), expected);
    }

    #[test]
    fn password_and_signature_are_hidden() {
        let source: Source = "https://user:pw@host/a/b.zip?X-Amz-Signature=secret".parse().unwrap();
        assert_eq!(source.to_string(), "https://host/a/b.zip");
    }
}
