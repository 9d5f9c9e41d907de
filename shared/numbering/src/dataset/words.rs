//! Name search text: word prefixes, or a whole name.

use std::{collections::BTreeSet, str::FromStr};

use super::folding::{Folded, Likeness};

/// The distinct words of a query. Each must be the start of a word in a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    words: BTreeSet<Word>,
    /// The whole query as one name.
    name: Folded,
}

/// A query word. Punctuation in it may join or separate: `t-mobile` matches `TMobile` and `T Mobile`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    joined: String,
    parts: Vec<String>,
}

/// The maximum number of words in a query, counting parts as words. Limited because each word costs an index
/// lookup.
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
        let folded = Folded::from(text);
        let parts: BTreeSet<&str> = folded.words().flatten().collect();
        match parts.len() {
            0 => Err(WordsError::None),
            1..=MAX_WORDS => {
                Ok(Self { words: folded.words().map(Word::from_parts).collect(), name: folded })
            }
            _ => Err(WordsError::TooMany),
        }
    }
}

impl Words {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Word> {
        self.words.iter()
    }

    /// The likeness of a name to the whole query.
    pub(super) fn likeness_of(&self, name: &str) -> Likeness {
        self.name.likeness_of(name)
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

    /// All letters of the word.
    pub(super) fn joined(&self) -> &str {
        &self.joined
    }

    /// The distinct parts between punctuation; empty if there is no punctuation.
    pub(super) fn parts(&self) -> &[String] {
        &self.parts
    }
}

/// A whole name, compared ignoring case, accents and punctuation.
#[derive(Debug, Clone, PartialEq)]
pub struct WholeName(Folded);

impl WholeName {
    pub(super) fn is_name(&self, name: &str) -> bool {
        self.0.likeness_of(name) == Likeness::Same
    }

    /// The letters from each word on, with the length of its first part in bytes. In every spelling of the
    /// name, a word starts at each of these and is at least as long as that part.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = (String, usize)> {
        self.0.beginnings()
    }
}

impl FromStr for WholeName {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let folded = Folded::from(text);
        if folded.is_empty() { Err(WordsError::None) } else { Ok(Self(folded)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_needs_a_letter_or_digit() {
        assert_eq!("& -".parse::<Words>(), Err(WordsError::None));
        assert_eq!("& -".parse::<WholeName>(), Err(WordsError::None));
    }

    #[test]
    fn repeated_words_count_once_and_too_many_are_refused() {
        assert_eq!("a Á ".repeat(5000).parse::<Words>().unwrap().iter().count(), 1);
        for separator in [" ", "-"] {
            let distinct = |count: u32| (0..count).map(|n| format!("{n}{separator}")).collect();
            let (ten, eleven): (String, String) = (distinct(10), distinct(11));
            assert!(ten.parse::<Words>().is_ok());
            assert_eq!(eleven.parse::<Words>(), Err(WordsError::TooMany));
        }
    }
}
