//! Report sources, and how they are read: files, S3 objects, URLs and the embedded sample.

mod content;
mod download;

use std::{
    borrow::Cow, collections::BTreeMap, fmt, fs::File, io::Read, net::IpAddr, path::PathBuf,
    str::FromStr, time::Instant,
};

use jiff::Timestamp;
use logging::with_causes;
use reqwest::Url;
use serde::Deserialize;
use store::{ImportedReport, ImportedReports, ReportName};

use crate::{
    IngestError, Options, Progress, SupportedCountry,
    error::Cause,
    notes::Notes,
    options::before_deadline,
    reports::{REPORTS, Report, ReportRows},
};
pub(crate) use content::{Content, sha256};

/// The maximum number of bytes to read from a source. The largest published report is 13 MB.
const MAX_BYTES: usize = 128 << 20;

/// The source of each report to import.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sources(BTreeMap<ReportName, Source>);

impl<S: Into<Option<Source>>> FromIterator<(ReportName, S)> for Sources {
    fn from_iter<I: IntoIterator<Item = (ReportName, S)>>(sources: I) -> Self {
        let given = sources.into_iter().filter_map(|(name, source)| Some((name, source.into()?)));
        Self(given.collect())
    }
}

impl Sources {
    pub fn get(&self, name: ReportName) -> Option<&Source> {
        self.0.get(&name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ReportName, &Source)> {
        self.0.iter().map(|(&name, source)| (name, source))
    }

    pub fn with(mut self, name: ReportName, source: Source) -> Self {
        self.0.insert(name, source);
        self
    }

    /// Adds the published URLs, or their copies on a mirror, for `optional` reports and required ones without a source.
    pub fn or_published(mut self, mirror: Option<&Mirror>, optional: &[ReportName]) -> Self {
        for report in &REPORTS {
            let name = report.format.name;
            if let Some(address) = report.published_at
                && (report.is_required || optional.contains(&name))
            {
                self.0.entry(name).or_insert_with(|| published_source(mirror, address));
            }
        }
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    /// An `https://` URL, or an `http://` URL for a mirror on this machine.
    Url(String),
    S3 {
        bucket: String,
        key: String,
    },
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
                _ => Err("an S3 object must have the form s3://bucket/key"),
            },
            Some(("https", _)) => Ok(Self::Url(text.to_owned())),
            Some(_) => Err("a URL must start with https://"),
            None => Ok(Self::File(text.into())),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct RemoteSource(pub Source);

impl TryFrom<String> for RemoteSource {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.parse()? {
            Source::File(_) => Err("must be an https:// URL or an s3://bucket/key object"),
            source => Ok(Self(source)),
        }
    }
}

/// Returns a URL without its credentials, query and fragment.
fn without_secrets(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return "an invalid URL".to_owned() };
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for URLs without a host, which do not have credentials.
    _ = url.set_username("");
    _ = url.set_password(None);
    url.into()
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
    /// The address to publish: the publisher's URL. For any other source, only the name of the file or object, without
    /// the operator's folder, bucket or host.
    pub(crate) fn public_address(&self) -> String {
        let last_part = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        match self {
            Self::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            Self::S3 { key, .. } => last_part(key),
            Self::Url(address) if is_published(address) => address.clone(),
            Self::Url(_) => last_part(&self.to_string()),
            Self::Embedded(_) => self.to_string(),
        }
    }

    /// Opens the report, which messages call `file`. Calls `on_received` with the number of bytes downloaded, and
    /// with the total if the server sends it.
    pub(crate) async fn open(
        &self,
        file: &'static str,
        deadline: Option<Instant>,
        on_received: impl Fn(u64, Option<u64>),
    ) -> Result<Content, IngestError> {
        let source_name = self.to_string();
        let Ok(fetched) = before_deadline(deadline, self.bytes(on_received)).await else {
            return Err(IngestError::TooSlow { file, source_name });
        };
        let opened = fetched.and_then(|bytes| Content::new(self.public_address(), bytes));
        opened.map_err(|source| match self {
            Self::Url(_) => IngestError::NotFetched { file, address: source_name, source },
            _ => IngestError::Unreadable { source_name, source },
        })
    }

    async fn bytes(
        &self,
        on_received: impl Fn(u64, Option<u64>),
    ) -> Result<Cow<'static, [u8]>, Cause> {
        let bytes = match self {
            Self::Embedded(bytes) => return Ok(Cow::Borrowed(bytes)),
            Self::File(path) => {
                let mut bytes = Vec::new();
                File::open(path)?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
                bytes
            }
            Self::Url(address) => download::download(address, on_received).await?,
            Self::S3 { bucket, key } => download::download_object(bucket, key, on_received).await?,
        };
        if bytes.len() > MAX_BYTES {
            return Err(format!("it is larger than {MAX_BYTES} bytes").into());
        }
        Ok(bytes.into())
    }
}

/// The publisher's URL for a report; `None` for the operator's own.
pub fn published_url(name: ReportName) -> Option<&'static str> {
    REPORTS.iter().find(|report| report.format.name == name)?.published_at
}

fn is_published(address: &str) -> bool {
    let mut countries = SupportedCountry::all().flat_map(SupportedCountry::addresses);
    REPORTS.iter().any(|report| report.published_at == Some(address))
        || countries.any(|published| published == address)
}

pub(crate) fn published_source(mirror: Option<&Mirror>, address: &str) -> Source {
    mirror.map_or_else(|| Source::Url(address.to_owned()), |mirror| mirror.source(address))
}

