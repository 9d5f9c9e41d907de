//! Quotas: how many requests a key may make in a minute and in a day.
//!
//! A container counts requests in memory, and writes its count from time to time to a DynamoDB item that has
//! the counts of all containers. In a Lambda function, an extension writes after the response; elsewhere, a task
//! writes beside the requests. A request waits for a write only beyond the allowance of its container.
//! `docs/decisions/0006-quotas.md` explains this design.

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

/// The number of quotas in memory beyond which those that have nothing to write are dropped.
const MANY_QUOTAS: usize = 10_000;
/// An operator is warned once writes have failed for this long and this often, and no more often
/// than this long.
const FAILING_FOR: Duration = Duration::from_secs(120);
const FAILED_TIMES: u32 = 5;
/// Attempts to write the last counts before the process ends without them.
const LAST_ATTEMPTS: u32 = 3;

/// The quotas that this container has counted requests for.
pub struct Quotas {
    store: Store,
    /// By the id of the quota.
    quotas: Mutex<HashMap<String, Arc<Quota>>>,
    is_written_by_extension: AtomicBool,
    warned_at: Mutex<Option<Instant>>,
}

/// One quota in this container.
struct Quota {
    id: String,
    counter: Mutex<Counter>,
    /// Locked during a write, so that there is one at a time. The next write includes the requests
    /// that are counted meanwhile.
    writing: tokio::sync::Mutex<()>,
    /// `true` if a task writes the counts when they are due.
    has_writer: AtomicBool,
    /// Tells the task that a write is due earlier than it was.
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
    /// Quotas whose counts are written to `store`.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            quotas: Mutex::default(),
            is_written_by_extension: AtomicBool::new(false),
            warned_at: Mutex::default(),
        }
    }

    /// Counts so many requests of `key` at once: all, or none if they do not fit into each of its
    /// quotas. Returns the status of each quota afterwards; `None` for a key without quotas.
    pub async fn take(
        self: &Arc<Self>,
        key: &KeyRecord,
        requests: u64,
    ) -> Result<Option<QuotaStatuses>, QuotaExceeded> {
        let Some(limits) = Limits::from_key(key) else { return Ok(None) };
        let quota = self.quota(key.quota_id());
        let taken = quota.counter.lock().take(limits, requests, unix_time(), Instant::now());
        // This comes before any wait, since a handler is cancelled if the client closes the connection.
        self.write_soon(&quota);
        let outcome = match taken {
            Taken::Now(outcome) => outcome,
            // The sender is dropped without an outcome only together with the counter.
            Taken::AfterWrite(told) => told.await.unwrap_or_else(|_| {
                quota.counter.lock().take_unconfirmed(limits, requests, unix_time())
            }),
        };
        outcome.map(Some)
    }

    /// Returns `true` if one more request of `key` would be admitted. Nothing is counted.
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

    /// Starts tasks from now on only for requests that wait. The caller writes the counts by calling
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

    /// When the next write of a task is due; `None` if it is left to the extension, or there is nothing
    /// to write.
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
                // A request that was counted just before did not start another task.
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

    /// Writes the counts of each quota that are due.
    pub async fn write_due(self: &Arc<Self>) {
        let now = Instant::now();
        let is_due = |quota: &Quota| quota.counter.lock().due_at(now).is_some_and(|due| due <= now);
        self.write_each(is_due).await;
    }

    /// Writes all counts that are not written yet, before the process ends. Gives the number of quotas
    /// whose counts are lost, since the database took them at no attempt.
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

    /// Writes the requests that this container has counted for `quota`, and reads the counts of the
    /// others.
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

    /// Writes the tallies of a container, and then reads the hours whose tallies the answers do not have.
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
        // A single failure is not worth a warning, since the next write includes its count.
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

/// The time in seconds since 1970.
fn unix_time() -> i64 {
    Timestamp::now().as_second()
}

/// Returns `true` if an operator should be warned at `now` that the usage of a quota is not written.
fn is_warning_due(failures: Failures, warned_at: Option<Instant>, now: Instant) -> bool {
    failures.times >= FAILED_TIMES
        && now.duration_since(failures.since) >= FAILING_FOR
        && warned_at.is_none_or(|warned_at| now.duration_since(warned_at) >= FAILING_FOR)
}

#[cfg(test)]
mod tests;
