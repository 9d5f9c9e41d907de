//! The requests counted by this container, and how many of them the table has.

use std::collections::BTreeMap;

use store::Tally;

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, not_after},
};

/// The requests counted by this container.
#[derive(Debug, Default)]
pub struct OwnRequests {
    hours: BTreeMap<i64, OwnHour>,
    minutes: Buckets,
    /// The version of the tallies written last.
    version: u64,
}

/// The requests of one hour.
#[derive(Debug, Default)]
struct OwnHour {
    count: u64,
    /// The count last confirmed by the table.
    stored: u64,
    /// `true` if a write is unconfirmed, so the table may have a different count.
    is_in_doubt: bool,
}

impl OwnHour {
    fn is_stored(&self) -> bool {
        self.stored == self.count && !self.is_in_doubt
    }
}

impl OwnRequests {
    /// The requests in the buckets of the daily quota.
    pub fn hours(&self) -> Buckets {
        self.hours.iter().map(|(hour, own)| (*hour, own.count)).collect()
    }

    /// The requests in the buckets of the per-minute quota.
    pub fn minutes(&self) -> Buckets {
        self.minutes.clone()
    }

    /// Adds requests at a time in seconds since 1970.
    pub fn add(&mut self, limits: Limits, requests: u64, at: i64) {
        self.hours.entry(LimitType::Daily.bucket_at(at)).or_default().count += requests;
        if limits.per_minute.is_some() {
            *self.minutes.entry(LimitType::Minute.bucket_at(at)).or_default() += requests;
        }
    }

    /// Removes requests that were added at this time.
    pub fn remove(&mut self, requests: u64, at: i64) {
        if let Some(hour) = self.hours.get_mut(&LimitType::Daily.bucket_at(at)) {
            hour.count = hour.count.saturating_sub(requests);
        }
        if let Some(count) = self.minutes.get_mut(&LimitType::Minute.bucket_at(at)) {
            *count = count.saturating_sub(requests);
        }
    }

    /// Drops requests outside of every window.
    pub fn drop_expired(&mut self, now: i64) {
        let counted = self.minutes.split_off(&(now - LimitType::Minute.window() + 1));
        self.minutes = Buckets::new();
        for (start, count) in counted {
            *self.minutes.entry(not_after(start, now)).or_default() += count;
        }
        self.hours = self.hours.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// Returns `true` if the table has exactly these requests.
    pub fn is_stored(&self) -> bool {
        self.hours.values().all(OwnHour::is_stored)
    }

    /// The tallies missing from the table, by hour. Call [`Self::record_stored`] once they are written.
    pub fn begin_write(&mut self) -> Vec<(i64, Tally)> {
        self.version += 1;
        let (version, minutes) = (self.version, &self.minutes);
        let unwritten = self.hours.iter_mut().filter(|(_, own)| !own.is_stored());
        unwritten
            .map(|(hour, own)| {
                own.is_in_doubt = true;
                let recent = minutes.range(*hour..*hour + LimitType::Daily.bucket());
                let recent = recent.filter(|(_, count)| **count > 0);
                let recent = recent.map(|(start, count)| (*start, *count)).collect();
                (*hour, Tally { count: own.count, version, recent })
            })
            .collect()
    }

    /// Records that the table has these tallies.
    pub fn record_stored(&mut self, tallies: &[(i64, Tally)]) {
        for (hour, tally) in tallies {
            if let Some(own) = self.hours.get_mut(hour) {
                (own.stored, own.is_in_doubt) = (tally.count, false);
            }
        }
    }
}
