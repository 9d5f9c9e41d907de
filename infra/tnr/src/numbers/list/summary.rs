//! Counts of a list's outcomes.

use std::{cmp::Reverse, collections::BTreeMap};

use formatting::Reason as NumberReason;
use indicatif::HumanCount;
use number_lists::Row;

use super::describe::{DescribedNumber, DescribedRow, Outcome, Reason};
use crate::error::pluralize;

#[derive(Debug, Default)]
pub(super) struct Summary {
    /// CSV rows or JSON lines that are not written.
    pub omitted: u64,
    pub duplicates: u64,
    pub has_windows_1252: bool,
    outcomes: [u64; 4],
    /// The count and the first line for each reason.
    reasons: BTreeMap<Reason, (u64, u64)>,
}

impl Summary {
    pub fn count_row(&mut self, row: &DescribedRow) {
        let DescribedRow { row: Row { line, .. }, has_windows_1252, numbers } = row;
        self.has_windows_1252 |= has_windows_1252;
        for DescribedNumber { outcome, reason, .. } in numbers {
            self.outcomes[*outcome as usize] += 1;
            if let Some(reason) = reason.filter(|_| *outcome != Outcome::Empty) {
                self.reasons.entry(reason).or_insert((0, *line)).0 += 1;
            }
        }
    }

    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The count of cells or lines that are not empty.
    fn total(&self) -> u64 {
        self.outcomes.iter().sum::<u64>() - self.count(Outcome::Empty)
    }

    /// The report for a list with these number columns, with the most frequent reasons first.
    pub fn report(&self, columns: &[String]) -> String {
        let (start, blank) = match columns {
            [] => (String::new(), "empty line"),
            [only] => (format!("Column '{only}': "), "empty cell"),
            several => (format!("Columns '{}': ", several.join("', '")), "empty cell"),
        };
        let [valid, repaired, rejected, empty] = self.outcomes.map(HumanCount);
        let total = pluralize(self.total() as usize, "number");
        let counts = format!("{total}: {valid} valid, {repaired} repaired, {rejected} rejected");
        let mut lines = vec![start + &counts];
        if empty.0 > 0 {
            lines[0] += &format!("; {}", pluralize(empty.0 as usize, blank));
        }
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (count, _))| Reverse(*count));
        lines.extend(reasons.into_iter().map(|(reason, (count, first_line))| {
            let (count, code) = (HumanCount(*count).to_string(), reason.code());
            let is_valid = *reason == Reason::Number(NumberReason::TwoNumbers);
            let valid = if is_valid { "valid, but " } else { "" };
            format!("{count:>12}  {code:<20} {valid}{reason} (first on line {first_line})")
        }));
        if self.duplicates > 0 {
            let distinct = self.total() - self.count(Outcome::Rejected) - self.duplicates;
            let distinct = pluralize(distinct as usize, "distinct number");
            lines.push(format!("{}, {distinct}", pluralize(self.duplicates as usize, "duplicate")));
        }
        if self.omitted > 0 {
            lines.push(format!(
                "{} omitted from the output",
                pluralize(self.omitted as usize, "row")
            ));
        }
        lines.join("\n") + "\n"
    }
}
