//! The URLs of the reports that NANPA and CNAC publish, and mirrors of them.

use std::{net::IpAddr, str::FromStr};

use reqwest::Url;

use super::Source;
use crate::reports::{REPORTS, codes, npa_report};

/// The URLs of the required reports: NANPA's codes, CNAC's codes and NANPA's area codes.
pub const PUBLISHED_URLS: [&str; 3] = [codes::NANPA_URL, codes::CNAC_URL, npa_report::URL];

pub(super) fn is_published(address: &str) -> bool {
    REPORTS.iter().any(|report| report.published_at == Some(address))
}

pub(super) fn source(mirror: Option<&Mirror>, address: &str) -> Source {
    mirror.map_or_else(|| Source::Url(address.to_owned()), |mirror| mirror.source(address))
}

/// The base URL for copies of the published reports. The copies have the same file names.
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
        // Always `Ok`: HTTP URLs have a host and therefore a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(name);
        }
        Source::Url(url.into())
    }
}

#[cfg(test)]
mod tests {
    use store::ReportName;

    use super::{super::Sources, *};

    #[test]
    fn mirrored_reports_keep_their_file_names() {
        for (mirror, copy) in [
            ("https://a.example/reports", "https://a.example/reports/COCodeStatus_ALL.zip"),
            ("https://a.example/reports/", "https://a.example/reports/COCodeStatus_ALL.zip"),
            ("https://a.example?sig=x", "https://a.example/COCodeStatus_ALL.zip?sig=x"),
            ("http://localhost:8000", "http://localhost:8000/COCodeStatus_ALL.zip"),
            ("http://127.0.0.2:80", "http://127.0.0.2/COCodeStatus_ALL.zip"),
            ("http://[::1]/x", "http://[::1]/x/COCodeStatus_ALL.zip"),
        ] {
            let parsed: Mirror = mirror.parse().unwrap();
            let sources = Sources::default().or_published(Some(&parsed), &[]);
            assert_eq!(sources.get(ReportName::Cnac), Some(&Source::Url(copy.to_owned())));
            assert_eq!(sources.iter().count(), 3, "only required reports");
        }
        for text in [
            "http://a.example",
            "http://10.0.0.1",
            "http://localhost.a.example",
            "ftp://localhost",
            "localhost:8000",
            "/srv/reports",
            "",
        ] {
            assert!(text.parse::<Mirror>().is_err(), "{text}");
        }
    }
}
