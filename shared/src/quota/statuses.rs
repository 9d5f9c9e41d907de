//! The quotas of a key, their statuses, and the headers that report them.

use axum::http::{HeaderMap, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use store::KeyRecord;

use super::window::{LimitType, QuotaStatus};

/// The daily quota headers: limit, remaining requests and reset time.
pub const DAILY_HEADERS: [&str; 3] =
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
/// The per-minute quota headers, in the same order.
pub const MINUTE_HEADERS: [&str; 3] =
    ["X-RateLimit-Minute-Limit", "X-RateLimit-Minute-Remaining", "X-RateLimit-Minute-Reset"];

/// The quotas of a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub per_minute: Option<u64>,
    pub per_day: Option<u64>,
}

impl Limits {
    /// The quotas of `key`; `None` if it has none.
    pub fn from_key(key: &KeyRecord) -> Option<Self> {
        let (per_minute, per_day) = (key.per_minute.map(u64::from), key.per_day.map(u64::from));
        let has_one = per_minute.is_some() || per_day.is_some();
        has_one.then_some(Self { per_minute, per_day })
    }
}

/// The status of each quota of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatuses {
    pub minute: Option<QuotaStatus>,
    pub daily: Option<QuotaStatus>,
}

impl QuotaStatuses {
    /// The quota that these requests exceed: one that they can never fit into, or else the one that resets
    /// last. `None` if they fit into each.
    pub fn too_small_for(&self, requests: u64) -> Option<QuotaStatus> {
        let too_small = self.iter().filter(|status| status.remaining < requests);
        too_small.max_by_key(|status| (status.limit < requests, status.reset))
    }

    /// The requests that can still be made before a quota is exhausted.
    pub fn least_remaining(&self) -> u64 {
        self.iter().map(|status| status.remaining).min().unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = QuotaStatus> {
        self.minute.into_iter().chain(self.daily)
    }

    /// Sets `X-RateLimit-*` for the daily quota and `X-RateLimit-Minute-*` for the per-minute quota.
    pub fn set_rate_limit_headers(&self, headers: &mut HeaderMap) {
        for (names, status) in [(DAILY_HEADERS, self.daily), (MINUTE_HEADERS, self.minute)] {
            let Some(QuotaStatus { limit, remaining, reset, .. }) = status else { continue };
            let values = [limit.into(), remaining.into(), HeaderValue::from(reset)];
            for (name, value) in names.into_iter().zip(values) {
                headers.insert(name, value);
            }
        }
    }
}

/// A refusal: a quota of the key is exhausted, or has too few requests left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// The exhausted quota; the one that resets last if there are several.
    pub exhausted: QuotaStatus,
    /// The number of requests that the refused one counts as.
    pub requests: u64,
    /// The status of each quota of the key.
    pub statuses: QuotaStatuses,
}

impl QuotaExceeded {
    /// Sets `X-RateLimit-*`, and `Retry-After` to the seconds until the request is admitted. A batch that
    /// exceeds the whole quota gets no `Retry-After`: it is never admitted, and its client would retry forever.
    pub fn set_headers(&self, headers: &mut HeaderMap) {
        self.statuses.set_rate_limit_headers(headers);
        if self.requests > self.exhausted.limit {
            return;
        }
        let seconds_left = self.exhausted.reset - Timestamp::now().as_second();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds_left.max(1)));
    }

    /// The message for the client.
    pub fn message(&self) -> String {
        let QuotaStatus { limit_type, limit, remaining, reset } = self.exhausted;
        let window = match limit_type {
            LimitType::Minute => "minute",
            LimitType::Daily => "day",
        };
        let reset = Timestamp::from_second(reset)
            .expect("a quota is reset at most one window after a request");
        let (requests, fitting) = (self.requests, self.statuses.least_remaining());
        if requests == 1 || remaining == 0 {
            return format!("Quota of {limit} requests per {window} exceeded; retry after {reset}");
        }
        let or_later =
            if requests > limit { String::new() } else { format!(", or retry after {reset}") };
        format!(
            "Quota of {limit} requests per {window} has {remaining} left, and this one counts as \
             {requests}; send at most {fitting} numbers now{or_later}"
        )
    }
}
