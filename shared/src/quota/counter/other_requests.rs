//! The requests that other containers counted, and the hours to read next.

use std::collections::{BTreeMap, BTreeSet};

use store::{HourlyTallies, Tally};

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, clamp_to_now},
};

/// The maximum clock difference between containers in seconds. Near an hour boundary, other containers may write to
/// the adjacent hour.
const MAX_CLOCK_SKEW: i64 = 15;

/// Other containers' tallies, as of the last read.
#[derive(Debug, Default)]
pub struct OtherRequests {
    tallies: BTreeMap<i64, HourlyTallies>,
    /// The hour in which earlier hours were last read, and `true` if a whole day was read.
    earlier_read: Option<(i64, bool)>,
}

impl OtherRequests {
    /// Adds these requests to a quota's buckets.
    pub fn add_to(&self, buckets: &mut Buckets, limit_type: LimitType) {
        for (hour, tallies) in &self.tallies {
            for tally in tallies.values() {
                match limit_type {
                    LimitType::Daily => *buckets.entry(*hour).or_default() += tally.count,
                    LimitType::Minute => {
                        for (start, count) in &tally.recent {
                            *buckets.entry(*start).or_default() += count;
                        }
                    }
                }
            }
        }
    }

    /// Records the tallies for an hour that were read at `now`.
    pub fn record(&mut self, hour: i64, tallies: HourlyTallies, now: i64) {
        let known = self.tallies.entry(hour).or_default();
        // Responses may arrive out of order.
        for (container, mut tally) in tallies {
            let last = known.entry(container).or_default();
            if last.version < tally.version {
                for (start, _) in &mut tally.recent {
                    *start = clamp_to_now(*start, now);
                }
                *last = tally;
            }
        }
    }

    /// Drops requests outside every window.
    pub fn drop_expired(&mut self, now: i64) {
        self.tallies = self.tallies.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// The hours to read after writing `written` at `now`, a Unix time in seconds. The responses to the writes already
    /// contain those hours.
    pub fn hours_to_read(&self, written: &[(i64, Tally)], limits: Limits, now: i64) -> Vec<i64> {
        let (hour, length) = (LimitType::Daily.bucket_at(now), LimitType::Daily.bucket());
        let mut hours = BTreeSet::from([hour]);
        hours.extend(self.earlier_hours(limits, now));
        for (written, _) in written {
            hours.remove(written);
        }
        // Containers that write to different hours see each other's counts only if they also read both hours.
        if now - hour < MAX_CLOCK_SKEW {
            hours.insert(hour - length);
        }
        if hour + length - now <= MAX_CLOCK_SKEW {
            hours.insert(hour + length);
        }
        hours.into_iter().collect()
    }

    /// Records that the hours due at `now` have been read.
    pub fn record_read(&mut self, limits: Limits, now: i64) {
        self.earlier_read = Some((LimitType::Daily.bucket_at(now), limits.per_day.is_some()));
    }

    /// The earlier hours that still count, unless they were already read in this hour. They are reread every hour,
    /// since a frozen container may write late.
    fn earlier_hours(&self, limits: Limits, now: i64) -> Vec<i64> {
        let (minute, day) = (LimitType::Minute, LimitType::Daily);
        let hour = day.bucket_at(now);
        let is_daily = limits.per_day.is_some();
        if [(hour, is_daily), (hour, true)].map(Some).contains(&self.earlier_read) {
            return Vec::new();
        }
        // For a per-minute quota, an hour counts until its last bucket expires.
        let oldest = if is_daily {
            now - day.window()
        } else {
            now - minute.window() - day.bucket() + minute.bucket()
        };
        (1..)
            .map(|hours_ago| hour - hours_ago * day.bucket())
            .take_while(|earlier| *earlier > oldest)
            .collect()
    }
}
