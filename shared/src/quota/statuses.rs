//! A key's quotas, and their statuses in headers and messages.

use axum::http::{HeaderMap, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use store::KeyRecord;

use super::window::{LimitType, QuotaStatus};

/// The headers for the daily quota: limit, remaining requests and reset time.
pub const DAILY_HEADERS: [&str; 3] =
    ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
/// The headers for the per-minute quota, in the same order.
pub const MINUTE_HEADERS: [&str; 3] =
    ["X-RateLimit-Minute-Limit", "X-RateLimit-Minute-Remaining", "X-RateLimit-Minute-Reset"];

#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub per_minute: Option<u64>,
    pub per_day: Option<u64>,
}

impl Limits {
    /// The limits for `key`; `None` if it has no quotas.
    pub fn from_key(key: &KeyRecord) -> Option<Self> {
        let (per_minute, per_day) = (key.per_minute.map(u64::from), key.per_day.map(u64::from));
        let has_limit = per_minute.is_some() || per_day.is_some();
        has_limit.then_some(Self { per_minute, per_day })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatuses {
    pub minute: Option<QuotaStatus>,
    pub daily: Option<QuotaStatus>,
}

impl QuotaStatuses {
    /// The quota that these requests exceed; `None` if they fit. If they exceed both, one that they can never fit
    /// into, or else the one that resets last.
    pub fn exceeded_by(&self, requests: u64) -> Option<QuotaStatus> {
        let exceeded = self.iter().filter(|status| status.remaining < requests);
        exceeded.max_by_key(|status| (status.limit < requests, status.reset))
    }

    /// The number of requests left before a quota is exhausted.
    pub fn min_remaining(&self) -> u64 {
        self.tightest().map(|status| status.remaining).unwrap_or_default()
    }

    /// The quota with the fewest requests left.
    pub fn tightest(&self) -> Option<QuotaStatus> {
        self.iter().min_by_key(|status| status.remaining)
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

/// The error for requests that exceed a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// The exceeded quota, as in [`QuotaStatuses::exceeded_by`].
    pub exhausted: QuotaStatus,
    /// The number of requests that were rejected.
    pub requests: u64,
    pub statuses: QuotaStatuses,
}

impl QuotaExceeded {
    /// Sets `X-RateLimit-*`, and `Retry-After` to the seconds until the requests fit. If they never fit, omits
    /// `Retry-After`, since the client would retry forever.
    pub fn set_headers(&self, headers: &mut HeaderMap) {
        self.statuses.set_rate_limit_headers(headers);
        if self.requests > self.exhausted.limit {
            return;
        }
        let seconds_left = self.exhausted.reset - Timestamp::now().as_second();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds_left.max(1)));
    }

    pub fn message(&self) -> String {
        let QuotaStatus { limit_type, limit, remaining, reset } = self.exhausted;
        let window = match limit_type {
            LimitType::Minute => "minute",
            LimitType::Daily => "day",
        };
        let reset = Timestamp::from_second(reset).expect("a quota resets within one window");
        let (requests, remaining_capacity) = (self.requests, self.statuses.min_remaining());
        if requests == 1 || remaining == 0 {
            return format!("Quota of {limit} requests per {window} exceeded; retry after {reset}");
        }
        let retry_hint =
            if requests > limit { String::new() } else { format!(", or retry after {reset}") };
        format!(
            "Quota of {limit} requests per {window} has {remaining} left, and this request counts as \
             {requests}; send one that counts as at most {remaining_capacity}{retry_hint}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exceeded_quota_is_one_that_never_fits_or_the_one_that_resets_last() {
        let status =
            |limit_type, limit, reset| QuotaStatus { limit_type, limit, remaining: 2, reset };
        for (per_minute, per_day, requests, expected) in [
            (10, 20, 2, None),
            (10, 20, 3, Some(LimitType::Daily)),
            (10, 20, 10, Some(LimitType::Daily)),
            (10, 20, 11, Some(LimitType::Minute)),
            (10, 20, 21, Some(LimitType::Daily)),
        ] {
            let statuses = QuotaStatuses {
                minute: Some(status(LimitType::Minute, per_minute, 60)),
                daily: Some(status(LimitType::Daily, per_day, 3600)),
            };
            let exceeded = statuses.exceeded_by(requests).map(|status| status.limit_type);
            assert_eq!(exceeded, expected, "{requests}");
        }
    }

    #[test]
    fn messages_and_headers_suggest_a_retry_only_if_the_requests_can_fit() {
        let reset = Timestamp::now().as_second() + 40;
        let at = Timestamp::from_second(reset).unwrap();
        for (remaining, requests, expected) in [
            (0, 1, format!("exceeded; retry after {at}")),
            (0, 2, format!("exceeded; retry after {at}")),
            (
                3,
                10,
                format!("counts as 10; send one that counts as at most 3, or retry after {at}"),
            ),
            (3, 11, "counts as 11; send one that counts as at most 3".to_owned()),
        ] {
            let limit_type = LimitType::Minute;
            let exhausted = QuotaStatus { limit_type, limit: 10, remaining, reset };
            let statuses = QuotaStatuses { minute: Some(exhausted), daily: None };
            let exceeded = QuotaExceeded { exhausted, requests, statuses };
            let left = if remaining > 0 { "has 3 left, and this request " } else { "" };
            let message = format!("Quota of 10 requests per minute {left}{expected}");
            assert_eq!(exceeded.message(), message);
            let mut headers = HeaderMap::new();
            exceeded.set_headers(&mut headers);
            let seconds = headers.get(RETRY_AFTER).map(|it| it.to_str().unwrap().parse().unwrap());
            let is_in_40_s = seconds.is_some_and(|seconds: i64| (38..=40).contains(&seconds));
            assert_eq!(is_in_40_s, requests <= 10);
        }
    }
}
