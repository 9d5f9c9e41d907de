//! The names of data versions.

use std::fmt;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rand::{RngExt, distr::Alphanumeric};
use serde::{Deserialize, Serialize};

/// The name of a data version, such as `20261121T090003Z-5fGh2kLmN8pQrS1t`: its creation time, so that names
/// sort by age, and random characters.
///
/// Names are unique across imports even if clocks are wrong, because the random part has 95 bits. Safe
/// publishing depends on this.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

const TIME_FORMAT: &str = "%Y%m%dT%H%M%SZ";
const RANDOM_LENGTH: usize = 16;

impl Version {
    /// Generates a new, unique name.
    pub fn new(created_at: Timestamp) -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(RANDOM_LENGTH);
        let random: String = characters.map(char::from).collect();
        Self(format!("{}-{random}", created_at.strftime(TIME_FORMAT)))
    }

    /// Parses a version name; `None` if it is malformed.
    pub fn parse(name: &str) -> Option<Self> {
        let version = Self(name.to_owned());
        version.created_at().map(|_| version)
    }

    pub(crate) fn from_name(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The creation time by the importing machine's clock; `None` if the name is malformed.
    pub fn created_at(&self) -> Option<Timestamp> {
        let (time, _) = self.0.split_once('-')?;
        let time = DateTime::strptime(TIME_FORMAT, time).ok()?;
        time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Version {
    fn eq(&self, text: &str) -> bool {
        self.0 == text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_created_in_the_same_second_differ() {
        let now: Timestamp = "2026-11-21T09:00:03Z".parse().unwrap();
        let (first, second) = (Version::new(now), Version::new(now));
        assert_ne!(first, second);
        assert_eq!(first.created_at(), Some(now));
        assert_eq!(Version::parse(first.as_str()), Some(first.clone()));
        assert!(first.as_str().starts_with("20261121T090003Z-"), "{first}");
    }

    #[test]
    fn other_item_ids_are_not_versions() {
        for text in ["", "manifest", "hold", "20261121T090003Z", "20261321T090003Z-x"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }
}
