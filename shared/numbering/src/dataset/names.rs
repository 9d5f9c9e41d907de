//! The names of holders and rate centers, and the words that find them.
//!
//! Names are numbered: first the holders (zero stands for none, then the carriers with their company
//! names and common names, then the companies without an OCN), then the rate centers, again with
//! zero for none.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    columns::{Lists, Numbers, Reader, Texts, Writer},
    folding::Folded,
    words::WholeName,
};

/// The most words of a whole name that are looked for in the index.
const MAX_BEGINNINGS: usize = 8;

/// All names, and every word that one has or that punctuation leaves of it: `tmobile` and `mobile`
/// for `T-Mobile`.
#[derive(Debug)]
pub(super) struct Names {
    /// The names of holders without an OCN, in order.
    pub(super) companies: Texts,
    /// In order.
    pub(super) rate_centers: Texts,
    /// In order.
    words: Texts,
    /// The numbers of the names with each word.
    lists: Lists,
    numbers: Numbers,
}

impl Names {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        Some(Self {
            companies: reader.texts()?,
            rate_centers: reader.texts()?,
            words: reader.texts()?,
            lists: reader.lists()?,
            numbers: reader.numbers()?,
        })
    }

    /// The numbers of the names with a word that begins with `prefix`. A name may come repeatedly.
    pub(super) fn with_prefix(&self, prefix: &str) -> Vec<u32> {
        self.with_words(self.words.starting_with(prefix.as_bytes(), 0..self.words.count()))
    }

    /// The numbers of the names that may be this whole name: those with its rarest word.
    pub(super) fn candidates_for(&self, wanted: &WholeName) -> Vec<u32> {
        let beginnings = wanted.beginnings().take(MAX_BEGINNINGS);
        let candidates =
            beginnings.map(|(letters, first_part)| self.with_beginning_of(&letters, first_part));
        let mut rarest = candidates.min_by_key(Vec::len).unwrap_or_default();
        rarest.sort_unstable();
        rarest.dedup();
        rarest
    }

    /// The numbers of the names with a word that consists of the first letters of `letters`, but of
    /// no fewer than `least` bytes.
    fn with_beginning_of(&self, letters: &str, least: usize) -> Vec<u32> {
        let mut names = Vec::new();
        let mut words = 0..self.words.count();
        let ends = letters.char_indices().map(|(start, letter)| start + letter.len_utf8());
        for end in ends.filter(|&end| end >= least) {
            let beginning = &letters.as_bytes()[..end];
            words = self.words.starting_with(beginning, words);
            if words.is_empty() {
                break;
            }
            // The words are in order, so one that has no more letters is the first.
            if self.words.bytes(words.start) == beginning {
                names.extend(self.with_words(words.start..words.start + 1));
            }
        }
        names
    }

    fn with_words(&self, words: Range<usize>) -> Vec<u32> {
        self.numbers.to_vec(self.lists.range_of(words))
    }
}

/// The words of names, while they are collected.
#[derive(Debug, Default)]
pub(super) struct WordCollection(BTreeMap<String, BTreeSet<u32>>);

impl WordCollection {
    /// Adds the words of a name with this number.
    pub(super) fn add(&mut self, name: &str, number: u32) {
        for word in Folded::from(name).word_tails() {
            self.0.entry(word).or_default().insert(number);
        }
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.texts(self.0.keys().map(String::as_str));
        writer.lists(self.0.values().map(BTreeSet::len));
        writer.numbers(self.0.values().flatten().copied());
    }
}
