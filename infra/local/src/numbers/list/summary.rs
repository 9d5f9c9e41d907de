//! Counts of a list's outcomes, and the time taken.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    num::NonZero,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use formatting::Reason as NumberReason;
use indicatif::HumanCount;

use super::{
    answers::{Answer, Outcome, Reason},
    duplicates::Repeated,
};

/// Counts over the rows of a list.
#[derive(Debug, Default)]
pub(super) struct Summary {
    pub rows: u64,
    /// Rows, or lines of JSON, that are not written.
    pub left_out: u64,
    valid: u64,
    repaired: u64,
    pub rejected: u64,
    duplicates: u64,
    reasons: BTreeMap<Reason, Counted>,
}

/// The numbers with the same reason.
#[derive(Debug)]
struct Counted {
    count: u64,
    first_line: u64,
}

impl Summary {
    pub fn count_row(&mut self, line: u64, answers: &[Answer]) {
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

    pub fn count_repeated(&mut self, repeated: &Repeated) {
        self.duplicates += repeated.numbers;
        self.left_out += repeated.dropped;
    }

    /// Adds the counts of a later part.
    pub fn add(&mut self, later: Self) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        self.valid += later.valid;
        self.repaired += later.repaired;
        self.rejected += later.rejected;
        for (reason, Counted { count, first_line }) in later.reasons {
            self.count_reason(reason, count, first_line);
        }
    }

    fn count_reason(&mut self, reason: Reason, count: u64, first_line: u64) {
        self.reasons.entry(reason).or_insert(Counted { count: 0, first_line }).count += count;
    }

    /// The total number of numbers.
    pub fn total(&self) -> u64 {
        self.valid + self.repaired + self.rejected
    }

    /// The report on a list with these number columns, most frequent reason first.
    pub fn report(&self, columns: &[String], times: &Times) -> String {
        let mut text = match columns {
            [] => String::new(),
            [only] => format!("Column '{only}': "),
            several => format!("Columns '{}': ", several.join("', '")),
        };
        // Writing to a string cannot fail.
        _ = self.write(&mut text, times);
        text
    }

    fn write(&self, text: &mut String, times: &Times) -> fmt::Result {
        let [valid, repaired, rejected] =
            [self.valid, self.repaired, self.rejected].map(HumanCount);
        let total = counted(self.total(), "number");
        writeln!(text, "{total}: {valid} valid, {repaired} repaired, {rejected} rejected")?;
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, counted)| std::cmp::Reverse(counted.count));
        for (reason, Counted { count, first_line }) in reasons {
            let (count, code) = (HumanCount(*count).to_string(), reason.code());
            let is_remark = *reason == Reason::Number(NumberReason::TwoNumbers);
            let still = if is_remark { "valid, but " } else { "" };
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
        let Times { start, reading, describing, writing } = times;
        let seconds = start.elapsed().as_secs_f64();
        let rate = HumanCount((self.rows as f64 / seconds.max(1e-6)) as u64);
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        writeln!(
            text,
            "{seconds:.1} s, {rate} rows/s: reading {reading}, describing {describing} on {threads} \
             threads, writing {writing}"
        )
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", HumanCount(count), if count == 1 { "" } else { "s" })
}

/// The time spent on each kind of work, summed over threads.
#[derive(Debug)]
pub(super) struct Times {
    pub start: Instant,
    /// Includes waiting for a pipe.
    pub reading: Stopwatch,
    pub describing: Stopwatch,
    pub writing: Stopwatch,
}

impl Times {
    pub fn start() -> Self {
        let [reading, describing, writing] = Default::default();
        Self { start: Instant::now(), reading, describing, writing }
    }
}

/// The time spent on one kind of work.
#[derive(Debug, Default)]
pub(super) struct Stopwatch {
    microseconds: AtomicU64,
}

impl Stopwatch {
    /// Runs `work` and adds the time it takes.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let done = work();
        let microseconds = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
        done
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let taken = Duration::from_micros(self.microseconds.load(Ordering::Relaxed));
        write!(f, "{:.1} s", taken.as_secs_f64())
    }
}
