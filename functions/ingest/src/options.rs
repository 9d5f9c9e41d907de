//! Import options and progress.

use std::time::{Duration, Instant};

use jiff::{Timestamp, ToSpan};
use numbering::time::this_second;

use crate::{IngestError, gates::AllowedGates};

#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub allow: AllowedGates,
    /// Refuses unknown and missing columns, unknown values, and unreadable block reports.
    pub strict: bool,
    /// Reports what would change, and writes nothing.
    pub dry_run: bool,
    /// Repairs items that differ from the current version after the import. Reads every item, which takes half as long
    /// as an import.
    pub verify: bool,
    /// Replaces an unreadable manifest as if nothing had been imported yet.
    pub replace_manifest: bool,
    /// The time at which the process will be killed. The import stops earlier.
    pub deadline: Option<Instant>,
    /// The length of the history in days; 0 for no history.
    pub history_days: u16,
    /// Discards the history before this import, for example if it is damaged beyond repair.
    pub restart_history: bool,
    /// The import time. It is part of the version's name, and files must not have later dates.
    pub now: Timestamp,
}

pub const DEFAULT_HISTORY_DAYS: u16 = 731;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Timestamp,
    started: Instant,
}

impl Clock {
    pub fn new(start: Timestamp) -> Self {
        Self { start, started: Instant::now() }
    }

    pub fn now(self) -> Timestamp {
        self.start + (self.started.elapsed().as_secs() as i64).seconds()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allow: AllowedGates::default(),
            strict: false,
            dry_run: false,
            verify: false,
            replace_manifest: false,
            deadline: None,
            history_days: DEFAULT_HISTORY_DAYS,
            restart_history: false,
            now: this_second(),
        }
    }
}

/// Rewrites, or only counts, items that differ from the current version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A report is being fetched. `file` is its name in messages.
    Fetching {
        file: &'static str,
        bytes: u64,
        total: Option<u64>,
    },
    Reading {
        file: &'static str,
        rows: u64,
    },
    Comparing,
    /// Items will be written. `phase` is a message.
    Planned {
        phase: &'static str,
        items: usize,
    },
    Written(usize),
    Publishing,
    Verifying,
}

/// The time reserved before the deadline to replace the manifest or report the outcome.
pub(crate) const RESERVED_TIME: Duration = Duration::from_secs(15);

/// The deadline for the first of several steps that take equally long.
pub(crate) fn share_of_time(deadline: Option<Instant>, steps: usize) -> Option<Instant> {
    let now = Instant::now();
    let left = deadline?.saturating_duration_since(now).saturating_sub(RESERVED_TIME);
    Some(now + left / steps as u32 + RESERVED_TIME)
}

/// Runs `work` until shortly before the deadline, then stops it and returns [`IngestError::OutOfTime`].
pub(crate) async fn before_deadline<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, IngestError> {
    let Some(deadline) = deadline else { return Ok(work.await) };
    let left = deadline.saturating_duration_since(Instant::now()).saturating_sub(RESERVED_TIME);
    tokio::time::timeout(left, work).await.map_err(|_| IngestError::OutOfTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_share_the_time_left_except_what_is_reserved() {
        let deadline = Instant::now() + RESERVED_TIME + Duration::from_secs(400);
        let share = share_of_time(Some(deadline), 4).unwrap().duration_since(Instant::now());
        let expected = RESERVED_TIME + Duration::from_secs(100);
        assert!(share <= expected && share > expected - Duration::from_secs(10), "{share:?}");
        assert_eq!(share_of_time(None, 4), None);
        assert!(share_of_time(Some(Instant::now()), 4).unwrap() <= Instant::now() + RESERVED_TIME);
    }
}
