//! Folds names and queries, so that what people write differently is found alike: `Montréal` and
//! `montreal`, `T-Mobile` and `tmobile`.

use std::iter;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// Stands between words that punctuation joins, as in `T-Mobile`.
const PUNCTUATION: char = '-';
/// Stands between words that a space separates, with or without punctuation.
const SPACE: char = ' ';

/// The letters and digits of a text, in lower case and without accents, with one character for
/// all that stands between two words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folded(String);

impl From<&str> for Folded {
    fn from(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut separator = None;
        // An accent may be a character of its own, and is then no end of a word.
        for character in text.chars().filter(|&character| !is_combining_mark(character)) {
            if is_in_word(character) {
                fold_letter(character, |letter| {
                    folded.extend(separator.take().filter(|_| !folded.is_empty()));
                    folded.push(letter);
                });
            } else if character.is_whitespace() {
                separator = Some(SPACE);
            } else {
                separator.get_or_insert(PUNCTUATION);
            }
        }
        Self(folded)
    }
}

/// Whether this is a letter or digit. The apostrophe of `Hawaiʻi` and another one count as letters
/// in Unicode, and as punctuation here.
fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() && !matches!(character, 'ʻ' | 'ʼ')
}

fn fold_letter(character: char, mut push: impl FnMut(char)) {
    decompose_compatible(character, |part| {
        if !part.is_alphanumeric() || is_combining_mark(part) {
            return;
        }
        for letter in part.to_lowercase() {
            match letter {
                // French names have these, and Unicode does not call them two letters.
                'œ' => ['o', 'e'].into_iter().for_each(&mut push),
                'æ' => ['a', 'e'].into_iter().for_each(&mut push),
                other => push(other),
            }
        }
    });
}

impl Folded {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The words as spaces separate them, each as the parts that punctuation joins.
    pub(super) fn words(&self) -> impl Iterator<Item = impl Iterator<Item = &str>> {
        self.0.split(SPACE).filter(|word| !word.is_empty()).map(|word| word.split(PUNCTUATION))
    }

    /// The letters of each word, and of the rest of it from each part on. A prefix that begins one of
    /// them begins at the start of a word or of a part, and may go on over punctuation, but not over
    /// a space.
    pub(super) fn word_tails(&self) -> impl Iterator<Item = String> {
        self.0.split(SPACE).flat_map(tails).map(|tail| tail.replace(PUNCTUATION, ""))
    }

    /// For each word all letters from its start to the end of the text, and how many bytes of them
    /// its first part has.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = (String, usize)> {
        let starts = self.0.match_indices(SPACE).map(|(space, _)| space + 1);
        iter::once(0).chain(starts).map(|start| {
            let rest = &self.0[start..];
            let first_part = rest.find([SPACE, PUNCTUATION]).unwrap_or(rest.len());
            (rest.replace([SPACE, PUNCTUATION], ""), first_part)
        })
    }

    /// Whether both are one name: they have the same letters, and words that a space separates in one
    /// are also two words in the other, by a space or punctuation.
    pub(super) fn is_same_name_as(&self, other: &Self) -> bool {
        let (mut own, mut others) = (self.letters(), other.letters());
        loop {
            match (own.next(), others.next()) {
                (None, None) => return true,
                (Some(one), Some(another)) if one.agrees_with(&another) => {}
                _ => return false,
            }
        }
    }

    fn letters(&self) -> impl Iterator<Item = Letter> {
        let mut characters = self.0.chars();
        iter::from_fn(move || {
            let before = characters.next()?;
            match before {
                SPACE | PUNCTUATION => {
                    Some(Letter { letter: characters.next()?, separator: Some(before) })
                }
                letter => Some(Letter { letter, separator: None }),
            }
        })
    }
}

/// The word, and its rest from each part on: `a-b-c`, `b-c`, `c`.
fn tails(word: &str) -> impl Iterator<Item = &str> {
    iter::successors(Some(word), |tail| Some(tail.split_once(PUNCTUATION)?.1))
}

struct Letter {
    letter: char,
    /// What stands before it.
    separator: Option<char>,
}

impl Letter {
    fn agrees_with(&self, other: &Self) -> bool {
        let is_one_word = [self.separator, other.separator].contains(&None);
        let is_two_words = [self.separator, other.separator].contains(&Some(SPACE));
        self.letter == other.letter && !(is_one_word && is_two_words)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        Folded::from(text).0
    }

    fn are_same_name(one: &str, another: &str) -> bool {
        Folded::from(one).is_same_name_as(&Folded::from(another))
    }

    #[test]
    fn case_accents_and_width_are_folded() {
        for (text, expected) in [
            ("Montréal", "montreal"),
            ("MONTRE\u{301}AL", "montreal"),
            ("Trois‑Rivières", "trois-rivieres"),
            ("Sacré-Cœur", "sacre-coeur"),
            ("Hawaiʻi", "hawai-i"),
            ("ＡＴ＆Ｔ", "at-t"),
            ("İzmir", "izmir"),
            ("BELL™", "bell"),
            ("  St. John’s (NL) ", "st john-s nl"),
            ("& -", ""),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn whole_names_are_the_same_whatever_their_punctuation() {
        for (one, another) in [
            ("T-MOBILE USA, INC.", "t mobile usa inc"),
            ("T-MOBILE USA, INC.", "TMobile USA Inc"),
            ("T-MOBILE L.L.C.", "T Mobile LLC"),
            ("St. John's", "st johns"),
            ("Montréal", "MONTREAL"),
        ] {
            assert!(are_same_name(one, another) && are_same_name(another, one), "{one}, {another}");
        }
    }

    /// Eagle River is in Ontario, Eagleriver in Wisconsin.
    #[test]
    fn whole_names_with_and_without_a_space_differ() {
        for (one, another) in
            [("Eagle River", "EAGLERIVER"), ("Bell Canada", "Bell"), ("Bell", "Bell 1")]
        {
            assert!(!are_same_name(one, another) && !are_same_name(another, one), "{one}");
        }
    }

    proptest! {
        #[test]
        fn a_folded_text_folds_to_itself(text in any::<String>()) {
            let once = folded(&text);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
