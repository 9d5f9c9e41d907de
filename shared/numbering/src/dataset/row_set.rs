//! A set of rows, a bit for each.

use std::ops::Range;

/// Rows of one table, in order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowSet {
    words: Vec<u64>,
}

/// How many rows a word of the set holds.
pub(super) const WORD: usize = u64::BITS as usize;

impl RowSet {
    /// An empty set that can hold the rows below `limit`.
    pub(super) fn new(limit: usize) -> Self {
        // One word more, so that bits which begin in the last word have one to run into.
        Self { words: vec![0; limit / WORD + 2] }
    }

    pub(super) fn insert(&mut self, row: usize) {
        self.words[row / WORD] |= 1 << (row % WORD);
    }

    pub(super) fn contains(&self, row: usize) -> bool {
        self.words[row / WORD] >> (row % WORD) & 1 == 1
    }

    /// Adds the rows whose bits are set, of which the lowest stands for `first`.
    pub(super) fn insert_bits(&mut self, first: usize, bits: u64) {
        let (word, shift) = (first / WORD, first % WORD);
        self.words[word] |= bits << shift;
        // Two shifts, since one by all 64 bits is none.
        self.words[word + 1] |= bits >> (WORD - 1 - shift) >> 1;
    }

    pub(super) fn insert_range(&mut self, rows: Range<usize>) {
        for first in rows.clone().step_by(WORD) {
            self.insert_bits(first, first_bits(rows.end - first));
        }
    }

    pub(super) fn retain(&mut self, other: &Self) {
        for (word, others) in self.words.iter_mut().zip(&other.words) {
            *word &= others;
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (word, others) in self.words.iter_mut().zip(&other.words) {
            *word |= others;
        }
    }

    pub(super) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The row that follows after `skipped` others, counted from the row `first` on.
    pub(super) fn nth_from(&self, first: usize, mut skipped: usize) -> Option<usize> {
        let start = first / WORD;
        for (number, &word) in self.words.iter().enumerate().skip(start) {
            let is_first = number == start;
            let word = if is_first { word & !first_bits(first % WORD) } else { word };
            let count = word.count_ones() as usize;
            if skipped < count {
                return Some(number * WORD + nth_bit(word, skipped));
            }
            skipped -= count;
        }
        None
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(number, &word)| bits_of(word).map(move |bit| number * WORD + bit))
    }
}

/// The lowest `count` bits, at most all.
pub(super) fn first_bits(count: usize) -> u64 {
    if count >= WORD { u64::MAX } else { (1 << count) - 1 }
}

/// The word whose bits are these bytes, each of which is 0 or 1.
pub(super) fn word_of_bytes(bytes: &[u8; WORD]) -> u64 {
    let (groups, _) = bytes.as_chunks();
    groups.iter().rev().fold(0, |word, &group| {
        // The product moves the eight lowest bits, one of each byte, next to each other.
        word << 8 | u64::from_le_bytes(group).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

/// The positions of the bits that are set, from the lowest on.
pub(super) fn bits_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

/// The position of the bit that is set after `skipped` others that are.
pub(super) fn nth_bit(word: u64, skipped: usize) -> usize {
    bits_of(word).nth(skipped).unwrap_or(WORD)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::btree_set, prelude::*};

    use super::*;

    fn set_of(rows: &BTreeSet<usize>) -> RowSet {
        let mut set = RowSet::new(300);
        rows.iter().for_each(|&row| set.insert(row));
        set
    }

    proptest! {
        #[test]
        fn a_set_has_the_rows_that_were_added(
            rows in btree_set(0usize..300, 0..60),
            first in 0usize..230,
            bits in any::<u64>(),
            range in (0usize..300, 0usize..300),
        ) {
            let range = range.0.min(range.1)..range.0.max(range.1);
            let mut expected = rows.clone();
            let mut set = set_of(&rows);
            set.insert_bits(first, bits);
            expected.extend(bits_of(bits).map(|bit| first + bit));
            set.insert_range(range.clone());
            expected.extend(range);
            prop_assert_eq!(set.count(), expected.len());
            prop_assert_eq!(set.iter().collect::<BTreeSet<_>>(), expected);
        }

        #[test]
        fn bytes_become_bits(word in any::<u64>()) {
            let bytes = std::array::from_fn(|bit| (word >> bit & 1) as u8);
            prop_assert_eq!(word_of_bytes(&bytes), word);
        }

        #[test]
        fn rows_are_skipped_as_if_one_by_one(
            rows in btree_set(0usize..300, 0..60),
            first in 0usize..300,
            skipped in 0usize..70,
        ) {
            let expected = rows.range(first..).nth(skipped).copied();
            prop_assert_eq!(set_of(&rows).nth_from(first, skipped), expected);
        }
    }
}
