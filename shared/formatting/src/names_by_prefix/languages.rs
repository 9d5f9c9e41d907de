//! The languages that a client prefers.

use std::str::FromStr;

/// Languages in order of preference, as in `Accept-Language`. Without any, names are in English.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Languages(Vec<String>);

/// Text that is not a language tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a language tag, such as de or zh-Hant")]
pub struct InvalidLanguage;

const ENGLISH: &str = "en";
const TRADITIONAL_CHINESE: &str = "zh-hant";
/// Libphonenumber has no English name within a longer prefix for readers of these.
const WITHOUT_ENGLISH: [&str; 3] = ["zh", "ja", "ko"];
const MAX_TAG_LENGTH: usize = 35;

impl FromStr for Languages {
    type Err = InvalidLanguage;

    /// Parses a language tag (BCP 47).
    fn from_str(tag: &str) -> Result<Self, InvalidLanguage> {
        is_tag(tag).then(|| Self::from_tags([tag])).ok_or(InvalidLanguage)
    }
}

impl Languages {
    /// Ignores text that is not a language tag.
    pub fn from_tags<'a>(tags: impl IntoIterator<Item = &'a str>) -> Self {
        Self(tags.into_iter().filter(|tag| is_tag(tag)).flat_map(ranges).collect())
    }

    /// The first of these languages that is in `available`, in lowercase; English if none is.
    pub(super) fn choose<T>(&self, available: impl Fn(&str) -> Option<T>) -> Option<T> {
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
    fn tags_have_at_most_35_letters_and_digits_between_hyphens() {
        let longest = "german-aaaaaaaa-aaaaaaaa-aaaaaaaa-a";
        for tag in ["de", "zh-Hant", "es-419", "sl-rozaj-biske-1994", longest] {
            assert!(tag.parse::<Languages>().is_ok(), "{tag}");
        }
        let too_long = format!("{longest}a");
        let invalid = "|d|1a|d1|de-|-de|de_AT|de-überlang|de--AT|de-aaaaaaaaa";
        for text in invalid.split('|').chain([&*too_long]) {
            assert_eq!(text.parse::<Languages>(), Err(InvalidLanguage), "{text}");
        }
    }
}
