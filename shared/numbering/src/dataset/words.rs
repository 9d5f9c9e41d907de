//! Name search text: word prefixes, or a whole name.

use std::{collections::BTreeSet, str::FromStr};

use super::folding::{Folded, NameMatch};

/// The distinct words in a query. Each must be the start of a word in a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Words {
    pub(super) words: BTreeSet<Word>,
    pub(super) name: Folded,
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
        let name = Folded::from(text);
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
pub struct WholeName(pub(super) Folded);

impl WholeName {
    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.match_with(name) == NameMatch::Exact
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
}
