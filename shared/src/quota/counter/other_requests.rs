//! The requests that other containers have counted, as the table had them when it was last read, and the
//! hours to read next.

use std::collections::{BTreeMap, BTreeSet};

use store::{HourOfUsage, Tally};

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, not_after},
};

/// Around the change of an hour, other containers may still, or already, write to the hour beside.
const AROUND_CHANGE: i64 = 15;

/// The tallies of the other containers.
#[derive(Debug, Default)]
pub struct OtherRequests {
    tallies: BTreeMap<i64, HourOfUsage>,
    /// The hour in which the earlier ones were last read, and whether all hours of a day were.
    earlier_read: Option<(i64, bool)>,
}

impl OtherRequests {
    /// Adds the requests to those in the buckets of a quota.
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

    /// Records what the table has for an hour, as read at `now`.
    pub fn record(&mut self, hour: i64, tallies: HourOfUsage, now: i64) {
        let known = self.tallies.entry(hour).or_default();
        // A read may be older than one that was answered before, and the same tally is no news.
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

    /// Drops the requests that no window counts any more.
    pub fn drop_expired(&mut self, now: i64) {
        self.tallies = self.tallies.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// The hours to read after these tallies are written at `now`, in seconds since 1970. The answers to the
    /// writes tell of the hours of the tallies.
    pub fn hours_to_read(&self, written: &[(i64, Tally)], limits: Limits, now: i64) -> Vec<i64> {
        let (hour, length) = (LimitType::Daily.bucket_at(now), LimitType::Daily.bucket());
        let mut hours = BTreeSet::from([hour]);
        hours.extend(self.earlier(limits, now));
        for (written, _) in written {
            hours.remove(written);
        }
        // Two containers that write to different hours see each other only if both read after they
        // have written.
        if now - hour < AROUND_CHANGE {
            hours.insert(hour - length);
        }
        if hour + length - now <= AROUND_CHANGE {
            hours.insert(hour + length);
        }
        hours.into_iter().collect()
    }

    /// Records that the hours that were to be read at `now` have been read.
    pub fn record_read(&mut self, limits: Limits, now: i64) {
        self.earlier_read = Some((LimitType::Daily.bucket_at(now), limits.per_day.is_some()));
    }

    /// The earlier hours that still count, unless they have been read in this hour. They are read
    /// again in each hour, because a container that was frozen may have written late.
    fn earlier(&self, limits: Limits, now: i64) -> Vec<i64> {
        let (minute, day) = (LimitType::Minute, LimitType::Daily);
        let hour = day.bucket_at(now);
        let is_daily = limits.per_day.is_some();
        if [(hour, is_daily), (hour, true)].map(Some).contains(&self.earlier_read) {
            return Vec::new();
        }
        // An hour counts for the quota of a minute as long as its last bucket does.
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
