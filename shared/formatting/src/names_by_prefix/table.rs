//! A table of names in several languages by prefix.

use std::collections::BTreeSet;

use fst::{IntoStreamer, Map};

use super::languages::Languages;

/// A name in a language, which is given by its tag (BCP 47).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalName {
    pub name: &'static str,
    pub language: &'static str,
}

/// The names for each prefix. `examples/pack_names.rs` writes the files, and describes them.
pub struct Table {
    /// Each prefix's index in `lines`.
    prefixes: Map<Vec<u8>>,
    /// The names for one or more prefixes, such as `de Berlin`, separated by tabs.
    lines: Vec<&'static str>,
}

impl Table {
    /// Unpacks the two files of a table, which stay in memory until the process ends.
    pub fn from_packed(prefixes: &[u8], lines: &[u8]) -> Self {
        let unpack = |file| zstd::decode_all(file).expect("tables are compressed");
        let text = String::from_utf8(unpack(lines)).expect("names are text").leak();
        Self {
            prefixes: Map::new(unpack(prefixes)).expect("prefixes are a map"),
            lines: text.lines().collect(),
        }
    }

    /// The name for the longest prefix of `digits` that has one in these languages. If none has, the English name.
    pub fn find(&self, digits: &str, languages: &Languages) -> Option<LocalName> {
        let find = |languages: &Languages| {
            let prefixes = (1..=digits.len()).rev().filter_map(|length| digits.get(..length));
            let mut lines = prefixes.filter_map(|prefix| self.prefixes.get(prefix));
            lines.find_map(|line| {
                languages.choose(|language| {
                    self.names(line).find(|it| it.language.eq_ignore_ascii_case(language))
                })
            })
        };
        find(languages).or_else(|| find(&Languages::default()))
    }

    /// The names for the prefixes from `start` to before `end`, without duplicates.
    pub fn names_within(&self, start: &str, end: &str) -> impl Iterator<Item = LocalName> {
        let lines = self.prefixes.range().ge(start).lt(end).into_stream().into_values();
        lines.into_iter().collect::<BTreeSet<_>>().into_iter().flat_map(|line| self.names(line))
    }

    fn names(&self, line: u64) -> impl Iterator<Item = LocalName> + use<> {
        let line = usize::try_from(line).ok().and_then(|line| self.lines.get(line).copied());
        line.unwrap_or_default().split('\t').filter_map(|name| {
            let (language, name) = name.split_once(' ')?;
            Some(LocalName { name, language })
        })
    }
}
