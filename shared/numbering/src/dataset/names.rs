//! Holder and rate center names, and the word index over them.
//!
//! Each name has an ID. Holders come first: zero for no holder, then carriers, whose company and common names share an
//! ID, then companies without an OCN. Rate centers follow, with a second zero for no rate center.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    columns::{Columns, Lists, Numbers, Strings},
    words::FoldedText,
};

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
        self.ids.to_vec(self.lists.range_of(self.words.with_prefix(prefix)))
    }
}

/// The words to index, each with the IDs of the names that contain it.
#[derive(Default)]
pub(super) struct WordCollection(BTreeMap<String, BTreeSet<u32>>);

impl WordCollection {
    pub(super) fn add(&mut self, name: &str, id: u32) {
        for word in FoldedText::from(name).word_tails() {
            self.0.entry(word).or_default().insert(id);
        }
    }
}
