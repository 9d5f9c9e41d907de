//! The options of an import, and its progress.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use numbering::time::this_second;

use crate::{IngestError, Waivers};

/// The options of an import.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The waivers of the gates.
    pub waivers: Waivers,
    /// Stop before anything is written.
    pub dry_run: bool,
    /// Import as if nothing had been imported before, if the manifest cannot be read.
    pub replace_manifest: bool,
    /// The time at which the process will be ended; the import stops cleanly before that.
    pub deadline: Option<Instant>,
    /// The time of the import: the version is named after it, the data counts as imported then,
    /// and no file may be dated later. The clock is read once, so that all of these agree. Tests
    /// set another time, because unnamed chunks are deleted only after a day, and the clocks of two
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
    /// A report is being fetched; `file` is what messages call it.
    Fetching {
        file: &'static str,
        bytes: u64,
        /// The size of the whole, if the server states it.
        total: Option<u64>,
    },
    /// A report is being read.
    Reading { file: &'static str, rows: u64 },
    /// The reports are read and are being compared with the current version.
    Comparing,
    /// The items to write are known; holds how many there are.
    Planned(usize),
    /// Some more items are written; holds how many.
    Written(usize),
    /// The items are written, and the version is being published.
    Publishing,
    /// The items are being compared with the snapshot.
    Verifying,
}

/// Time reserved before the deadline to replace the manifest, or to report.
pub(crate) const RESERVED_TIME: Duration = Duration::from_secs(15);

/// Does `work`, unless it would end too near the deadline: then [`IngestError::OutOfTime`] is returned.
pub(crate) async fn before_deadline<T>(
    deadline: Option<Instant>,
    work: impl Future<Output = T>,
) -> Result<T, IngestError> {
    let Some(deadline) = deadline else { return Ok(work.await) };
    let left = deadline.saturating_duration_since(Instant::now()).saturating_sub(RESERVED_TIME);
    tokio::time::timeout(left, work).await.map_err(|_| IngestError::OutOfTime)
}
