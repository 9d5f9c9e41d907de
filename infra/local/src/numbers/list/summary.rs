//! Counts of a list's outcomes.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use formatting::Reason as NumberReason;
use indicatif::HumanCount;

use super::answer::{Answer, Outcome, Reason};

/// Counts over the rows of a list.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub rows: u64,
    /// Rows, or lines of JSON, that are not written.
    pub left_out: u64,
    /// Numbers that repeat an earlier one.
    pub duplicates: u64,
    /// Numbers by [`Outcome`].
    outcomes: [u64; 3],
    /// The numbers with the same reason: how many, and the first one's line.
    reasons: BTreeMap<Reason, (u64, u64)>,
}

impl Summary {
    pub fn count_row(&mut self, line: u64, answers: &[Answer]) {
        self.rows += 1;
        for Answer { outcome, reason, .. } in answers {
            self.outcomes[*outcome as usize] += 1;
            if let Some(reason) = *reason {
                self.reasons.entry(reason).or_insert((0, line)).0 += 1;
            }
        }
    }

    /// Adds the counts of a later part.
    pub fn add(&mut self, later: Self) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        for (count, more) in self.outcomes.iter_mut().zip(later.outcomes) {
            *count += more;
        }
        for (reason, (count, first_line)) in later.reasons {
            self.reasons.entry(reason).or_insert((0, first_line)).0 += count;
        }
    }

    /// The count of numbers with this outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The total number of numbers.
    pub fn total(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    /// The report on a list with these number columns, most frequent reason first.
    pub fn report(&self, columns: &[String]) -> String {
        let mut text = match columns {
            [] => String::new(),
            [only] => format!("Column '{only}': "),
            several => format!("Columns '{}': ", several.join("', '")),
        };
        // Writing to a string cannot fail.
        _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let [valid, repaired, rejected] = self.outcomes.map(HumanCount);
        let total = counted(self.total(), "number");
        writeln!(text, "{total}: {valid} valid, {repaired} repaired, {rejected} rejected")?;
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (reason, (count, first_line)) in reasons {
            let (count, code) = (HumanCount(*count).to_string(), reason.code());
            let is_remark = *reason == Reason::Number(NumberReason::TwoNumbers);
            let still = if is_remark { "valid, but " } else { "" };
            writeln!(text, "{count:>12}  {code:<20} {still}{reason} (first in line {first_line})")?;
        }
        if self.duplicates > 0 {
            let different = self.total() - self.count(Outcome::Rejected) - self.duplicates;
            let different = counted(different, "different number");
            writeln!(text, "{}, {different}", counted(self.duplicates, "duplicate"))?;
        }
        if self.left_out > 0 {
            writeln!(text, "{} left out of the output", counted(self.left_out, "row"))?;
        }
        Ok(())
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", HumanCount(count), if count == 1 { "" } else { "s" })
}