/// The base URL for copies of the published reports, which have the same file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror(Url);

impl FromStr for Mirror {
    type Err = &'static str;

    /// Parses an `https://` URL, or an `http://` URL on this machine, since plain HTTP can be tampered with.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rule = "must start with https://, or with http:// for this machine, such as \
                    http://127.0.0.1:8000";
        let url: Url = text.parse().map_err(|_| rule)?;
        match url.scheme() {
            "https" => Ok(Self(url)),
            "http" if url.host_str().is_some_and(is_loopback) => Ok(Self(url)),
            _ => Err(rule),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let address: Result<IpAddr, _> = host.trim_matches(['[', ']']).parse();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

impl Mirror {
    fn source(&self, address: &str) -> Source {
        let name = address.rsplit('/').next().unwrap_or_default();
        let mut url = self.0.clone();
        // Always `Ok`, because HTTP URLs have a host and therefore a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(name);
        }
        Source::Url(url.into())
    }
}

/// Reads all reports.
pub(crate) async fn read_sources(
    sources: &Sources,
    Options { deadline, now, .. }: Options,
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, ImportedReports), IngestError> {
    let (mut rows, mut reports) = (ReportRows::default(), ImportedReports::default());
    for report in &REPORTS {
        let name = report.format.name;
        let Some(source) = sources.get(name) else { continue };
        let (read, imported) = match read(report, source, (deadline, now), notes, progress).await {
            Ok(read) => read,
            Err(error @ (IngestError::OutOfTime | IngestError::TooSlow { .. })) => {
                return Err(error);
            }
            Err(error) => {
                let Some(country) = report.keeps_blocks_in else { return Err(error) };
                notes.countries_without_blocks.push(country);
                let kind =
                    format!("{} cannot be read; the current blocks are kept", report.format.file);
                notes.warn(kind, with_causes(&error));
                continue;
            }
        };
        if report.is_required && imported.date.is_none() {
            notes.warn("a report has no date", report.format.file);
        }
        rows.append(read);
        reports.0.insert(name, imported);
    }
    Ok((rows, reports))
}

async fn read(
    report: &Report,
    source: &Source,
    (deadline, now): (Option<Instant>, Timestamp),
    notes: &mut Notes,
    progress: &impl Fn(Progress),
) -> Result<(ReportRows, ImportedReport), IngestError> {
    let file = report.format.file;
    let on_received = |bytes, total| progress(Progress::Fetching { file, bytes, total });
    let content = source.open(file, deadline, on_received).await?;
    let (bytes, sha256) = (content.size, content.sha256.clone());
    progress(Progress::Reading { file, rows: 0 });
    let on_row = |rows| progress(Progress::Reading { file, rows });
    let source_name = || source.to_string();
    let unreadable = |source| IngestError::Unreadable { source_name: source_name(), source };
    let invalid = |source| IngestError::Report { source_name: source_name(), source };
    let text = content.into_report().map_err(unreadable)?;
    let (rows, date) = report.read(&text, notes, on_row).map_err(invalid)?;
    let (address, read_at) = (source.public_address(), now);
    let imported =
        ImportedReport { address, date, read_at, bytes, sha256, ..ImportedReport::default() };
    Ok((rows, imported))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// For each input, the source as displayed and as published, and whether a request may specify it.
    #[test]
    fn sources_are_urls_objects_or_files_and_secrets_are_neither_displayed_nor_published() {
        let described = include_str!("sources.txt").lines().map(|text| {
            let source: Source = match text.parse() {
                Ok(source) => source,
                Err(rule) => return format!("{text}\n  {rule}\n"),
            };
            let remote = RemoteSource::try_from(text.to_owned()).map(|RemoteSource(source)| source);
            assert!(remote.as_ref().is_ok_and(|it| *it == source) || remote.is_err());
            let kind = if remote.is_ok() { "remote" } else { "local" };
            let published = source.public_address();
            format!("{text}\n  {kind} {source:?}\n  {source}\n  {published}\n")
        });
        insta::assert_snapshot!(described.collect::<String>());
    }

    #[test]
    fn published_url_is_the_publishers_and_absent_for_the_operators_list() {
        let cnac = published_url(ReportName::Cnac).unwrap();
        assert!(cnac.starts_with("https://www.cnac.ca/"), "{cnac}");
        assert_eq!(published_url(ReportName::Carriers), None);
    }

    #[tokio::test]
    async fn timeout_error_names_the_source() {
        // Accepts connections but never responds.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/codes.zip", silent.local_addr().unwrap());
        let deadline = Instant::now() + crate::options::RESERVED_TIME + Duration::from_millis(300);
        let source = Source::Url(format!("{address}?signature=secret"));
        let opened = source.open("the CNAC code status", Some(deadline), |_, _| ()).await;
        let expected = format!(
            "the CNAC code status was not received from {address} in time; the current version is unchanged"
        );
        assert_eq!(opened.err().unwrap().to_string(), expected);
    }

    #[test]
    fn mirrored_reports_keep_their_file_names() {
        let described = include_str!("mirrors.txt").lines().map(|text| match text.parse() {
            Ok(mirror) => {
                let sources = Sources::default().or_published(Some(&mirror), &[]);
                assert_eq!(sources.iter().count(), 3, "only required reports");
                format!("{text}\n  {:?}\n", sources.get(ReportName::Cnac))
            }
            Err(rule) => format!("{text}\n  {rule}\n"),
        });
        insta::assert_snapshot!(described.collect::<String>());
    }
}
