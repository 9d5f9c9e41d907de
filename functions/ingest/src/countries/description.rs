//! Descriptions of countries' data: one file per country, with everything that differs between regulators.

use std::{
    collections::{BTreeMap, HashMap},
    str::FromStr,
    sync::LazyLock,
};

use numbering::ranges::RangeUse;
use serde::{Deserialize, Deserializer, de::Error};

/// A country's data: its publisher, its addresses, and how its files are read. docs/COUNTRIES.md explains each field.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Description {
    /// ISO 3166-1 code.
    pub country: String,
    pub calling_codes: Vec<i32>,
    /// The calling code of each place in the place column, if the country's places have different ones.
    #[serde(default)]
    pub place_calling_codes: BTreeMap<String, i32>,
    pub publisher: String,
    pub title: String,
    /// The known terms of use, with their address.
    pub license: String,
    pub addresses: Vec<String>,
    /// `false` if the description follows documentation, and was not tried with real files.
    pub is_verified: bool,
    /// The age in days of the newest entry beyond which the publisher has stalled.
    pub max_age_days: i64,
    pub cannot_tell: Vec<String>,
    /// The statuses of ranges without subscribers, from which example numbers may come. Numbers in quarantine, or
    /// ported before their range became free, may still be in use.
    #[serde(default)]
    pub example_statuses: Vec<String>,
    /// The layout of files that do not have their own.
    pub layout: Option<Layout>,
    pub files: Vec<FileDescription>,
    /// A second file with the names behind the codes in the holder column.
    pub names: Option<NamesDescription>,
    pub statuses: Statuses,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileDescription {
    /// The start of the file name, matched case-insensitively.
    pub name: String,
    /// The first digits of the national numbers that the file covers.
    pub covers: Vec<String>,
    pub layout: Option<Layout>,
}

/// The layout of a file's rows. Columns are header names, such as `Block|Number Block` with alternatives, or positions
/// from 1 in a file without a header.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Layout {
    /// The delimiter, or several candidates: the first one in a file's first line is used.
    pub delimiter: String,
    /// A label of the WHATWG encoding standard. A byte order mark takes precedence.
    #[serde(default = "default_encoding")]
    pub encoding: String,
    #[serde(default = "default_true")]
    pub has_header: bool,
    /// The columns whose digits together are the first digits of a block.
    #[serde(default)]
    pub block: Vec<String>,
    /// The columns whose digits together are the first and the last number, instead of a block.
    #[serde(default)]
    pub from: Vec<String>,
    #[serde(default)]
    pub to: Vec<String>,
    /// The word between the first and the last number, if one column has both.
    pub separator: Option<String>,
    /// The digits before national numbers. Rows without them are for short numbers, and are skipped.
    #[serde(default)]
    pub trunk_prefix: String,
    /// The lengths of numbers, unless the column below has them. Ranges of other numbers are skipped.
    #[serde(default)]
    pub lengths: Vec<usize>,
    /// Text such as `10 digit numbers`, `2+8` or `Mixed 4+5 & 4+6`.
    pub length: Option<String>,
    pub holder: String,
    pub status: Option<String>,
    /// `true` if digits at the end of a status are the block's next digits.
    #[serde(default)]
    pub status_continues_block: bool,
    pub date: Option<String>,
    /// As in `strftime`, with alternatives such as `%Y-%m-%d|%d-%m-%Y`.
    #[serde(default)]
    pub date_format: String,
    pub place: Option<String>,
    /// Known columns that are not read.
    #[serde(default)]
    pub unused: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamesDescription {
    /// The start of the file name, matched case-insensitively.
    pub file: String,
    pub delimiter: String,
    #[serde(default = "default_encoding")]
    pub encoding: String,
    pub code: String,
    pub name: String,
}

/// The regulator's status words, matched case-insensitively. If rows cover the same numbers, the word listed first here
/// wins. Rows without a status column are assigned.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statuses {
    #[serde(default)]
    pub assigned: Vec<String>,
    #[serde(default)]
    pub reserved: Vec<String>,
    #[serde(default)]
    pub unassigned: Vec<String>,
}

fn default_encoding() -> String {
    "utf-8".to_owned()
}

fn default_true() -> bool {
    true
}

static DESCRIPTIONS: LazyLock<BTreeMap<String, Description>> = LazyLock::new(|| {
    let files = [
        include_str!("cz.toml"),
        include_str!("es.toml"),
        include_str!("fi.toml"),
        include_str!("fr.toml"),
        include_str!("gb.toml"),
        include_str!("nl.toml"),
        include_str!("no.toml"),
        include_str!("ru.toml"),
    ];
    let parse = |file| -> Description { toml::from_str(file).expect("a test parses every file") };
    files.map(parse).map(|description| (description.country.clone(), description)).into()
});

/// The ISO 3166-1 code of a country with a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SupportedCountry(&'static str);

impl SupportedCountry {
    /// All countries, by code.
    pub fn all() -> impl Iterator<Item = Self> {
        DESCRIPTIONS.keys().map(|code| Self(code))
    }

    /// ISO 3166-1 code.
    pub fn code(self) -> &'static str {
        self.0
    }

    /// The publisher's URLs.
    pub fn addresses(self) -> &'static [String] {
        &self.description().addresses
    }

    pub(super) fn description(self) -> &'static Description {
        &DESCRIPTIONS[self.0]
    }
}

impl<'de> Deserialize<'de> for SupportedCountry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl FromStr for SupportedCountry {
    type Err = String;

    fn from_str(code: &str) -> Result<Self, String> {
        let found = Self::all().find(|country| country.code().eq_ignore_ascii_case(code.trim()));
        let known = || Self::all().map(Self::code).collect::<Vec<_>>().join(", ");
        found.ok_or_else(|| format!("must be one of {}", known()))
    }
}

impl Description {
    pub fn layout<'a>(&'a self, file: &'a FileDescription) -> Option<&'a Layout> {
        file.layout.as_ref().or(self.layout.as_ref())
    }
}

impl Layout {
    /// The columns that are read.
    pub fn columns(&self) -> impl Iterator<Item = &String> {
        let Self { block, from, to, holder, status, date, place, length, .. } = self;
        let optional = [status, date, place, length].into_iter().flatten();
        block.iter().chain(from).chain(to).chain([holder]).chain(optional)
    }
}

impl Statuses {
    /// The meaning of each word in lowercase, with its precedence: words that come first win.
    pub fn meanings(&self) -> HashMap<String, (RangeUse, usize)> {
        let Self { assigned, reserved, unassigned } = self;
        let uses = [
            (assigned, RangeUse::Assigned),
            (reserved, RangeUse::Reserved),
            (unassigned, RangeUse::Unassigned),
        ];
        let words = uses.iter().flat_map(|(words, meaning)| words.iter().map(|it| (it, *meaning)));
        let words = words.enumerate();
        words
            .map(|(precedence, (word, meaning))| (word.to_lowercase(), (meaning, precedence)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_description_can_be_read_and_names_its_columns() {
        for description in DESCRIPTIONS.values() {
            for file in &description.files {
                let layout = description.layout(file).expect("each file has a layout");
                assert_ne!(layout.block.is_empty(), layout.from.is_empty() || layout.to.is_empty());
                let has_one_length = layout.lengths.is_empty() == layout.length.is_some();
                assert!(layout.block.is_empty() || has_one_length, "{}", file.name);
                assert!(encoding_rs::Encoding::for_label(layout.encoding.as_bytes()).is_some());
                assert_eq!(layout.date.is_some(), !layout.date_format.is_empty(), "{}", file.name);
            }
        }
    }
}
