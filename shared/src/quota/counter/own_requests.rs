//! The requests that this container has counted, and how many of them the table is known to have.

use std::collections::BTreeMap;

use store::Tally;

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, not_after},
};

/// The requests that this container has counted.
#[derive(Debug, Default)]
pub struct OwnRequests {
    hours: BTreeMap<i64, OwnHour>,
    minutes: Buckets,
    /// Of the tallies that were written last.
    version: u64,
}

/// The requests of one hour.
#[derive(Debug, Default)]
struct OwnHour {
    count: u64,
    /// The count that the table last confirmed.
    stored: u64,
    /// `true` if a write has not been confirmed, so that the table may have another count.
    is_in_doubt: bool,
}

impl OwnHour {
    fn is_stored(&self) -> bool {
        self.stored == self.count && !self.is_in_doubt
    }
}

impl OwnRequests {
    /// The requests in the buckets of the quota of a day.
    pub fn hours(&self) -> Buckets {
        self.hours.iter().map(|(hour, own)| (*hour, own.count)).collect()
    }

    /// The requests in the buckets of the quota of a minute.
    pub fn minutes(&self) -> Buckets {
        self.minutes.clone()
    }

    /// Adds so many requests at a time in seconds since 1970.
    pub fn add(&mut self, limits: Limits, requests: u64, at: i64) {
        self.hours.entry(LimitType::Daily.bucket_at(at)).or_default().count += requests;
        if limits.per_minute.is_some() {
            *self.minutes.entry(LimitType::Minute.bucket_at(at)).or_default() += requests;
        }
    }

    /// Removes so many requests that were added at this time.
    pub fn remove(&mut self, requests: u64, at: i64) {
        if let Some(hour) = self.hours.get_mut(&LimitType::Daily.bucket_at(at)) {
            hour.count = hour.count.saturating_sub(requests);
        }
        if let Some(count) = self.minutes.get_mut(&LimitType::Minute.bucket_at(at)) {
            *count = count.saturating_sub(requests);
        }
    }

    /// Drops the requests that no window counts any more.
    pub fn drop_expired(&mut self, now: i64) {
        let counted = self.minutes.split_off(&(now - LimitType::Minute.window() + 1));
        self.minutes = Buckets::new();
        for (start, count) in counted {
            *self.minutes.entry(not_after(start, now)).or_default() += count;
        }
        self.hours = self.hours.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// Returns `true` if the table has all of them, and no others.
    pub fn is_stored(&self) -> bool {
        self.hours.values().all(OwnHour::is_stored)
    }

    /// The tallies that the table does not have, by their hour.
    /// [`Self::record_stored`] tells that it has them.
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
