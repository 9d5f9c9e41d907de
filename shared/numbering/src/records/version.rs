//! The names of versions of the data.

use std::fmt;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rand::{RngExt, distr::Alphanumeric};
use serde::{Deserialize, Serialize};

/// The name of one version of the data, such as `20261121T090003Z-5fGh2kLmN8pQrS1t`: when it was
/// made, so that names sort by age, and characters of chance.
///
/// No two imports ever share a name, whatever their clocks say: the characters of chance hold 95
/// bits. Everything that makes publishing safe rests on this.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

const TIME_FORMAT: &str = "%Y%m%dT%H%M%SZ";
const CHARACTERS_OF_CHANCE: usize = 16;

impl Version {
    /// A new name that nothing else has.
    pub fn new(made_at: Timestamp) -> Self {
        let chance = rand::rng().sample_iter(Alphanumeric).take(CHARACTERS_OF_CHANCE);
        let chance: String = chance.map(char::from).collect();
        Self(format!("{}-{chance}", made_at.strftime(TIME_FORMAT)))
    }

    /// A name as it was written; `None` if the text is none.
    pub fn named(text: &str) -> Option<Self> {
        let (time, _) = text.split_once('-')?;
        DateTime::strptime(TIME_FORMAT, time).ok()?;
        Some(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When it was made, by the clock of the machine that made it.
    pub fn made_at(&self) -> Option<Timestamp> {
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
    fn two_versions_of_one_second_have_different_names() {
        let now: Timestamp = "2026-11-21T09:00:03Z".parse().unwrap();
        let (one, other) = (Version::new(now), Version::new(now));
        assert_ne!(one, other);
        assert_eq!(one.made_at(), Some(now));
        assert_eq!(Version::named(one.as_str()), Some(one.clone()));
        assert!(one.as_str().starts_with("20261121T090003Z-"), "{one}");
    }

    #[test]
    fn other_ids_are_no_versions() {
        for text in ["", "manifest", "hold", "20261121T090003Z", "20261321T090003Z-x"] {
            assert_eq!(Version::named(text), None, "{text}");
        }
    }
}
