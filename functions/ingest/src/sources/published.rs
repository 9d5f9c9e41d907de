//! The URLs where NANPA and CNAC publish their reports, and mirrors with copies.

use std::{net::IpAddr, str::FromStr};

use reqwest::Url;

use super::{Source, Sources};

/// The URLs of the reports every import needs: NANPA's codes, CNAC's codes and NANPA's area codes.
pub const PUBLISHED_ADDRESSES: [&str; 3] = [
    "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip",
    "https://www.cnac.ca/data/COCodeStatus_ALL.zip",
    "https://reports.nanpa.com/public/npa_report.csv",
];

impl Sources {
    /// The reports that NANPA and CNAC publish, or their copies on a mirror.
    pub fn published(mirror: Option<&Mirror>) -> Self {
        let [nanpa, cnac, npa_report] = PUBLISHED_ADDRESSES.map(|address| match mirror {
            Some(mirror) => mirror.copy_of(address),
            None => Source::Url(address.to_owned()),
        });
        Self { nanpa, cnac, npa_report, carriers: None, thousands_blocks: None }
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
    fn sources_include_every_named_one() {
        let file = |name: &str| Source::File(name.into());
        let blocks = Some(file("blocks.csv"));
        let sources = Sources { thousands_blocks: blocks, ..Sources::published(None) };
        assert!(sources.include(&file("blocks.csv")));
        assert!(sources.include(&Source::Url(PUBLISHED_ADDRESSES[2].to_owned())));
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
            assert_eq!(Sources::published(Some(&parsed)).cnac, expected);
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
