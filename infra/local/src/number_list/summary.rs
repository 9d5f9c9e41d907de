//! Counts of what became of the numbers of a list.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use indicatif::HumanCount;

use super::{
    answers::{Answer, Outcome},
    duplicates::Repeated,
    reason::Reason,
};

/// Counts over the rows of a list.
#[derive(Debug, Default)]
pub struct Summary {
    rows: u64,
    /// Rows, or lines of JSON, that are not written.
    left_out: u64,
    valid: u64,
    repaired: u64,
    rejected: u64,
    duplicates: u64,
    reasons: BTreeMap<Reason, Counted>,
}

/// The numbers that have one reason.
#[derive(Debug)]
struct Counted {
    count: u64,
    first_line: u64,
}

impl Summary {
    pub(super) fn count_row(&mut self, line: u64, answers: &[Answer]) {
        self.rows += 1;
        for Answer { outcome, reason, .. } in answers {
            match outcome {
                Outcome::Valid => self.valid += 1,
                Outcome::Repaired => self.repaired += 1,
                Outcome::Rejected => self.rejected += 1,
            }
            if let Some(reason) = *reason {
                self.count_reason(reason, 1, line);
            }
        }
    }

    pub(super) fn count_left_out(&mut self, rows: u64) {
        self.left_out += rows;
    }

    pub(super) fn count_repeated(&mut self, repeated: &Repeated) {
        self.duplicates += repeated.numbers;
        self.left_out += repeated.dropped;
    }

    /// Counts the rows of a later part.
    pub(super) fn add(&mut self, later: Self) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        self.valid += later.valid;
        self.repaired += later.repaired;
        self.rejected += later.rejected;
        self.duplicates += later.duplicates;
        for (reason, Counted { count, first_line }) in later.reasons {
            self.count_reason(reason, count, first_line);
        }
    }

    fn count_reason(&mut self, reason: Reason, count: u64, first_line: u64) {
        self.reasons.entry(reason).or_insert(Counted { count: 0, first_line }).count += count;
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of rejected numbers.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// The number of numbers.
    pub fn total(&self) -> u64 {
        self.valid + self.repaired + self.rejected
    }

    /// The counts for a person, the most frequent reason first.
    fn write(&self, text: &mut String) -> fmt::Result {
        let [valid, repaired, rejected] =
            [self.valid, self.repaired, self.rejected].map(HumanCount);
        let total = counted(self.total(), "number");
        writeln!(text, "{total}: {valid} valid, {repaired} repaired, {rejected} rejected")?;
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.count));
        for (reason, Counted { count, first_line }) in reasons {
            let (count, code) = (HumanCount(*count).to_string(), reason.code());
            let still = if reason.is_of_valid_number() { "valid, but " } else { "" };
            writeln!(text, "{count:>12}  {code:<20} {still}{reason} (first in line {first_line})")?;
        }
        if self.duplicates > 0 {
            let different = self.valid + self.repaired - self.duplicates;
            let different = counted(different, "different number");
            writeln!(text, "{}, {different}", counted(self.duplicates, "duplicate"))?;
        }
        if self.left_out > 0 {
            writeln!(text, "{} left out of the output", counted(self.left_out, "row"))?;
        }
        Ok(())
    }

    /// The report on a list whose numbers were in these columns.
    pub(super) fn report(&self, columns: &[String]) -> String {
        let quoted: Vec<String> = columns.iter().map(|name| format!("'{name}'")).collect();
        let mut text = match quoted.as_slice() {
            [] => String::new(),
            [only] => format!("Column {only}: "),
            several => format!("Columns {}: ", several.join(", ")),
        };
        // Writing into a text cannot fail.
        _ = self.write(&mut text);
        text
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", HumanCount(count), if count == 1 { "" } else { "s" })
}
