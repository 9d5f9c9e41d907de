//! Names and queries, folded so that different spellings match: `Montréal` and `montreal`, `T-Mobile` and
//! `tmobile`.

use std::{
    collections::{BTreeSet, VecDeque},
    iter,
    str::FromStr,
};

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// The separator between words joined by punctuation, as in `T-Mobile`.
const PUNCTUATION: char = '-';
/// The separator between words with a space between them, with or without punctuation.
const SPACE: char = ' ';

/// Folds `text` to lowercase letters and digits without accents, with a space between words.
pub fn folded_words(text: &str) -> String {
    FoldedText::from(text).0.replace(PUNCTUATION, " ")
}

/// The letters and digits of text, in lowercase and without accents, with one separator between words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoldedText(String);

impl From<&str> for FoldedText {
    fn from(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        for Letter { letter, separator } in letters(text) {
            folded.extend(separator);
            folded.push(letter);
        }
        Self(folded)
    }
}

struct Letter {
    letter: char,
    /// The separator before this letter; `None` inside a word.
    separator: Option<char>,
}

/// Lazily folds the letters and digits of `text`.
fn letters(text: &str) -> impl Iterator<Item = Letter> {
    // An accent can be a character of its own, which does not end a word.
    let mut characters = text.chars().filter(|&character| !is_combining_mark(character));
    // One character may fold to several letters.
    let mut folded = VecDeque::new();
    let mut is_first = true;
    iter::from_fn(move || {
        let mut separator = None;
        let letter = loop {
            if let Some(letter) = folded.pop_front() {
                break letter;
            }
            let character = characters.next()?;
            if character.is_ascii_alphanumeric() {
                break character.to_ascii_lowercase();
            } else if is_word_character(character) {
                fold_letter(character, |letter| folded.push_back(letter));
            } else if character.is_whitespace() {
                separator = Some(SPACE);
            } else {
                separator.get_or_insert(PUNCTUATION);
            }
        };
        let separator = separator.filter(|_| !is_first);
        is_first = false;
        Some(Letter { letter, separator })
    })
}

/// Returns `true` for a letter or digit. Unicode counts some apostrophes, such as the one in `Hawaiʻi`, as
/// letters. Here they are punctuation.
fn is_word_character(character: char) -> bool {
    character.is_alphanumeric() && !matches!(character, 'ʻ' | 'ʼ')
}

fn fold_letter(character: char, mut push: impl FnMut(char)) {
    decompose_compatible(character, |part| {
        if !part.is_alphanumeric() || is_combining_mark(part) {
            return;
        }
        for letter in part.to_lowercase() {
            match letter {
                // Common in French names; Unicode does not decompose it.
                'œ' => ['o', 'e'].into_iter().for_each(&mut push),
                'æ' => ['a', 'e'].into_iter().for_each(&mut push),
                other => push(other),
            }
        }
    });
}

/// The similarity of two names, best first. Letters must match. A space in one name must be a space or
/// punctuation in the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameMatch {
    /// The whole names match.
    Exact,
    /// The other name starts with this name.
    Prefix,
    None,
}

impl FoldedText {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The space-separated words, each as its punctuation-separated parts.
    pub(super) fn words(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        self.0.split(SPACE).filter(|word| !word.is_empty()).map(|word| word.split(PUNCTUATION))
    }

    /// For each part, the word's letters from the start of that part. A prefix of these letters starts at a word or
    /// part, and may cross punctuation but not a space.
    pub(super) fn word_tails(&self) -> impl Iterator<Item = String> {
        self.0.split(SPACE).flat_map(tails).map(|tail| tail.replace(PUNCTUATION, ""))
    }

    /// Compares this name with another.
    pub(super) fn match_with(&self, name: &str) -> NameMatch {
        let (mut own, mut others) = (letters(&self.0), letters(name));
        loop {
            match (own.next(), others.next()) {
                (None, None) => return NameMatch::Exact,
                (None, Some(_)) => return NameMatch::Prefix,
                (Some(one), Some(another)) if one.matches(&another) => {}
                _ => return NameMatch::None,
            }
        }
    }
}

/// The word from the start of each part: `a-b-c`, `b-c`, `c`.
fn tails(word: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(word), |tail| Some(tail.split_once(PUNCTUATION)?.1))
}

