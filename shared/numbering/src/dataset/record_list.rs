//! Lazy lists of records, so a page deep in a list costs no more than the first.

use std::{ops::Range, vec};

use super::Dataset;

/// Records of a dataset in order. The length is known up front, and skipping records (`nth`, `skip`) builds
/// none.
#[derive(Debug, Clone)]
pub struct Records<'a, R> {
    dataset: &'a Dataset,
    positions: Positions,
    record_at: fn(&'a Dataset, usize) -> R,
}

/// The positions of the remaining records among those of their kind.
#[derive(Debug, Clone)]
enum Positions {
    Range(Range<usize>),
    List(vec::IntoIter<usize>),
    Set { is_in_set: Vec<bool>, next: usize, left: usize },
}

/// The number of set positions to count at once, limited by what a byte can count.
const COUNT_CHUNK: usize = 128;

impl<'a, R> Records<'a, R> {
    pub(super) fn in_range(
        dataset: &'a Dataset,
        range: Range<usize>,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        Self { dataset, positions: Positions::Range(range), record_at }
    }

    /// The records at the set positions.
    pub(super) fn in_set(
        dataset: &'a Dataset,
        is_in_set: Vec<bool>,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        let left = is_in_set.chunks(COUNT_CHUNK).map(count).sum();
        Self { dataset, positions: Positions::Set { is_in_set, next: 0, left }, record_at }
    }

    /// Records in list order.
    pub(super) fn in_list(
        dataset: &'a Dataset,
        positions: Vec<usize>,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        Self { dataset, positions: Positions::List(positions.into_iter()), record_at }
    }
}

impl<R> Iterator for Records<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<R> {
        let position = match &mut self.positions {
            Positions::Range(range) => range.nth(skipped)?,
            Positions::List(list) => list.nth(skipped)?,
            Positions::Set { is_in_set, next, left } => {
                *left = left.checked_sub(skipped + 1).unwrap_or_default();
                *next = nth_set(is_in_set, *next, skipped)? + 1;
                *next - 1
            }
        };
        Some((self.record_at)(self.dataset, position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.positions {
            Positions::Range(range) => range.size_hint(),
            Positions::List(list) => list.size_hint(),
            Positions::Set { left, .. } => (*left, Some(*left)),
        }
    }

    fn count(self) -> usize {
        self.len()
    }
}

impl<R> ExactSizeIterator for Records<'_, R> {}

/// Counts the set positions, out of at most [`COUNT_CHUNK`].
fn count(is_in_set: &[bool]) -> usize {
    is_in_set.iter().map(|&is_set| u8::from(is_set)).sum::<u8>().into()
}

/// The set position, from `start` on, that follows `skipped` other set positions.
fn nth_set(is_in_set: &[bool], mut start: usize, mut skipped: usize) -> Option<usize> {
    for chunk in is_in_set.get(start..)?.chunks(COUNT_CHUNK) {
        let count = count(chunk);
        if skipped < count {
            break;
        }
        skipped -= count;
        start += chunk.len();
    }
    (start..is_in_set.len()).filter(|&position| is_in_set[position]).nth(skipped)
}
