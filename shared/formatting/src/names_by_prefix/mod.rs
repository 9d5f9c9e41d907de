//! Places and mobile networks, from libphonenumber's names by prefix.
//!
//! `.ci/libphonenumber/generate` writes the tables. Each is unpacked on first use.

mod languages;

use std::{collections::BTreeSet, sync::LazyLock};

use fst::{IntoStreamer, Map};

use super::{number::PhoneNumber, number_type::NumberType};

pub use languages::{InvalidLanguage, Languages};

/// Argentina, whose mobile numbers have a 9 before the area code.
const ARGENTINA: i32 = 54;

static PLACES: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("places.fst.zst"), include_bytes!("places.txt.zst"))
});
static NETWORKS: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("networks.fst.zst"), include_bytes!("networks.txt.zst"))
});

impl PhoneNumber {
    /// The city or region where the number may be. `None` if it is unknown, or the number does not belong to a place.
    pub fn place(&self, languages: &Languages) -> Option<LocalName> {
        let calling_code = self.country_calling_code;
        let number_type = self.number_type?;
        let mut national_number = &*self.national_number;
        if calling_code == ARGENTINA {
            national_number = national_number.strip_prefix('9').unwrap_or(national_number);
        }
        number_type
            .belongs_to_place(calling_code)
            .then(|| PLACES.find(&format!("{calling_code}{national_number}"), languages))?
    }

    /// The mobile network that the number's range was first assigned to. `None` if it is unknown, or the number's type is not
    /// mobile.
    pub fn network(&self, languages: &Languages) -> Option<LocalName> {
        let is_mobile = matches!(
            self.number_type?,
            NumberType::Mobile | NumberType::FixedLineOrMobile | NumberType::Pager
        );
        let digits = self.formats.e164.trim_start_matches('+');
        is_mobile.then(|| NETWORKS.find(digits, languages))?
    }
}

/// The cities and regions in North America, such as `Miami, FL`, in no particular order.
pub fn north_american_places() -> impl Iterator<Item = &'static str> {
    PLACES.names_within("1", "2").map(|it| it.name)
}

/// A name in a language, which is given by its tag (BCP 47).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalName {
    pub name: &'static str,
    pub language: &'static str,
}

/// The names for each prefix. `examples/pack_names.rs` writes the files, and describes them.
struct Table {
    /// Each prefix's index in `lines`.
    prefixes: Map<Vec<u8>>,
    /// The names for one or more prefixes, such as `de Berlin`, separated by tabs.
    lines: Vec<&'static str>,
}

impl Table {
    /// Unpacks the two files of a table, which stay in memory until the process ends.
    fn from_packed(prefixes: &[u8], lines: &[u8]) -> Self {
        let unpack = |file| zstd::decode_all(file).expect("tables are compressed");
        let text = String::from_utf8(unpack(lines)).expect("names are text").leak();
        Self {
            prefixes: Map::new(unpack(prefixes)).expect("prefixes are a map"),
            lines: text.lines().collect(),
        }
    }

    /// The name for the longest prefix of `digits` that has one in these languages. If none has, the English name.
    fn find(&self, digits: &str, languages: &Languages) -> Option<LocalName> {
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
    fn names_within(&self, start: &str, end: &str) -> impl Iterator<Item = LocalName> {
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
