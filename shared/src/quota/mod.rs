//! Quotas: the number of requests that a key may make per minute and per day.
//!
//! A container counts requests in memory, and periodically adds them to a DynamoDB item that all containers share. In a
//! Lambda function, an extension writes the counts after the response. Elsewhere, a background task does. A request
//! waits for a write only if it exceeds its container's allowance (docs/decisions/0006-quotas.md).

mod counter;
mod statuses;
mod window;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use jiff::Timestamp;
use logging::with_causes;
use parking_lot::Mutex;
use store::{KeyRecord, Store, StoreError, Usage};

use self::{
    counter::{Call, Counter},
    statuses::Limits,
};

pub use statuses::{QuotaExceeded, QuotaStatuses};
pub use window::{LimitType, QuotaStatus};

/// The number of quotas in memory beyond which quotas without unwritten requests are dropped.
const MAX_IDLE_QUOTAS: usize = 10_000;
/// The number of failed writes before a warning, which takes two minutes. Warnings for a quota are at least this
/// interval apart.
const FAILURES_BEFORE_WARNING: u32 = 12;
const WARNING_INTERVAL: Duration = Duration::from_secs(120);
/// Attempts to write the remaining counts before the process ends.
const FINAL_ATTEMPTS: u32 = 3;

/// The quotas whose requests this container counts.
pub struct Quotas {
    store: Store,
    /// By quota id.
    quotas: Mutex<HashMap<String, Arc<Quota>>>,
    is_written_by_extension: AtomicBool,
    warned_at: Mutex<Option<Instant>>,
}

/// One quota in this container.
#[derive(Default)]
struct Quota {
    id: String,
    counter: Mutex<Counter>,
    /// Locked during a write, so that a quota's writes do not overlap.
    writing: tokio::sync::Mutex<()>,
    /// The time of the next write by a task, if one is scheduled.
    scheduled_at: Mutex<Option<Instant>>,
}

impl Quota {
    fn has_unwritten_counts(&self) -> bool {
        self.counter.lock().has_unwritten_counts()
    }
}

