//! Detects numbers that occur more than once in a list.

use std::collections::HashMap;

use super::describe::{DescribedNumber, DescribedRow, Occurrence};

/// The line of each number's first occurrence.
#[derive(Default)]
pub(super) struct FirstLines(HashMap<Box<str>, u64>);

impl FirstLines {
    /// Marks the numbers in the next rows, and counts those that repeat an earlier one.
    pub fn mark(&mut self, rows: &mut [DescribedRow]) -> u64 {
        let Self(lines) = self;
        let mut repeated = 0;
        for DescribedRow { row, numbers, .. } in rows {
            for number in numbers {
                let Some(key) = number.key.take() else { continue };
                let count = lines.len();
                let first_line = *lines.entry(key).or_insert(row.line);
                let is_first = lines.len() > count;
                let occurrence =
                    if is_first { Occurrence::First } else { Occurrence::Repeated(first_line) };
                repeated += u64::from(!is_first);
                number.occurrence = Some(occurrence);
            }
        }
        repeated
    }
}

/// Returns `true` if there are valid numbers, and all of them repeat earlier ones.
pub(super) fn are_repeated(numbers: &[DescribedNumber]) -> bool {
    let mut occurrences = numbers.iter().filter_map(|number| number.occurrence).peekable();
    occurrences.peek().is_some() && !occurrences.any(|it| it == Occurrence::First)
}
