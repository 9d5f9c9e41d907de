//! The requests that other containers have counted, as the table had them when it was last read.

use std::collections::BTreeMap;

use store::HourOfUsage;

use crate::quota::window::{Buckets, LimitType, not_after};

/// The tallies of the other containers, by hour.
#[derive(Debug, Default)]
pub struct OtherRequests(BTreeMap<i64, HourOfUsage>);

impl OtherRequests {
    /// Adds the requests to those in the buckets of a quota.
    pub fn add_to(&self, buckets: &mut Buckets, limit_type: LimitType) {
        for (hour, tallies) in &self.0 {
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
        let known = self.0.entry(hour).or_default();
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
        self.0 = self.0.split_off(&(now - LimitType::Daily.window() + 1));
    }
}
