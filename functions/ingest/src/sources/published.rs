//! The URLs where NANPA and CNAC publish their reports, and mirrors with copies.

use std::{net::IpAddr, str::FromStr};

use reqwest::Url;

use super::{Source, Sources};

const NANPA: &str =
    "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip";
const CNAC: &str = "https://www.cnac.ca/data/COCodeStatus_ALL.zip";
const NPA_REPORT: &str = "https://reports.nanpa.com/public/npa_report.csv";

/// The URLs of the reports every import needs.
pub const PUBLISHED_ADDRESSES: [&str; 3] = [NANPA, CNAC, NPA_REPORT];

/// The explicitly named sources, by the fields of [`Sources`].
#[derive(Debug, Clone, Default)]
pub struct NamedSources {
    pub nanpa: Option<Source>,
    pub cnac: Option<Source>,
    pub npa_report: Option<Source>,
    pub carriers: Option<Source>,
    pub thousands_blocks: Option<Source>,
}

impl NamedSources {
    /// The sources of an import. An unnamed required report comes from the mirror, or without one from NANPA or CNAC.
    pub fn or_published(self, mirror: Option<&Mirror>) -> Sources {
        let at = |address: &str| match mirror {
            Some(mirror) => mirror.copy_of(address),
            None => Source::Url(address.to_owned()),
        };
        Sources {
            nanpa: self.nanpa.unwrap_or_else(|| at(NANPA)),
            cnac: self.cnac.unwrap_or_else(|| at(CNAC)),
            npa_report: self.npa_report.unwrap_or_else(|| at(NPA_REPORT)),
            carriers: self.carriers,
            thousands_blocks: self.thousands_blocks,
        }
    }
}

/// A base URL for copies of the published reports, which keep their file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror(Url);

impl FromStr for Mirror {
    type Err = &'static str;

    /// Parses an `https://` URL, or an `http://` URL on this machine: over a network, anyone in between could change
    /// the reports.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rule = "must begin with https://, or with http:// for this machine, such as \
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
    /// The mirror's copy of the report published at `address`.
    fn copy_of(&self, address: &str) -> Source {
        let name = address.rsplit('/').next().unwrap_or_default();
        let mut url = self.0.clone();
        // Only a URL without a host has no path, and the scheme requires a host.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push(name);
        }
        Source::Url(url.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unnamed_required_reports_come_from_their_publishers() {
        let file = |name: &str| Source::File(name.into());
        let named = NamedSources {
            cnac: Some(file("cnac.csv")),
            thousands_blocks: Some(file("blocks.csv")),
            ..NamedSources::default()
        };
        let sources = named.or_published(None);
        assert_eq!(sources.nanpa, Source::Url(NANPA.to_owned()));
        assert_eq!(sources.npa_report, Source::Url(NPA_REPORT.to_owned()));
        assert_eq!(sources.cnac, file("cnac.csv"));
        assert_eq!(
            (&sources.carriers, &sources.thousands_blocks),
            (&None, &Some(file("blocks.csv")))
        );
        assert!(sources.include(&file("cnac.csv")) && sources.include(&file("blocks.csv")));
        assert!(!sources.include(&file("nanpa.csv")));
    }

    #[test]
    fn mirror_has_the_reports_under_their_published_names() {
        for (mirror, copy) in [
            ("https://a.example/reports", "https://a.example/reports/COCodeStatus_ALL.zip"),
            ("https://a.example/reports/", "https://a.example/reports/COCodeStatus_ALL.zip"),
            ("https://a.example?sig=x", "https://a.example/COCodeStatus_ALL.zip?sig=x"),
            ("http://localhost:8000", "http://localhost:8000/COCodeStatus_ALL.zip"),
            ("http://127.0.0.2:80", "http://127.0.0.2/COCodeStatus_ALL.zip"),
            ("http://[::1]/x", "http://[::1]/x/COCodeStatus_ALL.zip"),
        ] {
            let parsed: Mirror = mirror.parse().unwrap();
            let expected = Source::Url(copy.to_owned());
            assert_eq!(NamedSources::default().or_published(Some(&parsed)).cnac, expected);
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
