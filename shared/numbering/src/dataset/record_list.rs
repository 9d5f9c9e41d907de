//! Lazy record lists: a page deep in a list costs no more than the first.

use std::{ops::Range, vec};

use super::Dataset;

/// A dataset's records in order. The length is known up front, and skipping records (`nth`, `skip`) does not
/// build them.
#[derive(Debug, Clone)]
pub struct Records<'a, R> {
    dataset: &'a Dataset,
    positions: Positions,
    record_at: fn(&'a Dataset, usize) -> R,
}

#[derive(Debug, Clone)]
pub(super) enum Positions {
    Range(Range<usize>),
    List(vec::IntoIter<usize>),
    Set { is_in_set: Vec<bool>, next: usize, left: usize },
}

/// The number of positions to count at once. The count must fit in a byte.
const COUNT_CHUNK: usize = 128;

impl Positions {
    /// The positions that are `true`.
    pub(super) fn set(is_in_set: Vec<bool>) -> Self {
        let left = is_in_set.chunks(COUNT_CHUNK).map(count).sum();
        Self::Set { is_in_set, next: 0, left }
    }
}

impl<'a, R> Records<'a, R> {
    pub(super) fn new(
        dataset: &'a Dataset,
        positions: Positions,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        Self { dataset, positions, record_at }
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
}

impl<R> ExactSizeIterator for Records<'_, R> {}

/// Counts the set positions, out of at most [`COUNT_CHUNK`].
fn count(is_in_set: &[bool]) -> usize {
    is_in_set.iter().map(|&is_set| u8::from(is_set)).sum::<u8>().into()
}

/// The position of the set flag at index `skipped`, counting from `start`.
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
