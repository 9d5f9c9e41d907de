//! The requests that this container counted, and how many of them are stored.

use std::collections::BTreeMap;

use store::Tally;

use crate::quota::{
    statuses::Limits,
    window::{Buckets, LimitType, clamp_to_now},
};

/// The requests that this container counted.
#[derive(Debug, Default)]
pub struct OwnRequests {
    hours: BTreeMap<i64, HourCounts>,
    minutes: Buckets,
    /// The version of the last tallies.
    version: u64,
}

/// The requests in one hour.
#[derive(Debug, Default)]
struct HourCounts {
    count: u64,
    /// The last confirmed count.
    stored: u64,
    /// `true` if a write is unconfirmed, so the stored count may differ.
    is_unconfirmed: bool,
}

impl HourCounts {
    fn is_stored(&self) -> bool {
        self.stored == self.count && !self.is_unconfirmed
    }
}

impl OwnRequests {
    /// The buckets for the daily quota.
    pub fn hours(&self) -> Buckets {
        self.hours.iter().map(|(hour, own)| (*hour, own.count)).collect()
    }

    /// The buckets for the per-minute quota.
    pub fn minutes(&self) -> Buckets {
        self.minutes.clone()
    }

    /// Adds requests at `at`, a Unix time in seconds.
    pub fn add(&mut self, limits: Limits, requests: u64, at: i64) {
        self.hours.entry(LimitType::Daily.bucket_at(at)).or_default().count += requests;
        if limits.per_minute.is_some() {
            *self.minutes.entry(LimitType::Minute.bucket_at(at)).or_default() += requests;
        }
    }

    /// Removes requests that were added at `at`.
    pub fn remove(&mut self, requests: u64, at: i64) {
        if let Some(hour) = self.hours.get_mut(&LimitType::Daily.bucket_at(at)) {
            hour.count = hour.count.saturating_sub(requests);
        }
        if let Some(count) = self.minutes.get_mut(&LimitType::Minute.bucket_at(at)) {
            *count = count.saturating_sub(requests);
        }
    }

    /// Drops requests outside every window.
    pub fn drop_expired(&mut self, now: i64) {
        let counted = self.minutes.split_off(&(now - LimitType::Minute.window() + 1));
        self.minutes = Buckets::new();
        for (start, count) in counted {
            *self.minutes.entry(clamp_to_now(start, now)).or_default() += count;
        }
        self.hours = self.hours.split_off(&(now - LimitType::Daily.window() + 1));
    }

    /// Returns `true` if the stored counts are up to date.
    pub fn is_stored(&self) -> bool {
        self.hours.values().all(HourCounts::is_stored)
    }

    /// The tallies to write, by hour. Call [`Self::record_stored`] after they are written.
    pub fn begin_write(&mut self) -> Vec<(i64, Tally)> {
        self.version += 1;
        let (version, minutes) = (self.version, &self.minutes);
        let unwritten = self.hours.iter_mut().filter(|(_, own)| !own.is_stored());
        unwritten
            .map(|(hour, own)| {
                own.is_unconfirmed = true;
                let recent = minutes.range(*hour..*hour + LimitType::Daily.bucket());
                let recent = recent.filter(|(_, count)| **count > 0);
                let recent = recent.map(|(start, count)| (*start, *count)).collect();
                (*hour, Tally { count: own.count, version, recent })
            })
            .collect()
    }

    /// Records that these tallies are stored.
    pub fn record_stored(&mut self, tallies: &[(i64, Tally)]) {
        for (hour, tally) in tallies {
            if let Some(own) = self.hours.get_mut(hour) {
                (own.stored, own.is_unconfirmed) = (tally.count, false);
            }
        }
    }
}
