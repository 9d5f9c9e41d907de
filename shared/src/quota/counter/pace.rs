//! A container's write interval, and its allowance between writes. Together, all containers should write
//! rarely, and admit few requests that the table has not confirmed.

use std::time::{Duration, Instant};

use store::Usage;

/// The target write rate per second for all containers of a quota together. DynamoDB allows 1,000 per partition.
pub const WRITES_PER_SECOND: f64 = 15.0;
/// The share of the remaining requests that all containers together may admit unconfirmed. The minimum applies at
/// several writes a second per container, the maximum at one write a second or less.
const MIN_SHARE: f64 = 0.1;
const MAX_SHARE: f64 = 0.5;
/// The minimum allowance of each container, even without a recent confirmation.
pub const MIN_ALLOWANCE: u64 = 1;
pub const MAX_ALLOWANCE: u64 = 10_000;
/// The period during which a confirmation counts as recent, unless twice the spacing is longer.
pub const RECENT: Duration = Duration::from_secs(2);
/// The minimum spacing at which containers delay writes at random, so that they do not all write at once.
const MIN_SPREAD: Duration = Duration::from_millis(150);
/// The active time that a container records after it starts, or after a longer pause.
const MAX_ACTIVE: Duration = Duration::from_secs(Usage::ACTIVITY as u64);

#[derive(Debug, Default)]
pub struct Pace {
    /// The number of containers that write regularly.
    pub containers: f64,
    pub wrote_at: Option<Instant>,
    /// The start of the last successful call, and the requests that remained then.
    pub confirmed_at: Option<Instant>,
    pub remaining: u64,
}

impl Pace {
    /// The maximum number of unconfirmed requests.
    pub fn allowance(&self, clock: Instant) -> u64 {
        let (spacing, has_written) = (self.spacing(), self.wrote_at.is_some());
        // Before its first write, others do not count this container. If there are few, it must write first.
        if !self.is_recent(clock) || !has_written && spacing < MIN_SPREAD {
            return MIN_ALLOWANCE;
        }
        let max_share = if has_written { MAX_SHARE } else { MIN_SHARE };
        let share = (spacing.as_secs_f64() / 2.0).clamp(MIN_SHARE, max_share);
        let allowance = self.remaining as f64 * share / self.containers.max(1.0);
        (allowance as u64).clamp(MIN_ALLOWANCE, MAX_ALLOWANCE)
    }

    /// Returns `true` if the last confirmation is recent.
    pub fn is_recent(&self, clock: Instant) -> bool {
        let limit = RECENT.max(self.spacing() * 2);
        self.confirmed_at.is_some_and(|at| clock.saturating_duration_since(at) < limit)
    }

    /// The time between a container's writes if all containers write as often as they may.
    pub fn spacing(&self) -> Duration {
        Duration::from_secs_f64(self.containers / WRITES_PER_SECOND)
    }

    /// A random delay, so that many containers do not all write at once after a start or pause. It is up to three
    /// times the spacing, which does not include containers that have not written yet.
    pub fn spread(&self) -> Duration {
        let spacing = self.spacing();
        if spacing < MIN_SPREAD {
            return Duration::ZERO;
        }
        spacing.mul_f64(rand::random_range(0.0..3.0))
    }

    /// Records the start of a write. Returns the time in milliseconds since the previous one.
    pub fn record_write(&mut self, clock: Instant) -> i64 {
        let last = self.wrote_at.replace(clock);
        let active = last.map_or(MAX_ACTIVE, |at| clock.saturating_duration_since(at));
        active.min(MAX_ACTIVE).as_millis() as i64
    }

    /// Estimates the number of containers from their activity in this minute and the previous one.
    pub fn count_containers(&mut self, usage: &Usage, now: i64) {
        let recent = usage.activity.range(now - 2 * Usage::ACTIVITY + 1..);
        // A duration must not be negative, even if the item is damaged.
        let active = recent.map(|(_, active)| *active).max().unwrap_or_default().max(0);
        self.containers = active as f64 / MAX_ACTIVE.as_millis() as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowance_is_the_containers_share_of_the_remaining_requests() {
        let clock = Instant::now();
        for (containers, remaining, expected, before_its_first_write) in [
            (0.5, 500, 50, MIN_ALLOWANCE),
            (1.0, 500, 50, MIN_ALLOWANCE),
            (2.0, 500, 25, MIN_ALLOWANCE),
            (3.0, 500, 16, 16),
            (9.0, 606, 20, 6),
            (15.0, 606, 20, 4),
            (300.0, 6060, 10, 2),
            (1000.0, 600, MIN_ALLOWANCE, MIN_ALLOWANCE),
            (1.0, 1_000_000, MAX_ALLOWANCE, MIN_ALLOWANCE),
        ] {
            let confirmed_at = Some(clock);
            let pace = Pace { confirmed_at, remaining, containers, wrote_at: None };
            assert_eq!(pace.allowance(clock), before_its_first_write, "{containers}");
            let pace = Pace { wrote_at: Some(clock), ..pace };
            assert_eq!(pace.allowance(clock), expected, "{containers} {remaining}");
            let age = RECENT.max(pace.spacing() * 2);
            assert_eq!(pace.allowance(clock + age - Duration::from_nanos(1)), expected);
            assert_eq!(pace.allowance(clock + age), MIN_ALLOWANCE, "no longer recent");
        }
    }

    #[test]
    fn containers_are_counted_by_recent_activity() {
        const NOW: i64 = 1_795_251_600;
        // A damaged item may contain a negative number.
        for (activity, expected) in [
            (&[(0, 7)][..], 7.0),
            (&[(0, 1), (1, 7)], 7.0),
            (&[(0, 1), (2, 7)], 1.0),
            (&[(0, -2)], 0.0),
        ] {
            let minutes = activity.iter().map(|(ago, sum)| (NOW - ago * 60, sum * 60_000));
            let usage = Usage { activity: minutes.collect(), ..Usage::default() };
            let mut pace = Pace::default();
            pace.count_containers(&usage, NOW);
            assert_eq!(pace.containers, expected, "{activity:?}");
            let spacing = expected / WRITES_PER_SECOND;
            assert_eq!(pace.spacing().as_secs_f64(), (spacing * 1e9).round() / 1e9);
        }
    }

    /// Otherwise a thousand containers would write at once.
    #[test]
    fn only_many_containers_spread_their_writes() {
        let few = Pace { containers: 2.0, ..Pace::default() };
        assert_eq!(few.spread(), Duration::ZERO);
        let many = Pace { containers: 300.0, ..Pace::default() };
        let mut delays: Vec<_> = (0..100).map(|_| many.spread().as_secs()).collect();
        delays.sort_unstable();
        assert!(delays[10] < 20 && delays[90] >= 40 && delays[99] < 60, "{delays:?}");
    }

    #[test]
    fn a_container_is_active_between_its_writes_for_at_most_a_minute() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        for (second, active) in [(0, 60_000), (3, 3000), (100, 60_000)] {
            assert_eq!(pace.record_write(start + Duration::from_secs(second)), active);
        }
    }
}
