//! How often a key may ask: quotas by the minute and by the day.
//!
//! Each container counts by itself and now and then adds its count to one counter in DynamoDB, which
//! answers with everybody's: after the first request of a window, after a tenth of what is left, and
//! after a second or so. No request waits for that. So a key can exceed its quota by what all
//! containers let through in about a second; a key without a quota is not counted at all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderName, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::store::{KeyRecord, Store};

/// Windows in memory beyond which those that have ended are dropped.
const MANY_WINDOWS: usize = 10_000;
/// A count is added at the latest when it is a tenth of what is left of the quota.
const PARTS: u64 = 10;
const MOST_AT_ONCE: u64 = 100;

/// Which quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitType {
    PerMinute,
    PerDay,
}

impl LimitType {
    fn seconds(self) -> i64 {
        match self {
            Self::PerMinute => 60,
            Self::PerDay => 24 * 60 * 60,
        }
    }

    /// How old a count may become before it is added.
    fn patience(self) -> Duration {
        match self {
            Self::PerMinute => Duration::from_millis(500),
            Self::PerDay => Duration::from_secs(2),
        }
    }

    fn letter(self) -> char {
        match self {
            Self::PerMinute => 'm',
            Self::PerDay => 'd',
        }
    }
}

/// Where a key stands in one of its quotas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct Standing {
    pub limit_type: LimitType,
    /// Requests the key may make in a minute or a day.
    pub limit: u64,
    /// Requests left of it.
    pub remaining: u64,
    /// When it begins anew.
    #[schema(value_type = String, format = DateTime)]
    pub reset: Timestamp,
}

impl Standing {
    /// Sets `X-RateLimit-Limit`, `-Remaining` and `-Reset` (seconds since 1970).
    pub fn describe(&self, headers: &mut HeaderMap) {
        let mut set = |name, value: u64| {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        };
        set("x-ratelimit-limit", self.limit);
        set("x-ratelimit-remaining", self.remaining);
        set("x-ratelimit-reset", self.reset.as_second().unsigned_abs());
    }

    /// Sets `Retry-After` to when the quota begins anew.
    pub fn delay(&self, headers: &mut HeaderMap) {
        let left = self.reset.as_second() - Timestamp::now().as_second();
        headers.insert(RETRY_AFTER, HeaderValue::from(left.max(1)));
    }
}

type WindowId = (String, LimitType);

/// One quota of one key in the running minute or day.
#[derive(Debug)]
struct Window {
    /// In seconds since 1970.
    start: i64,
    /// Everybody's count, as DynamoDB told last.
    known: u64,
    /// Being added.
    sent: u64,
    /// Counted here and not yet sent.
    pending: u64,
    sent_at: Option<Instant>,
}

impl Window {
    fn at(start: i64) -> Self {
        Self { start, known: 0, sent: 0, pending: 0, sent_at: None }
    }

    fn used(&self) -> u64 {
        self.known + self.sent + self.pending
    }

    fn is_due(&self, limit_type: LimitType, limit: u64) -> bool {
        let part = (limit.saturating_sub(self.used()) / PARTS).clamp(1, MOST_AT_ONCE);
        let waited = self.sent_at.is_none_or(|sent| sent.elapsed() > limit_type.patience());
        self.sent == 0 && (waited || self.pending >= part)
    }
}

/// The running windows of this container.
pub struct Quotas {
    store: Store,
    windows: Arc<Mutex<HashMap<WindowId, Window>>>,
}

impl Quotas {
    pub fn new(store: Store) -> Self {
        Self { store, windows: Arc::default() }
    }

    /// Counts a request of `key`, unless one of its quotas is used up. Gives the quota of which the
    /// least is left; `None` for a key without.
    ///
    /// # Errors
    /// The quota that is used up.
    pub fn take(&self, key: &KeyRecord, now: Timestamp) -> Result<Option<Standing>, Standing> {
        let quotas = [(LimitType::PerMinute, key.per_minute), (LimitType::PerDay, key.per_day)];
        let quotas = quotas.map(|(limit_type, limit)| Some((limit_type, u64::from(limit?))));
        let quotas: Vec<_> = quotas.into_iter().flatten().collect();
        if quotas.is_empty() {
            return Ok(None);
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() > MANY_WINDOWS {
            windows.retain(|(_, limit_type), window| window.start == start(*limit_type, now));
        }
        let mut standings = Vec::new();
        for &(limit_type, limit) in &quotas {
            let begin = start(limit_type, now);
            let id = (key.key_hash.clone(), limit_type);
            let window = windows.entry(id).or_insert_with(|| Window::at(begin));
            if window.start != begin {
                *window = Window::at(begin);
            }
            let reset = Timestamp::from_second(begin + limit_type.seconds()).unwrap_or(now);
            let remaining = limit.saturating_sub(window.used());
            standings.push(Standing { limit_type, limit, remaining, reset });
        }
        if let Some(exceeded) = standings.iter().find(|standing| standing.remaining == 0) {
            return Err(*exceeded);
        }
        for &(limit_type, limit) in &quotas {
            let id = (key.key_hash.clone(), limit_type);
            let Some(window) = windows.get_mut(&id) else { continue };
            window.pending += 1;
            if window.is_due(limit_type, limit) {
                (window.sent, window.pending) = (window.pending, 0);
                window.sent_at = Some(Instant::now());
                self.add(id, window.start, window.sent);
            }
        }
        let least = standings.into_iter().min_by_key(|standing| standing.remaining);
        Ok(least.map(|standing| Standing { remaining: standing.remaining - 1, ..standing }))
    }

    /// Adds a count to everybody's beside the request.
    fn add(&self, id: WindowId, start: i64, count: u64) {
        let (store, windows) = (self.store.clone(), Arc::clone(&self.windows));
        tokio::spawn(async move {
            let (key_hash, limit_type) = &id;
            let counter = format!("{key_hash}#{}#{start}", limit_type.letter());
            let ends = start + 2 * limit_type.seconds();
            let total = store.count(&counter, count, ends).await;
            let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(window) = windows.get_mut(&id).filter(|window| window.start == start) else {
                return;
            };
            window.sent = 0;
            match total {
                Ok(total) => window.known = total,
                Err(error) => {
                    tracing::error!(%error, "requests are counted in this container alone");
                    window.pending += count;
                }
            }
        });
    }
}

/// When the window that `now` is in began.
fn start(limit_type: LimitType, now: Timestamp) -> i64 {
    now.as_second() - now.as_second().rem_euclid(limit_type.seconds())
}
