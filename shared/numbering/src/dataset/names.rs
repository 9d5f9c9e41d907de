//! Holder and rate center names, and the word index over them.
//!
//! Each name has an ID. Holders come first: zero for none, then carriers, whose company and common names share an
//! ID, then companies without an OCN. Rate centers follow, again with zero for none.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use super::{
    columns::{Columns, Lists, Numbers, Strings},
    words::{Folded, WholeName},
};

/// The maximum number of words in a whole name to look up in the index.
const MAX_LOOKUPS: usize = 8;

/// All names, and every word in them, including parts after punctuation: `tmobile` and `mobile` for `T-Mobile`.
#[derive(Debug)]
pub(super) struct Names {
    /// The sorted names of holders without an OCN.
    pub(super) companies: Strings,
    pub(super) rate_centers: Strings,
    words: Strings,
    /// The IDs of the names that contain each word.
    lists: Lists,
    ids: Numbers,
}

impl Names {
    pub(super) fn write_or_read<'a>(
        columns: &mut Columns,
        companies: impl Iterator<Item = &'a str> + Clone,
        rate_centers: impl Iterator<Item = &'a str> + Clone,
        WordCollection(words): &WordCollection,
    ) -> Option<Self> {
        Some(Self {
            companies: columns.strings(companies)?,
            rate_centers: columns.strings(rate_centers)?,
            words: columns.strings(words.keys().map(String::as_str))?,
            lists: columns.lists(words.values().map(BTreeSet::len))?,
            ids: columns.numbers(words.values().flatten().copied())?,
        })
    }

    /// The IDs of names with a word that starts with `prefix`. May contain duplicates.
    pub(super) fn with_prefix(&self, prefix: &str) -> Vec<u32> {
        self.with_words(self.words.with_prefix(prefix.as_bytes(), 0..self.words.count()))
    }

    /// The IDs of names that could equal this whole name: those with its rarest word.
    pub(super) fn candidates_for(&self, wanted: &WholeName) -> Vec<u32> {
        let words = wanted.0.word_starts().take(MAX_LOOKUPS);
        let candidates =
            words.map(|(letters, first_part)| self.with_prefix_of(&letters, first_part));
        let mut rarest = candidates.min_by_key(Vec::len).unwrap_or_default();
        rarest.sort_unstable();
        rarest.dedup();
        rarest
    }

    /// The IDs of names with a word that is a prefix of `letters` and has at least `min_length` bytes.
    fn with_prefix_of(&self, letters: &str, min_length: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        let mut words = 0..self.words.count();
        let ends = letters.char_indices().map(|(start, letter)| start + letter.len_utf8());
        for end in ends.filter(|&end| end >= min_length) {
            let prefix = &letters.as_bytes()[..end];
            words = self.words.with_prefix(prefix, words);
            if words.is_empty() {
                break;
            }
            // Words are sorted, so an exact match comes first.
            if self.words.bytes(words.start) == prefix {
                ids.extend(self.with_words(words.start..words.start + 1));
            }
        }
        ids
    }

    fn with_words(&self, words: Range<usize>) -> Vec<u32> {
        self.ids.to_vec(self.lists.range_of(words))
    }
}

/// The words to index, each with the IDs of the names that contain it.
#[derive(Default)]
pub(super) struct WordCollection(BTreeMap<String, BTreeSet<u32>>);

impl WordCollection {
    pub(super) fn add(&mut self, name: &str, id: u32) {
        for word in Folded::from(name).word_tails() {
            self.0.entry(word).or_default().insert(id);
        }
    }
}
