//! Quotas: how many requests a key may make in a minute and in a day.
//!
//! A container counts requests in memory. From time to time it writes its own count to a DynamoDB
//! item that has the counts of all containers, and the answer tells it the counts of the others. No
//! request waits for this: in a Lambda function, an extension writes after the response; elsewhere,
//! a task writes beside the requests. So a key can exceed its quota by the requests that the
//! containers have not yet written. Requests of a key without a quota are not counted at all.
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

use jiff::Timestamp;
use logging::with_causes;
use parking_lot::Mutex;
use store::{KeyRecord, Store, StoreError, Table};
use tokio::{sync::Notify, task::JoinSet};

use self::counter::{Counter, Failures, Limits};

pub use statuses::{DAILY_HEADERS, MINUTE_HEADERS, QuotaExceeded, QuotaStatuses};
pub use window::{LimitType, QuotaStatus};

/// The number of quotas in memory beyond which those that have nothing to write are dropped.
const MANY_QUOTAS: usize = 10_000;
/// An operator is warned once writes have failed for this long and this often, and no more often
/// than this long.
const FAILING_FOR: Duration = Duration::from_secs(120);
const FAILED_TIMES: u32 = 5;
/// How often the last counts are written before the process ends without them.
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
    /// Whether a task writes the counts when they are due.
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

    fn is_due(&self, now: Instant) -> bool {
        self.counter.lock().due_at(now).is_some_and(|due| due <= now)
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
    ///
    /// # Errors
    /// Returns an error if they do not fit.
    pub fn take(
        &self,
        key: &KeyRecord,
        requests: u64,
        now: Timestamp,
    ) -> Result<Option<QuotaStatuses>, QuotaExceeded> {
        let Some(limits) = Limits::of(key) else { return Ok(None) };
        let quota = self.quota(key.quota_id());
        quota.counter.lock().take(limits, requests, now.as_second()).map(Some)
    }

    /// Whether one more request of `key` would be admitted. Nothing is counted.
    ///
    /// # Errors
    /// Returns an error if one of the quotas is exhausted.
    pub fn check(&self, key: &KeyRecord, now: Timestamp) -> Result<(), QuotaExceeded> {
        let Some(limits) = Limits::of(key) else { return Ok(()) };
        let quota = self.quota(key.quota_id());
        quota.counter.lock().check(limits, 1, now.as_second())
    }

    /// Reads what the other containers have counted for `key`, before many of its requests are admitted
    /// at once. If that fails, this container goes on with what it knows.
    pub(crate) async fn learn(&self, key: &KeyRecord) {
        let Some(limits) = Limits::of(key) else { return };
        let quota = self.quota(key.quota_id());
        let now = Timestamp::now().as_second();
        let hours = quota.counter.lock().hours_to_learn(limits, now);
        let read = self.store.usage(&quota.id, &hours);
        match self.store.briefly(Table::Usage, read).await {
            Ok(usage) => quota.counter.lock().record_earlier_hours(now, usage),
            Err(error) => tracing::debug!(
                error = with_causes(&error),
                "the counts of other containers are read with the next write"
            ),
        }
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

    /// Starts no tasks from now on. The caller writes the counts by calling [`Self::write_due`].
    pub(crate) fn leave_to_extension(&self) {
        self.is_written_by_extension.store(true, Ordering::Relaxed);
    }

    /// Makes sure that the requests of `key` are written when they are due, by a task that ends
    /// when nothing is left to write. Does nothing if an extension writes them.
    pub fn write_soon(self: &Arc<Self>, key: &KeyRecord) {
        if self.is_written_by_extension.load(Ordering::Relaxed) || Limits::of(key).is_none() {
            return;
        }
        let quota = self.quota(key.quota_id());
        if !quota.has_writer.swap(true, Ordering::SeqCst) {
            tokio::spawn(Arc::clone(self).write_when_due(quota));
        } else if quota.is_due(Instant::now()) {
            quota.is_due.notify_one();
        }
    }

    async fn write_when_due(self: Arc<Self>, quota: Arc<Quota>) {
        loop {
            // The lock must not be held during the sleep below, so its value gets a name.
            let due_at = quota.counter.lock().due_at(Instant::now());
            let Some(due_at) = due_at else {
                quota.has_writer.store(false, Ordering::SeqCst);
                // A request that was counted just before did not start another task.
                if !quota.has_unwritten() || quota.has_writer.swap(true, Ordering::SeqCst) {
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
        self.write_each(|quota| quota.is_due(now)).await;
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
    ///
    /// A single write that fails is not worth a warning, since the next one includes its count.
    async fn write(&self, quota: &Quota) {
        let _one_at_a_time = quota.writing.lock().await;
        let now = Timestamp::now().as_second();
        let (flush, container) = {
            let mut counter = quota.counter.lock();
            (counter.flush(now, Instant::now()), counter.container().to_owned())
        };
        let write = async {
            for (hour, tally) in &flush.tallies {
                let usage = self.store.put_tally(&quota.id, *hour, &container, tally).await?;
                quota.counter.lock().record_written(*hour, tally, usage);
            }
            Ok::<_, StoreError>(())
        };
        let read = async {
            if !flush.earlier_hours.is_empty() {
                let usage = self.store.usage(&quota.id, &flush.earlier_hours).await?;
                quota.counter.lock().record_earlier_hours(now, usage);
            }
            Ok::<_, StoreError>(())
        };
        let (written, read) = tokio::join!(write, read);
        if let Err(error) = read {
            tracing::debug!(
                error = with_causes(&error),
                "the usage of earlier hours is read with the next write"
            );
        }
        if let Err(error) = written {
            let now = Instant::now();
            let failures = quota.counter.lock().record_failure(now);
            tracing::debug!(
                error = with_causes(&error),
                times = failures.times,
                "usage is written with the next write"
            );
            let mut warned_at = self.warned_at.lock();
            if is_warning_due(failures, *warned_at, now) {
                *warned_at = Some(now);
                tracing::warn!(
                    error = with_causes(&error),
                    "usage has not been written for minutes; each container counts by itself"
                );
            }
        }
    }
}

/// Whether an operator should be warned at `now` that the usage of a quota is not written.
fn is_warning_due(failures: Failures, warned_at: Option<Instant>, now: Instant) -> bool {
    failures.times >= FAILED_TIMES
        && now.duration_since(failures.since) >= FAILING_FOR
        && warned_at.is_none_or(|warned_at| now.duration_since(warned_at) >= FAILING_FOR)
}

#[cfg(test)]
mod tests;
