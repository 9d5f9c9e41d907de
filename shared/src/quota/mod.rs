//! Quotas: how many requests a key can make per minute and per day.
//!
//! A container counts requests in memory, and periodically writes its count to a DynamoDB item shared by all
//! containers. In a Lambda function, an extension writes after the response; elsewhere, a background task does.
//! A request waits for a write only beyond its container's allowance. `docs/decisions/0006-quotas.md` explains
//! this design.

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

use futures_util::future::try_join_all;
use jiff::Timestamp;
use logging::with_causes;
use parking_lot::Mutex;
use store::{HourOfUsage, KeyRecord, Store, StoreError};
use tokio::{sync::Notify, task::JoinSet};

use self::{
    counter::{Counter, Failures, Flush, Taken},
    statuses::Limits,
};

pub use statuses::{DAILY_HEADERS, MINUTE_HEADERS, QuotaExceeded, QuotaStatuses};
pub use window::{LimitType, QuotaStatus};

/// With more quotas than this in memory, those with nothing to write are dropped.
const MANY_QUOTAS: usize = 10_000;
/// An operator is warned once writes have failed for this long and this often, and at most once in this time.
const LASTING_FAILURE: Duration = Duration::from_secs(120);
const FAILED_TIMES: u32 = 5;
/// Attempts to write the final counts before the process ends without them.
const LAST_ATTEMPTS: u32 = 3;

/// The quotas that this container has counted requests for.
pub struct Quotas {
    store: Store,
    /// By quota id.
    quotas: Mutex<HashMap<String, Arc<Quota>>>,
    is_written_by_extension: AtomicBool,
    warned_at: Mutex<Option<Instant>>,
}

/// One quota in this container.
struct Quota {
    id: String,
    counter: Mutex<Counter>,
    /// Locked during a write, so that writes do not overlap. The next write includes the requests counted
    /// meanwhile.
    writing: tokio::sync::Mutex<()>,
    /// `true` if a task is writing the counts.
    has_writer: AtomicBool,
    /// Notifies the task that a write is due earlier.
    is_due: Notify,
}

impl Quota {
    fn new(id: String) -> Self {
        Self {
            id,
            counter: Mutex::new(Counter::new()),
            writing: tokio::sync::Mutex::default(),
            has_writer: AtomicBool::new(false),
            is_due: Notify::new(),
        }
    }

    fn has_unwritten(&self) -> bool {
        self.counter.lock().has_unwritten()
    }
}

