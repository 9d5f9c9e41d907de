//! Places, mobile networks and time zones, from libphonenumber's names by prefix.
//!
//! `.ci/libphonenumber/generate` writes the tables. Each is unpacked on first use.

use std::{collections::BTreeSet, str::FromStr, sync::LazyLock};

use fst::{Automaton, IntoStreamer, Map, automaton::Str};

use super::{number::PhoneNumber, number_type::NumberType};

/// Argentina, whose mobile numbers have a 9 before the area code.
const ARGENTINA: i32 = 54;

static PLACES: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("places.fst.zst"), include_bytes!("places.txt.zst"))
});
static NETWORKS: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("networks.fst.zst"), include_bytes!("networks.txt.zst"))
});
/// Time zones, separated by spaces.
pub(super) static ZONES: LazyLock<Table> = LazyLock::new(|| {
    Table::from_packed(include_bytes!("zones.fst.zst"), include_bytes!("zones.txt.zst"))
});

impl PhoneNumber {
    /// The city or region of the number. `None` if it is unknown, or the number is non-geographic.
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

    /// The mobile network that the number's range was first assigned to. `None` if it is unknown, or the number is not
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

/// All place names in North America, such as `Miami, FL`, in no particular order.
pub fn north_american_places() -> impl Iterator<Item = &'static str> {
    PLACES.lines_within("1").into_iter().flat_map(names).map(|it| it.name)
}

/// A name, and its language as a BCP 47 tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalName {
    pub name: &'static str,
    pub language: &'static str,
}

/// The names for each prefix. `examples/pack_names.rs` writes and documents the files.
pub(super) struct Table {
    /// Each prefix's index in `lines`.
    prefixes: Map<Vec<u8>>,
    /// The names for one or more prefixes; of places and networks, each with its language, separated by tabs.
    lines: Vec<&'static str>,
}

impl Table {
    /// Unpacks the two files of a table. They stay in memory until the process ends.
    fn from_packed(prefixes: &[u8], lines: &[u8]) -> Self {
        let unpack = |file| zstd::decode_all(file).expect("tables are compressed");
        let text = String::from_utf8(unpack(lines)).expect("names are text").leak();
        Self {
            prefixes: Map::new(unpack(prefixes)).expect("prefixes are a map"),
            lines: text.lines().collect(),
        }
    }

    /// The lines for the prefixes of `digits`, for the longest prefix first.
    pub(super) fn lines_for(&self, digits: &str) -> impl Iterator<Item = &'static str> {
        let prefixes = (1..=digits.len()).rev().filter_map(|length| digits.get(..length));
        prefixes.filter_map(|prefix| self.line(self.prefixes.get(prefix)?))
    }

    /// The lines for all prefixes that start with these digits, without duplicates.
    pub(super) fn lines_within(&self, digits: &str) -> BTreeSet<&'static str> {
        let within = self.prefixes.search(Str::new(digits).starts_with());
        let indexes = within.into_stream().into_values();
        indexes.into_iter().filter_map(|index| self.line(index)).collect()
    }

    fn line(&self, index: u64) -> Option<&'static str> {
        self.lines.get(usize::try_from(index).ok()?).copied()
    }

    /// The name for the longest prefix of `digits` that has one in these languages; otherwise the English name.
    fn find(&self, digits: &str, languages: &Languages) -> Option<LocalName> {
        let find = |languages: &Languages| {
            self.lines_for(digits).find_map(|line| {
                languages.choose(|language| {
                    names(line).find(|it| it.language.eq_ignore_ascii_case(language))
                })
            })
        };
        find(languages).or_else(|| find(&Languages::default()))
    }
}

fn names(line: &'static str) -> impl Iterator<Item = LocalName> {
    line.split('\t').filter_map(|name| {
        let (language, name) = name.split_once(' ')?;
        Some(LocalName { name, language })
    })
}

/// Languages in order of preference, as in `Accept-Language`. Without any, names are in English.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Languages(Vec<String>);

const ENGLISH: &str = "en";
const TRADITIONAL_CHINESE: &str = "zh-hant";
/// For these languages, a name for a shorter prefix wins over an English name for a longer one.
const WITHOUT_ENGLISH: [&str; 3] = ["zh", "ja", "ko"];
const MAX_TAG_LENGTH: usize = 35;

impl FromStr for Languages {
    type Err = &'static str;

    /// Parses a language tag (BCP 47).
    fn from_str(tag: &str) -> Result<Self, Self::Err> {
        let languages = is_tag(tag).then(|| Self::from_tags([tag]));
        languages.ok_or("must be a language tag, such as de or zh-Hant")
    }
}

impl Languages {
    /// Creates a list from tags, and ignores invalid ones.
    pub fn from_tags<'a>(tags: impl IntoIterator<Item = &'a str>) -> Self {
        Self(tags.into_iter().filter(|tag| is_tag(tag)).flat_map(ranges).collect())
    }

    /// The first of these languages for which `available` returns a value, in lowercase; otherwise English.
    fn choose<T>(&self, available: impl Fn(&str) -> Option<T>) -> Option<T> {
        let preferred = self.0.iter().find_map(|language| available(language));
        preferred.or_else(|| available(ENGLISH).filter(|_| self.accepts_english()))
    }

    fn accepts_english(&self) -> bool {
        let mut primary = self.0.iter().map(|language| language.split('-').next());
        !primary.next().flatten().is_some_and(|first| WITHOUT_ENGLISH.contains(&first))
    }
}

fn is_tag(tag: &str) -> bool {
    let is_subtag = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let primary = tag.split('-').next().unwrap_or_default();
    tag.len() <= MAX_TAG_LENGTH
        && tag.split('-').all(is_subtag)
        && primary.len() > 1
        && primary.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// A tag and its more general forms, most specific first (RFC 4647, 3.4).
fn ranges(tag: &str) -> Vec<String> {
    let tag = tag.to_ascii_lowercase();
    let is_traditional = matches!(&*tag, "zh-tw" | "zh-hk" | "zh-mo");
    let mut ranges: Vec<String> =
        is_traditional.then(|| TRADITIONAL_CHINESE.to_owned()).into_iter().collect();
    let mut rest = Some(&*tag);
    while let Some(range) = rest {
        ranges.push(range.to_owned());
        rest = range.rsplit_once('-').map(|(general, _)| general);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_available_language_is_chosen_or_english() {
        for line in include_str!("languages.txt").lines().skip(1) {
            let [tags, available, expected] = line.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let languages = Languages::from_tags(tags.split(' '));
            let chosen = languages.choose(|it| available.split(' ').find(|tag| *tag == it));
            assert_eq!(chosen.unwrap_or("-"), expected, "{line}");
        }
    }

    #[test]
    fn language_tags_have_at_most_35_characters() {
        let longest = "german-aaaaaaaa-aaaaaaaa-aaaaaaaa-a";
        for tag in ["de", "zh-Hant", "es-419", "sl-rozaj-biske-1994", longest] {
            assert!(tag.parse::<Languages>().is_ok(), "{tag}");
        }
        let too_long = format!("{longest}a");
        let invalid = "|d|1a|d1|de-|-de|de_AT|de-überlang|de--AT|de-aaaaaaaaa";
        for text in invalid.split('|').chain([&*too_long]) {
            assert!(text.parse::<Languages>().is_err(), "{text}");
        }
    }
}
