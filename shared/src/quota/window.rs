//! The kinds of quotas, and the requests that count against each at a given time.

use std::ops::RangeInclusive;

use serde::Serialize;
use store::{Counts, KeyRecord};
use utoipa::ToSchema;

/// The kinds of quotas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitType {
    Minute,
    Daily,
}

impl LimitType {
    /// Each has its own counts in [`Counts`], in buckets: periods whose requests expire together.
    pub const ALL: [Self; Counts::PERIODS.len()] = [Self::Minute, Self::Daily];

    /// The length of the sliding window in seconds.
    pub(super) fn window(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::Daily => 24 * 60 * 60,
        }
    }

    /// The headers for the limit, the remaining requests and the reset time, in this order.
    pub fn headers(self) -> [&'static str; 3] {
        match self {
            Self::Minute => [
                "X-RateLimit-Minute-Limit",
                "X-RateLimit-Minute-Remaining",
                "X-RateLimit-Minute-Reset",
            ],
            Self::Daily => ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
        }
    }

    pub fn limit_of(self, key: &KeyRecord) -> Option<u32> {
        match self {
            Self::Minute => key.per_minute,
            Self::Daily => key.per_day,
        }
    }

    /// The window's name in messages, such as `day`.
    pub fn window_name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Daily => "day",
        }
    }

    /// The status of a quota at `now`, a Unix time in seconds. It resets when `requests` more will fit. If they can
    /// never fit, it resets when the whole quota is available.
    ///
    /// Buckets that started within the window count. As a result, a client within its quota is never rejected, and no
    /// client exceeds its quota in a window that is one bucket shorter.
    pub(super) fn status(
        self,
        requests: u64,
        limit: u64,
        counts: &Counts,
        now: i64,
    ) -> QuotaStatus {
        let window = self.window();
        let counted = counts.0[self as usize].range(counted_starts(window, now));
        let used: i64 = counted.clone().map(|(_, count)| count).sum();
        let (mut left, mut reset) = (used, now);
        for (start, count) in counted {
            left -= count;
            reset = start + window;
            if left < used && non_negative(left).saturating_add(requests) <= limit {
                break;
            }
        }
        let remaining = limit.saturating_sub(non_negative(used));
        QuotaStatus { limit_type: self, limit, remaining, reset }
    }
}

/// The starts of the buckets that count at `now`. Because clocks differ, they may be up to a window in the future.
fn counted_starts(window: i64, now: i64) -> RangeInclusive<i64> {
    now - window + 1..=now + window
}

/// Drops requests that do not count at `now`.
pub(super) fn drop_expired(counts: &mut Counts, now: i64) {
    for limit_type in LimitType::ALL {
        let counted = counted_starts(limit_type.window(), now);
        counts.0[limit_type as usize].retain(|start, _| counted.contains(start));
    }
}

/// A bucket can be negative for a while, until the container that took requests back has also written them.
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

    /// The times of the requests that a container admits, out of `times`.
    fn admit_all(limit_type: LimitType, limit: u64, times: &[i64]) -> Vec<i64> {
        let mut counts = Counts::default();
        let mut admitted = Vec::new();
        for &now in times {
            if limit_type.status(1, limit, &counts, now).remaining > 0 {
                counts.add(1, now);
                admitted.push(now);
            }
        }
        admitted
    }

    /// The maximum number of sorted `times` within any `span` seconds.
    fn max_in_span(span: i64, times: &[i64]) -> usize {
        let count_from = |first: usize| {
            times[first..].iter().take_while(|time| **time <= times[first] + span).count()
        };
        (0..times.len()).map(count_from).max().unwrap_or(0)
    }

    /// Sorted times within four windows.
    fn sorted_times(window: i64) -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(0..4 * window, 0..150).prop_map(|mut times| {
            times.sort_unstable();
            times
        })
    }

    fn limit_type_and_times() -> impl Strategy<Value = (LimitType, Vec<i64>)> {
        prop::sample::select(&LimitType::ALL[..])
            .prop_flat_map(|it| (Just(it), sorted_times(it.window())))
    }

    proptest! {
        #[test]
        fn quotas_never_reject_clients_within_them_or_admit_excess(
            (limit_type, times) in limit_type_and_times(), limit in 1_usize..40
        ) {
            let window = limit_type.window();
            let bucket = Counts::PERIODS[limit_type as usize].seconds;
            // A window is half-open: a request stops counting after exactly one window.
            let needed = max_in_span(window - 1, &times);
            prop_assert_eq!(&admit_all(limit_type, needed as u64, &times), &times);
            let admitted = admit_all(limit_type, limit as u64, &times);
            prop_assert!(max_in_span(window - bucket, &admitted) <= limit);
        }

        #[test]
        fn rejected_requests_fit_only_after_the_reset(
            times in sorted_times(60), limit in 1_u64..10, now in 240_i64..300
        ) {
            let mut counts = Counts::default();
            times.into_iter().for_each(|time| counts.add(1, time));
            let status = |now| LimitType::Minute.status(1, limit, &counts, now);
            let QuotaStatus { remaining, reset, .. } = status(now);
            if remaining == 0 {
                prop_assert!(status(reset).remaining > 0);
                prop_assert_eq!(status(reset - 1).remaining, 0);
            }
        }
    }

    /// Otherwise a clock that is hours ahead would block a minute quota for hours.
    #[test]
    fn requests_count_within_a_window_of_now_and_others_are_dropped() {
        const NOW: i64 = 1_795_251_600;
        for (ago, minute, daily) in [
            (55, 8, 8),
            (60, 9, 8),
            (86_399 - 3599, 9, 8),
            (86_400, 9, 9),
            (-60, 8, 8),
            (-65, 9, 8),
            (-86_400, 9, 8),
            (-90_000, 9, 9),
        ] {
            let mut counts = Counts::default();
            counts.add(1, NOW - ago);
            let expected = [(LimitType::Minute, minute), (LimitType::Daily, daily)];
            for (limit_type, remaining) in expected {
                let status = limit_type.status(1, 9, &counts, NOW);
                assert_eq!(status.remaining, remaining, "{ago} {limit_type:?}");
            }
            drop_expired(&mut counts, NOW);
            for (limit_type, remaining) in expected {
                assert_eq!(counts.0[limit_type as usize].is_empty(), remaining == 9, "{ago}");
            }
        }
    }
}
