//! A key's quotas, and their statuses in headers and messages.

use axum::http::{HeaderMap, HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use store::{Counts, KeyRecord};

use super::window::{LimitType, QuotaStatus};

/// A key's limits, in the order of [`LimitType::ALL`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits(pub(super) [Option<u64>; LimitType::ALL.len()]);

impl Limits {
    /// The limits for `key`; `None` if it has no quotas.
    pub fn from_key(key: &KeyRecord) -> Option<Self> {
        let limits = LimitType::ALL.map(|it| it.limit_of(key).map(u64::from));
        limits.iter().any(Option::is_some).then_some(Self(limits))
    }

    /// The status of each quota, with the time at which `requests` more will fit.
    pub fn statuses(self, requests: u64, counts: &Counts, now: i64) -> QuotaStatuses {
        QuotaStatuses(LimitType::ALL.map(|limit_type| {
            let limit = self.0[limit_type as usize]?;
            Some(limit_type.status(requests, limit, counts, now))
        }))
    }
}

/// The status of each of a key's quotas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatuses([Option<QuotaStatus>; LimitType::ALL.len()]);

impl QuotaStatuses {
    /// The quota that these requests exceed; `None` if they fit. Of several, prefers one that they can never fit
    /// into, then the one that resets last.
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
        self.0.into_iter().flatten()
    }

    /// Sets `X-RateLimit-*` for each quota.
    pub fn set_rate_limit_headers(&self, headers: &mut HeaderMap) {
        for QuotaStatus { limit_type, limit, remaining, reset } in self.iter() {
            let values = [limit.into(), remaining.into(), HeaderValue::from(reset)];
            for (name, value) in limit_type.headers().into_iter().zip(values) {
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
    /// Creates the error for a key with a single quota.
    pub fn new(exhausted: QuotaStatus, requests: u64) -> Self {
        let only = |limit_type| (limit_type == exhausted.limit_type).then_some(exhausted);
        Self { exhausted, requests, statuses: QuotaStatuses(LimitType::ALL.map(only)) }
    }

    /// Sets `X-RateLimit-*`, and sets `Retry-After` to the seconds until the requests fit. If they never fit, omits
    /// `Retry-After`, because the client would retry forever.
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
        let window = limit_type.window_name();
        let reset = Timestamp::from_second(reset).expect("a quota resets within two windows");
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

    /// Creates statuses from limits, remaining requests and reset times.
    fn statuses(known: [(LimitType, u64, u64, i64); 2]) -> QuotaStatuses {
        QuotaStatuses(LimitType::ALL.map(|it| {
            let (limit_type, limit, remaining, reset) = known.into_iter().find(|of| of.0 == it)?;
            Some(QuotaStatus { limit_type, limit, remaining, reset })
        }))
    }

    #[test]
    fn exceeded_quota_is_one_that_can_never_fit_or_resets_last() {
        let statuses = statuses([(LimitType::Minute, 10, 2, 60), (LimitType::Daily, 20, 2, 3600)]);
        for (requests, expected) in [
            (2, None),
            (3, Some(LimitType::Daily)),
            (10, Some(LimitType::Daily)),
            (11, Some(LimitType::Minute)),
            (21, Some(LimitType::Daily)),
        ] {
            let exceeded = statuses.exceeded_by(requests).map(|status| status.limit_type);
            assert_eq!(exceeded, expected, "{requests}");
        }
    }

    #[test]
    fn the_quota_with_the_fewest_requests_left_limits_a_client() {
        let statuses = statuses([(LimitType::Minute, 9, 7, 0), (LimitType::Daily, 9, 3, 0)]);
        assert_eq!(statuses.min_remaining(), 3);
    }

    #[test]
    fn messages_and_headers_suggest_a_retry_only_if_the_requests_can_fit() {
        let reset = Timestamp::now().as_second() + 40;
        let retry = format!("retry after {}", Timestamp::from_second(reset).unwrap());
        for (remaining, requests, expected) in [
            (0, 1, format!("exceeded; {retry}")),
            (0, 2, format!("exceeded; {retry}")),
            (3, 10, format!("counts as 10; send one that counts as at most 3, or {retry}")),
            (3, 11, "counts as 11; send one that counts as at most 3".to_owned()),
        ] {
            let limit_type = LimitType::Daily;
            let exhausted = QuotaStatus { limit_type, limit: 10, remaining, reset };
            let exceeded = QuotaExceeded::new(exhausted, requests);
            let left = if remaining > 0 { "has 3 left, and this request " } else { "" };
            let message = format!("Quota of 10 requests per day {left}{expected}");
            assert_eq!(exceeded.message(), message);
            let mut headers = HeaderMap::new();
            exceeded.set_headers(&mut headers);
            assert_eq!(headers["x-ratelimit-limit"], "10");
            assert_eq!(headers["x-ratelimit-remaining"], remaining.to_string());
            assert_eq!(headers["x-ratelimit-reset"], reset.to_string());
            let seconds = headers.get(RETRY_AFTER).map(|it| it.to_str().unwrap().parse().unwrap());
            let is_in_40_s = seconds.is_some_and(|seconds: i64| (38..=40).contains(&seconds));
            assert_eq!(is_in_40_s, requests <= 10);
        }
    }
}
