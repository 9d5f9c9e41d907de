//! Lists of records that are made only as they are reached, so that a page deep in a list costs no
//! more than the first.

use std::{fmt, ops::Range, vec};

use super::{Dataset, row_set::RowSet};

/// Records of a dataset in their order. The length is known from the start, and passing over
/// records (`nth`, `skip`) makes none.
pub struct Records<'a, R> {
    dataset: &'a Dataset,
    positions: Positions,
    record_at: fn(&'a Dataset, usize) -> R,
}

/// Where the remaining records stand among those of their kind.
#[derive(Debug, Clone)]
enum Positions {
    Range(Range<usize>),
    Set { set: RowSet, next: usize, left: usize },
    List(vec::IntoIter<usize>),
}

impl<'a, R> Records<'a, R> {
    pub(super) fn in_range(
        dataset: &'a Dataset,
        range: Range<usize>,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        Self { dataset, positions: Positions::Range(range), record_at }
    }

    pub(super) fn in_set(
        dataset: &'a Dataset,
        set: RowSet,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        let left = set.count();
        Self { dataset, positions: Positions::Set { set, next: 0, left }, record_at }
    }

    /// Records in the order of their positions in the list.
    pub(super) fn in_order(
        dataset: &'a Dataset,
        positions: Vec<usize>,
        record_at: fn(&'a Dataset, usize) -> R,
    ) -> Self {
        Self { dataset, positions: Positions::List(positions.into_iter()), record_at }
    }
}

impl<R> Clone for Records<'_, R> {
    fn clone(&self) -> Self {
        Self { positions: self.positions.clone(), ..*self }
    }
}

impl<R> fmt::Debug for Records<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Iterator for Positions {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<usize> {
        match self {
            Self::Range(range) => range.nth(skipped),
            Self::Set { set, next, left } => {
                let found = if skipped < *left { set.nth_from(*next, skipped) } else { None };
                *left = left.saturating_sub(skipped.saturating_add(1));
                *next = found? + 1;
                found
            }
            Self::List(positions) => positions.nth(skipped),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Range(range) => range.size_hint(),
            Self::Set { left, .. } => (*left, Some(*left)),
            Self::List(positions) => positions.size_hint(),
        }
    }
}

impl<R> Iterator for Records<'_, R> {
    type Item = R;

    fn next(&mut self) -> Option<R> {
        self.nth(0)
    }

    fn nth(&mut self, skipped: usize) -> Option<R> {
        let position = self.positions.nth(skipped)?;
        Some((self.record_at)(self.dataset, position))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.positions.size_hint()
    }

    fn count(self) -> usize {
        self.len()
    }
}

impl<R> ExactSizeIterator for Records<'_, R> {}