impl Letter {
    fn matches(&self, other: &Self) -> bool {
        let is_joined_in_one = [self.separator, other.separator].contains(&None);
        let has_space_in_one = [self.separator, other.separator].contains(&Some(SPACE));
        self.letter == other.letter && !(is_joined_in_one && has_space_in_one)
    }
}

/// The distinct words in a query. Each must be the start of a word in a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    pub(super) words: BTreeSet<Word>,
    pub(super) name: FoldedText,
}

/// A query word. Punctuation in it may join or separate: `t-mobile` matches `TMobile` and `T Mobile`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) joined: String,
    /// The distinct parts between punctuation; empty if there is no punctuation.
    pub(super) parts: Vec<String>,
}

/// The maximum number of words in a query, and of word parts. Limited because each one costs an index
/// lookup and a bit in an exchange search.
const MAX_WORDS: usize = 10;

/// An invalid query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WordsError {
    #[error("must contain a letter or digit")]
    None,
    #[error("must have at most {MAX_WORDS} different words")]
    TooMany,
}

impl FromStr for Words {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let name = FoldedText::from(text);
        let parts: BTreeSet<&str> = name.words().flatten().collect();
        let words: BTreeSet<Word> = name.words().map(Word::from_parts).collect();
        match parts.len().max(words.len()) {
            0 => Err(WordsError::None),
            1..=MAX_WORDS => Ok(Self { words, name }),
            _ => Err(WordsError::TooMany),
        }
    }
}

impl Word {
    fn from_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Self {
        let parts: Vec<&str> = parts.collect();
        let joined = parts.concat();
        let has_punctuation = parts.len() > 1;
        let different: BTreeSet<&str> = parts.into_iter().filter(|_| has_punctuation).collect();
        Self { joined, parts: different.into_iter().map(str::to_owned).collect() }
    }
}

/// A whole name, compared ignoring case, accents and punctuation.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeName(pub(super) FoldedText);

impl WholeName {
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.0.match_with(name) == NameMatch::Exact
    }
}

impl FromStr for WholeName {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let folded = FoldedText::from(text);
        if folded.is_empty() { Err(WordsError::None) } else { Ok(Self(folded)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fold(text: &str) -> String {
        FoldedText::from(text).0
    }

    /// The rows of a table.
    fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
        let lines = table.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split(" | ").collect())
    }

    #[test]
    fn case_accents_and_width_are_folded() {
        for row in rows(include_str!("folded_names.txt")) {
            assert_eq!(fold(row[0]), row[1].trim_matches('-'), "{row:?}");
        }
    }

    #[test]
    fn names_match_if_letters_and_spaces_match() {
        for row in rows(include_str!("matching_names.txt")) {
            let found = FoldedText::from(row[0]).match_with(row[1]);
            assert_eq!(format!("{found:?}"), row[2], "{row:?}");
        }
    }

    #[test]
    fn a_query_has_one_to_ten_different_words() {
        assert_eq!("& -".parse::<Words>(), Err(WordsError::None));
        assert_eq!("& -".parse::<WholeName>(), Err(WordsError::None));
        assert_eq!("a Á ".repeat(5000).parse::<Words>().unwrap().words.len(), 1);
        let letters = ["a", "b", "c", "d"];
        let pairs: String =
            letters.iter().flat_map(|a| letters.map(|b| format!("{a}-{b} "))).collect();
        assert_eq!(pairs.parse::<Words>(), Err(WordsError::TooMany));
        for separator in [" ", "-"] {
            let distinct = |count: u32| (0..count).map(|n| format!("{n}{separator}")).collect();
            let (ten, eleven): (String, String) = (distinct(10), distinct(11));
            assert!(ten.parse::<Words>().is_ok());
            assert_eq!(eleven.parse::<Words>(), Err(WordsError::TooMany));
        }
    }

    proptest! {
        #[test]
        fn folding_is_idempotent(text in any::<String>()) {
            let once = fold(&text);
            prop_assert_eq!(fold(&once), once);
        }

        #[test]
        fn a_name_matches_its_folded_form(text in any::<String>()) {
            prop_assert_eq!(FoldedText::from(fold(&text).as_str()).match_with(&text), NameMatch::Exact);
        }
    }
}
