//! How often a key may ask: quotas for each minute and each day.
//!
//! A container counts in memory and now and then writes its own count beside those of the others;
//! the answer tells it everybody's. No request waits for that: in a Lambda an extension writes after the
//! response, elsewhere a task beside it. So a key can exceed its quota by what the
//! containers have not yet told each other. A key without a quota is not counted at all.
//! `docs/decisions/0006-quotas.md` tells why it is built so.

mod counter;
mod window;

use logging::with_causes;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use tokio::{sync::Notify, task::JoinSet};

use self::counter::{Counter, Limits};
use store::{KeyRecord, Store, StoreError};

pub use window::{LimitType, QuotaStatus};

/// Quotas in memory beyond which those that have nothing to write are dropped.
const MANY_QUOTAS: usize = 10_000;
/// Writes may fail this long and this often before an operator is told, and told again.
const SILENT_FOR: Duration = Duration::from_secs(120);
const SILENT_TIMES: u32 = 5;
/// How often the last counts are written before the process gives up.
const LAST_TRIES: u32 = 3;

/// Where a key stands in each quota it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatuses {
    pub minute: Option<QuotaStatus>,
    pub daily: Option<QuotaStatus>,
}

impl QuotaStatuses {
    /// The exhausted quota that lasts the longest.
    pub fn exhausted(&self) -> Option<QuotaStatus> {
        let exhausted = self.each().filter(|status| status.remaining == 0);
        exhausted.max_by_key(|status| status.reset)
    }

    fn each(&self) -> impl Iterator<Item = QuotaStatus> {
        self.minute.into_iter().chain(self.daily)
    }

    fn least_remaining(&self) -> u64 {
        self.each().map(|status| status.remaining).min().unwrap_or_default()
    }

