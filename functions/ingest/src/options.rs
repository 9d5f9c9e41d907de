//! The options of an import, and its progress.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use numbering::time::this_second;

use crate::{IngestError, Waivers};

#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub waivers: Waivers,
    /// Stop before writing anything.
    pub dry_run: bool,
    /// If the manifest cannot be read, import as if nothing had been imported before.
    pub replace_manifest: bool,
    /// The time when the process will be killed; the import stops cleanly before that.
    pub deadline: Option<Instant>,
    /// The import time: names the version, dates the data, and no file may be dated later. The clock is read once, so
    /// these agree. Tests override it, since unnamed chunks are deleted only after a day, and the clocks of two
    /// importing machines may differ.
    pub now: Timestamp,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            waivers: Waivers::default(),
            dry_run: false,
            replace_manifest: false,
            deadline: None,
            now: this_second(),
        }
    }
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A report is being fetched; `file` is its name in messages.
    Fetching {
        file: &'static str,
        bytes: u64,
        /// The total size, if the server states it.
        total: Option<u64>,
    },
    /// A report is being read.
    Reading { file: &'static str, rows: u64 },
    /// The reports have been read and are being compared with the current version.
    Comparing,
    /// The number of items to write is known.
    Planned(usize),
    /// This many more items have been written.
    Written(usize),
    /// The items have been written, and the version is being published.
    Publishing,
    /// The items are being compared with the snapshot.
    Verifying,
}

/// Time reserved before the deadline to replace the manifest, or to report.
pub(crate) const RESERVED_TIME: Duration = Duration::from_secs(15);

/// Runs `work`, unless it would end too close to the deadline: then returns [`IngestError::OutOfTime`].
pub(crate) async fn before_deadline<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, IngestError> {
    let Some(deadline) = deadline else { return Ok(work.await) };
    let left = deadline.saturating_duration_since(Instant::now()).saturating_sub(RESERVED_TIME);
    tokio::time::timeout(left, work).await.map_err(|_| IngestError::OutOfTime)
}
