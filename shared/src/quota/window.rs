//! Sliding windows: which requests count at a given time, and when they expire.

use std::collections::BTreeMap;

use serde::Serialize;
use store::Counts;
use utoipa::ToSchema;

/// The number of requests in each bucket, by the bucket's first second.
pub type Buckets = BTreeMap<i64, i64>;

/// The kinds of quotas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitType {
    Minute,
    Daily,
}

impl LimitType {
    /// The length of the window in seconds.
    pub fn window(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::Daily => 24 * 60 * 60,
        }
    }

    /// The length of a bucket in seconds. The requests in a bucket expire together.
    pub fn bucket(self) -> i64 {
        match self {
            Self::Minute => Counts::STEP,
            Self::Daily => Counts::HOUR,
        }
    }

    /// The first second of the bucket at `now`, a Unix time in seconds.
    pub fn bucket_at(self, now: i64) -> i64 {
        now - now.rem_euclid(self.bucket())
    }

    /// The status of a quota at `now`, a Unix time in seconds. It resets when `requests` more fit, or, if they never
    /// fit, when the whole quota is available.
    ///
    /// Buckets that started within the window count. So a client within its quota is never rejected, and no client
    /// exceeds its quota in a window that is one bucket shorter. Buckets in the future count as if they started now.
    pub fn status(self, requests: u64, limit: u64, buckets: &Buckets, now: i64) -> QuotaStatus {
        let counted: Vec<_> = buckets.range(now - self.window() + 1..).collect();
        let used: i64 = counted.iter().map(|(_, count)| **count).sum();
        let mut left = used;
        let mut reset = now;
        for (start, count) in counted {
            left -= count;
            reset = (*start).min(self.bucket_at(now)) + self.window();
            if left < used && non_negative(left).saturating_add(requests) <= limit {
                break;
            }
        }
        let remaining = limit.saturating_sub(non_negative(used));
        QuotaStatus { limit_type: self, limit, remaining, reset }
    }
}

/// A bucket is negative until the container that took requests back has also written them.
fn non_negative(requests: i64) -> u64 {
    u64::try_from(requests).unwrap_or_default()
}

/// A quota's limit, remaining requests and reset time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct QuotaStatus {
    pub limit_type: LimitType,
    /// Requests the key may make in any minute or day.
    pub limit: u64,
    /// Requests remaining.
    pub remaining: u64,
    /// Time at which more requests become available, in Unix seconds. If the quota is exhausted, the next
    /// request is admitted then. A batch with more numbers than `limit` is never admitted.
    #[schema(example = 1_795_273_260)]
    pub reset: i64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The requests that a container admits, among those at `times`.
    fn admit_all(limit_type: LimitType, limit: u64, times: &[i64]) -> Vec<i64> {
        let mut buckets = Buckets::new();
        let mut admitted = Vec::new();
        for &now in times {
            if limit_type.status(1, limit, &buckets, now).remaining > 0 {
                *buckets.entry(limit_type.bucket_at(now)).or_default() += 1;
                admitted.push(now);
            }
        }
        admitted
    }

    /// The maximum number of sorted `times` within `span` seconds.
    fn max_in_span(span: i64, times: &[i64]) -> usize {
        let count_from = |first: usize| {
            times[first..].iter().take_while(|time| **time <= times[first] + span).count()
        };
        (0..times.len()).map(count_from).max().unwrap_or(0)
    }

    fn sorted_times(window: i64) -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(0..4 * window, 0..150).prop_map(|mut times| {
            times.sort_unstable();
            times
        })
    }

    proptest! {
        #[test]
        fn clients_within_their_quota_are_never_rejected(
            times in sorted_times(60), daily in sorted_times(86_400)
        ) {
            for (limit_type, times) in [(LimitType::Minute, times), (LimitType::Daily, daily)] {
                // A window is half-open: a request stops counting after exactly one window.
                let limit = max_in_span(limit_type.window() - 1, &times);
                let admitted = admit_all(limit_type, limit as u64, &times);
                prop_assert_eq!(admitted, times);
            }
        }

        #[test]
        fn no_client_exceeds_a_quota_in_a_window_less_a_bucket(
            times in sorted_times(60), daily in sorted_times(86_400), limit in 1_u64..40
        ) {
            for (limit_type, times) in [(LimitType::Minute, times), (LimitType::Daily, daily)] {
                let admitted = admit_all(limit_type, limit, &times);
                let span = limit_type.window() - limit_type.bucket();
                prop_assert!(max_in_span(span, &admitted) as u64 <= limit);
            }
        }

        #[test]
        fn rejected_requests_fit_at_the_reset_and_not_before(
            times in sorted_times(60), limit in 1_u64..10, now in 240_i64..300
        ) {
            let mut buckets = Buckets::new();
            for time in times {
                *buckets.entry(LimitType::Minute.bucket_at(time)).or_default() += 1;
            }
            let status = LimitType::Minute.status(1, limit, &buckets, now);
            let remaining = |now| LimitType::Minute.status(1, limit, &buckets, now).remaining;
            if status.remaining == 0 {
                prop_assert!(remaining(status.reset) > 0);
                prop_assert_eq!(remaining(status.reset - 1), 0);
            }
        }
    }
}
