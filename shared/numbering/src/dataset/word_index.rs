//! The words of all names, in order, each with the names that have it.
//!
//! Names are numbered: first the holders (zero stands for none, then the carriers with their
//! company names and common names, then the companies without an OCN), then the rate centers, again
//! with zero for none.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    columns::{Lists, Numbers, SectionWriter, Sections, Texts},
    folding::Folded,
    packed::DamagedSnapshot,
};

/// All words that a name has or that punctuation leaves of one: `tmobile` and `mobile` for
/// `T-Mobile`.
#[derive(Debug)]
pub(super) struct WordIndex {
    words: Texts,
    /// The names of each word.
    lists: Lists,
    names: Numbers,
}

impl WordIndex {
    /// Reads the words of names whose numbers are less than `names`.
    pub(super) fn read(sections: &mut Sections, names: usize) -> Result<Self, DamagedSnapshot> {
        const WORDS: &str = "index of words";
        let words = sections.ordered_texts(WORDS)?;
        let lists = sections.lists(WORDS, words.count())?;
        let names = sections.numbers(WORDS, lists.item_count(), names)?;
        Ok(Self { words, lists, names })
    }

    /// The numbers of the names with a word that begins with `prefix`. A name may come repeatedly.
    pub(super) fn names_with(&self, prefix: &str) -> Vec<u32> {
        let words = self.words.starting_with(prefix.as_bytes(), self.all());
        self.names.to_vec(self.lists.ranges(words))
    }

    /// The numbers of the names with a word that consists of the first letters of `letters`, but of
    /// no fewer than `least` bytes.
    pub(super) fn names_with_beginning_of(&self, letters: &str, least: usize) -> Vec<u32> {
        let mut names = Vec::new();
        let mut words = self.all();
        let ends = letters.char_indices().map(|(start, letter)| start + letter.len_utf8());
        for end in ends.filter(|&end| end >= least) {
            let beginning = &letters.as_bytes()[..end];
            words = self.words.starting_with(beginning, words);
            if words.is_empty() {
                break;
            }
            // The words are in order, so one that has no more letters is the first.
            if self.words.bytes(words.start) == beginning {
                names.extend(self.names.to_vec(self.lists.range(words.start)));
            }
        }
        names
    }

    fn all(&self) -> Range<usize> {
        0..self.words.count()
    }
}

/// The words of names, while they are collected.
#[derive(Debug, Default)]
pub(super) struct WordCollection(BTreeMap<String, BTreeSet<u32>>);

impl WordCollection {
    /// Adds the words of a name with this number.
    pub(super) fn add(&mut self, name: &str, number: usize) {
        for word in Folded::from(name).word_tails() {
            self.0.entry(word).or_default().insert(number as u32);
        }
    }

    pub(super) fn write(&self, writer: &mut SectionWriter) {
        writer.texts(self.0.keys().map(String::as_str));
        writer.lists(self.0.values().map(BTreeSet::len));
        writer.numbers(&self.0.values().flatten().copied().collect::<Vec<_>>());
    }
}
