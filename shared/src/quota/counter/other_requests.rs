//! The requests counted by other containers, as of the last read, and the hours to read next.

use std::collections::{BTreeMap, BTreeSet};

use store::{HourOfUsage, Tally};

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, not_after},
};

/// Around a change of the hour, other containers may still, or already, write to the adjacent hour.
const AROUND_CHANGE: i64 = 15;

/// The tallies of other containers.
#[derive(Debug, Default)]
pub struct OtherRequests {
    tallies: BTreeMap<i64, HourOfUsage>,
    /// The hour when the earlier hours were last read, and whether that included a whole day.
    earlier_read: Option<(i64, bool)>,
}

impl OtherRequests {
    /// Adds these requests to the buckets of a quota.
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

    /// Records the table's tallies for an hour, as read at `now`.
    pub fn record(&mut self, hour: i64, tallies: HourOfUsage, now: i64) {
        let known = self.tallies.entry(hour).or_default();
        // Reads can arrive out of order, and an unchanged tally is not news.
        for (container, mut tally) in tallies {
            let last = known.entry(container).or_default();
            if last.version < tally.version {
                for (start, _) in &mut tally.recent {
                    *start = not_after(*start, now);
                }
                *last = tally;
            }
        }
    }

    /// Drops requests outside of every window.
    pub fn drop_expired(&mut self, now: i64) {
        self.tallies = self.tallies.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// The hours to read after writing these tallies at `now`, in seconds since 1970. The responses to the
    /// writes include the hours of the tallies.
    pub fn hours_to_read(&self, written: &[(i64, Tally)], limits: Limits, now: i64) -> Vec<i64> {
        let (hour, length) = (LimitType::Daily.bucket_at(now), LimitType::Daily.bucket());
        let mut hours = BTreeSet::from([hour]);
        hours.extend(self.earlier(limits, now));
        for (written, _) in written {
            hours.remove(written);
        }
        // Two containers that write to different hours see each other only if both read after writing.
        if now - hour < AROUND_CHANGE {
            hours.insert(hour - length);
        }
        if hour + length - now <= AROUND_CHANGE {
            hours.insert(hour + length);
        }
        hours.into_iter().collect()
    }

    /// Records that the hours due at `now` have been read.
    pub fn record_read(&mut self, limits: Limits, now: i64) {
        self.earlier_read = Some((LimitType::Daily.bucket_at(now), limits.per_day.is_some()));
    }

    /// The earlier hours that still count, unless they were already read in this hour. They are reread every
    /// hour, because a frozen container may have written late.
    fn earlier(&self, limits: Limits, now: i64) -> Vec<i64> {
        let (minute, day) = (LimitType::Minute, LimitType::Daily);
        let hour = day.bucket_at(now);
        let is_daily = limits.per_day.is_some();
        if [(hour, is_daily), (hour, true)].map(Some).contains(&self.earlier_read) {
            return Vec::new();
        }
        // For a per-minute quota, an hour counts as long as its last bucket does.
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