impl Quotas {
    /// Creates quotas that write their counts to `store`.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            quotas: Mutex::default(),
            is_written_by_extension: AtomicBool::new(false),
            warned_at: Mutex::default(),
        }
    }

    /// Counts `requests` against `key`: all, or none if they exceed a quota. Returns the status of each quota
    /// afterwards; `None` for a key without quotas.
    pub async fn take(
        self: &Arc<Self>,
        key: &KeyRecord,
        requests: u64,
    ) -> Result<Option<QuotaStatuses>, QuotaExceeded> {
        let Some(limits) = Limits::from_key(key) else { return Ok(None) };
        let quota = self.quota(key.quota_id());
        let taken = quota.counter.lock().take(limits, requests, unix_time(), Instant::now());
        // This precedes any wait, since a handler is cancelled if the client closes the connection.
        self.write_soon(&quota);
        let outcome = match taken {
            Taken::Now(outcome) => outcome,
            // The sender is dropped without an outcome only along with the counter.
            Taken::AfterWrite(told) => told.await.unwrap_or_else(|_| {
                quota.counter.lock().take_unconfirmed(limits, requests, unix_time())
            }),
        };
        outcome.map(Some)
    }

    /// Returns `true` if one more request with `key` would be admitted. Counts nothing.
    pub fn check(self: &Arc<Self>, key: &KeyRecord) -> Result<(), QuotaExceeded> {
        let Some(limits) = Limits::from_key(key) else { return Ok(()) };
        let quota = self.quota(key.quota_id());
        let checked = quota.counter.lock().check(limits, 1, unix_time());
        self.write_soon(&quota);
        checked
    }

    fn quota(&self, id: &str) -> Arc<Quota> {
        let mut quotas = self.quotas.lock();
        if let Some(known) = quotas.get(id) {
            return Arc::clone(known);
        }
        if quotas.len() >= MANY_QUOTAS {
            quotas.retain(|_, quota| Arc::strong_count(quota) > 1 || quota.has_unwritten());
        }
        let quota = Arc::new(Quota::new(id.to_owned()));
        quotas.insert(id.to_owned(), Arc::clone(&quota));
        quota
    }

    /// From now on, starts tasks only for waiting requests. The caller writes the counts by calling
    /// [`Self::write_due`].
    pub(crate) fn leave_to_extension(&self) {
        self.is_written_by_extension.store(true, Ordering::Relaxed);
    }

    fn write_soon(self: &Arc<Self>, quota: &Arc<Quota>) {
        let Some(due_at) = self.task_due_at(quota) else { return };
        if !quota.has_writer.swap(true, Ordering::SeqCst) {
            tokio::spawn(Arc::clone(self).write_when_due(Arc::clone(quota)));
        } else if due_at <= Instant::now() {
            quota.is_due.notify_one();
        }
    }

    /// The time of a task's next write; `None` if the extension writes, or there is nothing to write.
    fn task_due_at(&self, quota: &Quota) -> Option<Instant> {
        let counter = quota.counter.lock();
        let is_left =
            self.is_written_by_extension.load(Ordering::Relaxed) && !counter.has_waiting();
        if is_left { None } else { counter.due_at(Instant::now()) }
    }

    async fn write_when_due(self: Arc<Self>, quota: Arc<Quota>) {
        loop {
            let Some(due_at) = self.task_due_at(&quota) else {
                quota.has_writer.store(false, Ordering::SeqCst);
                // A request counted just before this did not start another task.
                if self.task_due_at(&quota).is_none()
                    || quota.has_writer.swap(true, Ordering::SeqCst)
                {
                    return;
                }
                continue;
            };
            tokio::select! {
                () = tokio::time::sleep_until(due_at.into()) => (),
                () = quota.is_due.notified() => (),
            }
            self.write(&quota).await;
        }
    }

    /// Writes the counts of every quota that is due.
    pub async fn write_due(self: &Arc<Self>) {
        let now = Instant::now();
        let is_due = |quota: &Quota| quota.counter.lock().due_at(now).is_some_and(|due| due <= now);
        self.write_each(is_due).await;
    }

    /// Writes all unwritten counts before the process ends. Returns the number of quotas whose counts are lost
    /// because every attempt failed.
    pub async fn write_rest(self: &Arc<Self>) -> usize {
        for _ in 0..LAST_ATTEMPTS {
            if !self.write_each(Quota::has_unwritten).await {
                break;
            }
        }
        self.quotas.lock().values().filter(|quota| quota.has_unwritten()).count()
    }

    /// Writes the counts of each quota that `is_wanted`; returns whether there was one.
    async fn write_each(self: &Arc<Self>, is_wanted: impl Fn(&Quota) -> bool) -> bool {
        let wanted: Vec<Arc<Quota>> =
            self.quotas.lock().values().filter(|quota| is_wanted(quota)).cloned().collect();
        let mut writes = JoinSet::new();
        for quota in &wanted {
            let (quotas, quota) = (Arc::clone(self), Arc::clone(quota));
            writes.spawn(async move { quotas.write(&quota).await });
        }
        writes.join_all().await;
        !wanted.is_empty()
    }

    /// Writes this container's count for `quota`, and reads the counts of the others.
    async fn write(&self, quota: &Quota) {
        let _one_at_a_time = quota.writing.lock().await;
        let (flush, container) = {
            let mut counter = quota.counter.lock();
            let Some(flush) = counter.flush(unix_time(), Instant::now()) else { return };
            (flush, counter.container().to_owned())
        };
        match self.exchange(&quota.id, &container, &flush).await {
            Ok(usage) => quota.counter.lock().record_confirmed(&flush, usage, unix_time()),
            Err(error) => {
                let now = Instant::now();
                let failures = quota.counter.lock().record_failure(unix_time(), now);
                self.log_failure(&error, failures, now);
            }
        }
    }

    /// Writes a container's tallies, then reads the hours that the responses did not include.
    async fn exchange(
        &self,
        quota_id: &str,
        container: &str,
        flush: &Flush,
    ) -> Result<Vec<(i64, HourOfUsage)>, StoreError> {
        let writes = flush.tallies.iter().map(|(hour, tally)| async {
            Ok((*hour, self.store.put_tally(quota_id, *hour, container, tally).await?))
        });
        let mut usage = try_join_all(writes).await?;
        if !flush.hours.is_empty() {
            usage.extend(self.store.usage(quota_id, &flush.hours).await?);
        }
        Ok(usage)
    }

    fn log_failure(&self, error: &StoreError, failures: Failures, now: Instant) {
        // A single failure does not deserve a warning, since the next write includes its count.
        tracing::debug!(
            error = with_causes(error),
            times = failures.times,
            "usage is written with the next write"
        );
        let mut warned_at = self.warned_at.lock();
        if is_warning_due(failures, *warned_at, now) {
            *warned_at = Some(now);
            tracing::warn!(
                error = with_causes(error),
                "usage has not been written for minutes; each container counts by itself"
            );
        }
    }
}

/// The current time in seconds since 1970.
fn unix_time() -> i64 {
    Timestamp::now().as_second()
}

/// Returns `true` if it is time, at `now`, to warn an operator that a quota's usage is not being written.
fn is_warning_due(failures: Failures, warned_at: Option<Instant>, now: Instant) -> bool {
    failures.times >= FAILED_TIMES
        && now.duration_since(failures.since) >= LASTING_FAILURE
        && warned_at.is_none_or(|warned_at| now.duration_since(warned_at) >= LASTING_FAILURE)
}

#[cfg(test)]
mod tests;
