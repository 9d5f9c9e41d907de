//! The quota statuses of a key, and the headers that tell a client about them.

use axum::http::{HeaderMap, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;

use super::window::QuotaStatus;

/// The headers of the quota of a day: limit, remaining requests and reset time.
pub const DAILY_HEADERS: [&str; 3] =
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
/// The headers of the quota of a minute, likewise.
pub const MINUTE_HEADERS: [&str; 3] =
    ["X-RateLimit-Minute-Limit", "X-RateLimit-Minute-Remaining", "X-RateLimit-Minute-Reset"];

/// The status of each quota that a key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatuses {
    pub minute: Option<QuotaStatus>,
    pub daily: Option<QuotaStatus>,
}

impl QuotaStatuses {
    /// The quota into which so many requests do not fit: one that they would never fit into, or else the
    /// one that is reset last. `None` if they fit into each.
    pub fn too_small_for(&self, requests: u64) -> Option<QuotaStatus> {
        let too_small = self.iter().filter(|status| status.remaining < requests);
        too_small.max_by_key(|status| (status.limit < requests, status.reset))
    }

    /// The requests that may still be made before one of the quotas is exhausted.
    pub fn least_remaining(&self) -> u64 {
        self.iter().map(|status| status.remaining).min().unwrap_or_default()
    }

    fn iter(&self) -> impl Iterator<Item = QuotaStatus> {
        self.minute.into_iter().chain(self.daily)
    }

    /// Sets `X-RateLimit-*` for the day and `X-RateLimit-Minute-*` for the minute.
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

/// Why a request is not admitted: at least one quota of its key is exhausted, or has less left than the
/// request counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// The quota that is exhausted; of several the one that is reset last.
    pub exhausted: QuotaStatus,
    /// How many requests it counts as.
    pub requests: u64,
    /// The status of each quota of the key.
    pub statuses: QuotaStatuses,
}

impl QuotaExceeded {
    /// Sets `X-RateLimit-*`, and `Retry-After` to the seconds until the request is admitted. One for more
    /// numbers than the whole quota never is, so that it gets no `Retry-After`: its client would
    /// retry for ever.
    pub fn set_headers(&self, headers: &mut HeaderMap) {
        self.statuses.set_rate_limit_headers(headers);
        if self.requests > self.exhausted.limit {
            return;
        }
        let seconds_left = self.exhausted.reset - Timestamp::now().as_second();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds_left.max(1)));
    }
}