    /// Sets `X-RateLimit-*` for the day and `X-RateLimit-Minute-*` for the minute.
    pub fn set_rate_limit_headers(&self, headers: &mut HeaderMap) {
        const DAILY: [&str; 3] =
            ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
        const MINUTE: [&str; 3] = [
            "x-ratelimit-minute-limit",
            "x-ratelimit-minute-remaining",
            "x-ratelimit-minute-reset",
        ];
        for (names, status) in [(DAILY, self.daily), (MINUTE, self.minute)] {
            let Some(QuotaStatus { limit, remaining, reset, .. }) = status else { continue };
            let values = [limit.into(), remaining.into(), HeaderValue::from(reset)];
            for (name, value) in names.into_iter().zip(values) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

impl QuotaStatus {
    /// Sets `Retry-After` to the seconds until the next request is admitted.
    pub fn set_retry_after(&self, headers: &mut HeaderMap) {
        let left = self.reset - Timestamp::now().as_second();
        headers.insert(RETRY_AFTER, HeaderValue::from(left.max(1)));
    }
}

/// One quota in this container.
struct Quota {
    id: String,
    counter: Mutex<Counter>,
    /// Held while a write is under way: one at a time, what is counted meanwhile goes with the next.
    flight: tokio::sync::Mutex<()>,
    /// Whether a task sees to it that the counts are written.
    is_kept: AtomicBool,
    is_due: Notify,
}

impl Quota {
    fn new(id: String) -> Self {
        Self {
            id,
            counter: Mutex::new(Counter::new()),
            flight: tokio::sync::Mutex::default(),
            is_kept: AtomicBool::new(false),
            is_due: Notify::new(),
        }
    }

    fn counter(&self) -> MutexGuard<'_, Counter> {
        self.counter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_due(&self) -> bool {
        let now = Instant::now();
        self.counter().due_at(now).is_some_and(|due| due <= now)
    }
}

/// The quotas this container has counted for.
pub struct Quotas {
    store: Store,
    quotas: Mutex<HashMap<String, Arc<Quota>>>,
    is_written_by_extension: AtomicBool,
    warned_at: Mutex<Option<Instant>>,
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

    /// Counts a request of `key`, unless one of its quotas is exhausted. Gives where the key stands;
    /// `None` for a key without quotas.
    ///
    /// # Errors
    /// Returns where the key stands if one of its quotas is exhausted.
    pub fn take(
        &self,
        key: &KeyRecord,
        now: Timestamp,
    ) -> Result<Option<QuotaStatuses>, QuotaStatuses> {
        let Some(limits) = Limits::of(key) else { return Ok(None) };
        let quota = self.quota(key.quota_id());
        quota.counter().take(limits, now.as_second()).map(Some)
    }

    fn quotas(&self) -> MutexGuard<'_, HashMap<String, Arc<Quota>>> {
        self.quotas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn quota(&self, id: &str) -> Arc<Quota> {
        let mut quotas = self.quotas();
        if let Some(known) = quotas.get(id) {
            return Arc::clone(known);
        }
        if quotas.len() >= MANY_QUOTAS {
            quotas
                .retain(|_, quota| Arc::strong_count(quota) > 1 || quota.counter().has_unwritten());
        }
        let quota = Arc::new(Quota::new(id.to_owned()));
        quotas.insert(id.to_owned(), Arc::clone(&quota));
        quota
    }

    /// Leaves it to the caller to have the counts written with [`Self::write_due`].
    pub(crate) fn leave_to_extension(&self) {
        self.is_written_by_extension.store(true, Ordering::Relaxed);
    }

    /// Sees to it that what was counted of `key` is written when it is due, by a task that ends when
    /// nothing is left. Does nothing where an extension does that.
    pub fn write_soon(self: &Arc<Self>, key: &KeyRecord) {
        if self.is_written_by_extension.load(Ordering::Relaxed) || Limits::of(key).is_none() {
            return;
        }
        let quota = self.quota(key.quota_id());
        if !quota.is_kept.swap(true, Ordering::SeqCst) {
            tokio::spawn(Arc::clone(self).keep(quota));
        } else if quota.is_due() {
            quota.is_due.notify_one();
        }
    }

    async fn keep(self: Arc<Self>, quota: Arc<Quota>) {
        loop {
            let due_at = quota.counter().due_at(Instant::now());
            let Some(due_at) = due_at else {
                quota.is_kept.store(false, Ordering::SeqCst);
                // A request that was counted since found the task still there.
                if !quota.counter().has_unwritten() || quota.is_kept.swap(true, Ordering::SeqCst) {
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

    /// Writes what is due, each quota once.
    pub async fn write_due(self: &Arc<Self>) {
        let due: Vec<_> = self.quotas().values().filter(|quota| quota.is_due()).cloned().collect();
        self.write_all(due).await;
    }

    /// Writes whatever is not written yet, before the process ends.
    pub async fn write_rest(self: &Arc<Self>) {
        for _ in 0..LAST_TRIES {
            let has_unwritten = |quota: &&Arc<Quota>| quota.counter().has_unwritten();
            let unwritten: Vec<_> = self.quotas().values().filter(has_unwritten).cloned().collect();
            if unwritten.is_empty() {
                return;
            }
            self.write_all(unwritten).await;
        }
    }

    async fn write_all(self: &Arc<Self>, quotas: Vec<Arc<Quota>>) {
        let mut writes = JoinSet::new();
        for quota in quotas {
            let this = Arc::clone(self);
            writes.spawn(async move { this.write(&quota).await });
        }
        writes.join_all().await;
    }

    /// Writes what this container has counted of `quota`, and learns what the others have.
    ///
    /// A write that is not answered is no fault worth a line: its count goes with the next one.
    async fn write(&self, quota: &Quota) {
        let _one_at_a_time = quota.flight.lock().await;
        let now = Timestamp::now().as_second();
        let (flush, container) = {
            let mut counter = quota.counter();
            (counter.flush(now, Instant::now()), counter.container().to_owned())
        };
        let write = async {
            for (hour, tally) in &flush.tallies {
                let usage = self.store.put_tally(&quota.id, *hour, &container, tally).await?;
                quota.counter().written(*hour, tally, usage);
            }
            Ok::<_, StoreError>(())
        };
        let read = async {
            if !flush.earlier_hours.is_empty() {
                let usage = self.store.usage(&quota.id, &flush.earlier_hours).await?;
                quota.counter().earlier_known(now, usage);
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
            let (times, lasted) = quota.counter().failed(Instant::now());
            tracing::debug!(
                error = with_causes(&error),
                times,
                "usage is written with the next write"
            );
            if times >= SILENT_TIMES && lasted >= SILENT_FOR {
                self.warn(&error);
            }
        }
    }

    /// Tells an operator, once in a while, that each container counts by itself.
    fn warn(&self, error: &StoreError) {
        let mut warned_at = self.warned_at.lock().unwrap_or_else(PoisonError::into_inner);
        if warned_at.is_none_or(|warned_at| warned_at.elapsed() >= SILENT_FOR) {
            *warned_at = Some(Instant::now());
            tracing::warn!(
                error = with_causes(&error),
                "usage has not been written for minutes; each container counts by itself"
            );
        }
    }
}