impl Quotas {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            quotas: Mutex::default(),
            is_written_by_extension: AtomicBool::new(false),
            warned_at: Mutex::default(),
        }
    }

    /// Adds `requests` to the counts for `key`, or nothing if they would exceed a quota. A request that already counts
    /// as `previous` is rejected as a whole, because a retry needs all of them. Returns the status of each quota
    /// afterward; `None` for a key without quotas.
    pub async fn take(
        self: &Arc<Self>,
        key: &KeyRecord,
        requests: u64,
        previous: u64,
    ) -> Result<Option<QuotaStatuses>, Box<QuotaExceeded>> {
        let Some(limits) = Limits::from_key(key) else { return Ok(None) };
        let quota = self.quota(key.quota_id());
        let taken = quota.counter.lock().take(limits, requests, unix_time(), Instant::now());
        // Scheduled before any wait, because a handler is canceled if the client disconnects.
        self.schedule_write(&quota);
        let outcome = taken.await.expect("the counter decides every claim that is waited for");
        outcome.map(Some).map_err(|exceeded| {
            let mut counter = quota.counter.lock();
            counter.fits(limits, previous + requests, unix_time()).err().unwrap_or(exceeded)
        })
    }

    fn quota(&self, id: &str) -> Arc<Quota> {
        let mut quotas = self.quotas.lock();
        if let Some(known) = quotas.get(id) {
            return Arc::clone(known);
        }
        if quotas.len() >= MAX_IDLE_QUOTAS {
            quotas.retain(|_, quota| Arc::strong_count(quota) > 1 || quota.has_unwritten_counts());
        }
        let counter = Mutex::new(Counter::new());
        let quota = Arc::new(Quota { id: id.to_owned(), counter, ..Quota::default() });
        quotas.insert(id.to_owned(), Arc::clone(&quota));
        quota
    }

    /// Leaves writes to the extension, which calls [`Self::write_due`]. Tasks then only write for waiting requests.
    pub(crate) fn delegate_writes_to_extension(&self) {
        self.is_written_by_extension.store(true, Ordering::Relaxed);
    }

    /// Starts a task for the next write, unless a task is already scheduled for then or earlier.
    fn schedule_write(self: &Arc<Self>, quota: &Arc<Quota>) {
        let Some(due_at) = self.task_due_at(quota) else { return };
        let mut scheduled_at = quota.scheduled_at.lock();
        if scheduled_at.is_some_and(|scheduled_at| scheduled_at <= due_at) {
            return;
        }
        *scheduled_at = Some(due_at);
        let (quotas, quota) = (Arc::clone(self), Arc::clone(quota));
        tokio::spawn(async move {
            tokio::time::sleep_until(due_at.into()).await;
            // Unless an earlier write has replaced this one.
            if *quota.scheduled_at.lock() == Some(due_at) {
                quotas.write(&quota).await;
                *quota.scheduled_at.lock() = None;
                quotas.schedule_write(&quota);
            }
        });
    }

    /// The time of a task's next write; `None` if the extension writes, or nothing needs to be written.
    fn task_due_at(&self, quota: &Quota) -> Option<Instant> {
        let (counter, now) = (quota.counter.lock(), Instant::now());
        let is_left_to_extension =
            self.is_written_by_extension.load(Ordering::Relaxed) && !counter.has_waiting_claims();
        if is_left_to_extension { None } else { Some(counter.due_at(now)?.max(now)) }
    }

    pub async fn write_due(&self) {
        let now = Instant::now();
        let is_due = |quota: &Quota| quota.counter.lock().due_at(now).is_some_and(|due| due <= now);
        self.write_selected(is_due).await;
    }

    /// Writes all remaining counts before the process ends. Returns the number of quotas whose counts could not be
    /// written.
    pub async fn write_remaining(&self) -> usize {
        for _ in 0..FINAL_ATTEMPTS {
            if !self.write_selected(Quota::has_unwritten_counts).await {
                break;
            }
        }
        self.quotas.lock().values().filter(|quota| quota.has_unwritten_counts()).count()
    }

    /// Writes the counts of the selected quotas. Returns whether there were any.
    async fn write_selected(&self, is_selected: impl Fn(&Quota) -> bool) -> bool {
        let selected: Vec<Arc<Quota>> =
            self.quotas.lock().values().filter(|quota| is_selected(quota)).cloned().collect();
        join_all(selected.iter().map(|quota| self.write(quota))).await;
        !selected.is_empty()
    }

    /// Writes this container's requests for `quota`, and reads other containers' requests.
    async fn write(&self, quota: &Quota) {
        let _lock = quota.writing.lock().await;
        // A container that has just started or resumed reads first, then writes immediately if there are few others.
        for _ in 0..2 {
            let Some(call) = quota.counter.lock().start_call(unix_time(), Instant::now()) else {
                return;
            };
            let started = Instant::now();
            match self.call(&quota.id, &call).await {
                Ok(usage) => {
                    let mut counter = quota.counter.lock();
                    counter.record_response(&call, usage, unix_time(), started);
                    if counter.due_at(started).is_none_or(|due_at| due_at > started) {
                        return;
                    }
                }
                Err(error) => {
                    let now = Instant::now();
                    let times = quota.counter.lock().record_failure(unix_time(), now);
                    return self.log_failure(&error, times, now);
                }
            }
        }
    }

    async fn call(&self, quota_id: &str, call: &Call) -> Result<Usage, StoreError> {
        match call {
            Call::Read => self.store.usage(quota_id).await,
            Call::Write(write) => self.store.add_usage(quota_id, write, unix_time()).await,
        }
    }

    fn log_failure(&self, error: &StoreError, times: u32, now: Instant) {
        let error = with_causes(error);
        // Not a warning, because the next write includes these counts.
        tracing::debug!(error, times, "failed to write usage; retrying with the next write");
        let mut warned_at = self.warned_at.lock();
        if is_warning_due(times, *warned_at, now) {
            *warned_at = Some(now);
            tracing::warn!(error, "failed to write usage; containers enforce quotas separately");
        }
    }
}

/// The current Unix time in seconds.
fn unix_time() -> i64 {
    Timestamp::now().as_second()
}

fn is_warning_due(failures: u32, warned_at: Option<Instant>, now: Instant) -> bool {
    failures >= FAILURES_BEFORE_WARNING
        && warned_at.is_none_or(|warned_at| now.duration_since(warned_at) >= WARNING_INTERVAL)
}

#[cfg(test)]
mod tests;
