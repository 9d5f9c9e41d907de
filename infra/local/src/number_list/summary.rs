//! How many numbers of a list were valid, repaired and rejected, and why.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use formatting::Verdict;
use indicatif::HumanCount;

use super::reason::Reason;

/// Counts over the rows of a list.
#[derive(Debug, Default)]
pub struct Summary {
    valid: u64,
    repaired: u64,
    rejected: BTreeMap<Reason, Rejected>,
}

/// The rows that were rejected for one reason.
#[derive(Debug)]
struct Rejected {
    count: u64,
    first_line: u64,
}

impl Summary {
    pub(super) fn count(&mut self, verdict: Result<Verdict, Reason>, line: u64) {
        match verdict {
            Ok(Verdict::Valid) => self.valid += 1,
            Ok(Verdict::Repaired) => self.repaired += 1,
            Ok(Verdict::Rejected(refusal)) => self.reject(Reason::Number(refusal), 1, line),
            Err(reason) => self.reject(reason, 1, line),
        }
    }

    /// Counts the rows of a later part.
    pub(super) fn add(&mut self, later: Self) {
        self.valid += later.valid;
        self.repaired += later.repaired;
        for (reason, Rejected { count, first_line }) in later.rejected {
            self.reject(reason, count, first_line);
        }
    }

    fn reject(&mut self, reason: Reason, count: u64, first_line: u64) {
        self.rejected.entry(reason).or_insert(Rejected { count: 0, first_line }).count += count;
    }

    /// How many rows were rejected.
    pub fn rejected(&self) -> u64 {
        self.rejected.values().map(|rejected| rejected.count).sum()
    }

    /// How many rows there were.
    pub fn total(&self) -> u64 {
        self.valid + self.repaired + self.rejected()
    }

    /// The counts in words, the most frequent reason first.
    pub fn in_words(&self, time: Duration) -> String {
        let [total, valid, repaired, rejected] =
            [self.total(), self.valid, self.repaired, self.rejected()].map(HumanCount);
        let numbers = if self.total() == 1 { "number" } else { "numbers" };
        let mut words = format!(
            "{total} {numbers} in {:.1} s: {valid} valid, {repaired} repaired, {rejected} rejected\n",
            time.as_secs_f64()
        );
        let mut reasons: Vec<_> = self.rejected.iter().collect();
        reasons.sort_by_key(|(_, rejected)| std::cmp::Reverse(rejected.count));
        for (reason, Rejected { count, first_line }) in reasons {
            let count = HumanCount(*count).to_string();
            // Writing into a text cannot fail.
            _ = writeln!(words, "{count:>12}  {reason} (first in line {first_line})");
        }
        words
    }
}
