//! Other countries' ranges: a packed piece per country, listed in the manifest and loaded on first use.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, OnceLock},
};

use numbering::{
    ranges::{CountryRanges, RangeFacts},
    records::Version,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{DatasetError, ImportedReport, Piece, SAMPLE_DATE, Store};

/// The imported countries by ISO 3166-1 code. Stored as JSON text, as [`crate::ImportedReports`] are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Countries(pub BTreeMap<String, CountryData>);

/// A country's ranges as stored, and the facts about their source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountryData {
    /// A later import of the same ranges leaves it unchanged.
    pub piece: Piece,
    /// The calling codes of numbers in the data. Overseas territories have their own.
    pub calling_codes: Vec<i32>,
    /// The calling codes of ranges by place, if the country's places have different ones.
    pub place_calling_codes: BTreeMap<String, i32>,
    pub publisher: String,
    pub title: String,
    /// The known terms of use, with their address.
    pub license: String,
    /// The age in days beyond which its publisher has stalled.
    pub max_age_days: i64,
    /// Facts that the data does not contain.
    pub cannot_tell: Vec<String>,
    /// The statuses of ranges from which example numbers may come.
    pub example_statuses: Vec<String>,
    /// The version of the piece that this one replaced, for containers that have not read the new manifest yet.
    pub replaced: Option<Version>,
    pub imported: ImportedReport,
}

impl TryFrom<String> for Countries {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text).map(Self)
    }
}

impl From<Countries> for String {
    fn from(countries: Countries) -> Self {
        json!(countries.0).to_string()
    }
}

impl Countries {
    /// The country whose data may cover numbers with this calling code.
    pub fn with_calling_code(&self, calling_code: i32) -> Option<(&str, &CountryData)> {
        let mut countries = self.0.iter();
        let found = countries.find(|(_, data)| data.calling_codes.contains(&calling_code));
        found.map(|(code, data)| (code.as_str(), data))
    }
}

impl CountryData {
    /// Ofcom's data without a date, for tests.
    pub fn sample(piece: Piece) -> Self {
        Self {
            piece,
            calling_codes: vec![44],
            place_calling_codes: BTreeMap::new(),
            publisher: "Ofcom".to_owned(),
            title: String::new(),
            license: "Ask Ofcom".to_owned(),
            max_age_days: 45,
            cannot_tell: Vec::new(),
            example_statuses: vec!["Free".to_owned()],
            replaced: None,
            imported: ImportedReport::default(),
        }
    }

    /// Returns `true` if numbers with this calling code may be in the range.
    pub fn has_calling_code(&self, range: &RangeFacts, calling_code: i32) -> bool {
        let code = range.place.as_ref().and_then(|place| self.place_calling_codes.get(place));
        code.is_none_or(|code| *code == calling_code)
    }

    /// Returns `true` if it was imported from the fictional sample.
    pub fn is_sample(&self) -> bool {
        self.imported.date == Some(SAMPLE_DATE)
    }
}

/// A country's ranges in memory.
#[derive(Debug, Clone)]
pub struct LoadedCountry {
    /// ISO 3166-1 code.
    pub code: String,
    pub data: CountryData,
    pub ranges: Arc<CountryRanges>,
    /// Numbers that nobody holds, by type, computed when a request first asks for them.
    pub example_numbers: Arc<OnceLock<HashMap<String, String>>>,
}

impl LoadedCountry {
    pub fn new(code: String, data: CountryData, ranges: CountryRanges) -> Self {
        Self { code, data, ranges: Arc::new(ranges), example_numbers: Arc::default() }
    }
}

impl Store {
    /// Loads a country's ranges.
    pub async fn country(
        &self,
        code: &str,
        data: &CountryData,
    ) -> Result<LoadedCountry, DatasetError> {
        let bytes = self.piece(&data.piece).await?;
        let ranges = CountryRanges::unpack(&bytes);
        let ranges = ranges.map_err(DatasetError::unreadable(&data.piece.version))?;
        Ok(LoadedCountry::new(code.to_owned(), data.clone(), ranges))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn ranges_of_a_place_have_its_calling_code() {
        let mut data = CountryData::sample(Piece::new(Version::new(Timestamp::UNIX_EPOCH), b""));
        data.place_calling_codes.insert("Jersey".to_owned(), 44);
        let range = |place: Option<&str>| RangeFacts {
            place: place.map(str::to_owned),
            ..RangeFacts::default()
        };
        for (place, expected) in [(Some("Jersey"), false), (Some("Sark"), true), (None, true)] {
            assert_eq!(data.has_calling_code(&range(place), 350), expected);
            assert!(data.has_calling_code(&range(place), 44));
        }
    }
}
