//! The requests of one quota as a container knows them: those that it has counted itself, those
//! that other containers have written, and those that it still has to write.
//!
//! This module knows neither tasks nor DynamoDB.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use rand::{RngExt, distr::Alphanumeric};

use store::{HourOfUsage, KeyRecord, Tally};

use super::{
    statuses::{QuotaExceeded, QuotaStatuses},
    window::{Buckets, LimitType},
};

/// The characters of the name under which a container writes. They tell the containers of a quota
/// apart, of which there are some hundreds at most.
const CONTAINER_CHARACTERS: usize = 6;
/// Requests are written once they are a tenth of the requests that are left of the quota.
const REMAINING_PER_SHARE: u64 = 10;
const LARGEST_SHARE: u64 = 100;
/// How long after a write the next one is due, unless a share is counted sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How often this interval is doubled at most while writes fail.
const MOST_DOUBLINGS: u32 = 4;

/// The quotas of a key.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    per_minute: Option<u64>,
    per_day: Option<u64>,
}

impl Limits {
    /// The quotas of `key`; `None` if it has none.
    pub fn of(key: &KeyRecord) -> Option<Self> {
        let (per_minute, per_day) = (key.per_minute.map(u64::from), key.per_day.map(u64::from));
        let has_one = per_minute.is_some() || per_day.is_some();
        has_one.then_some(Self { per_minute, per_day })
    }
}

/// The requests that this container has counted in one hour.
#[derive(Debug, Default)]
struct OwnHour {
    count: u64,
    /// How many of them are known to be in the table.
    written: u64,
}

/// The tallies to write, and the earlier hours to read with them.
#[derive(Debug, Default)]
pub struct Flush {
    /// The tallies by their hour.
    pub tallies: Vec<(i64, Tally)>,
    pub earlier_hours: Vec<i64>,
}

/// Writes that have failed since the last success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    /// When the first of them failed.
    pub since: Instant,
    pub times: u32,
}

/// The requests of one quota.
#[derive(Debug)]
pub struct Counter {
    container: String,
    limits: Limits,
    own_hours: BTreeMap<i64, OwnHour>,
    own_minutes: Buckets,
    /// The tallies of the other containers, by hour.
    others: BTreeMap<i64, HourOfUsage>,
    /// The hour in which earlier hours were last read, and whether all hours of a day were.
    earlier_read: Option<(i64, bool)>,
    attempted_at: Option<Instant>,
    failures: Option<Failures>,
    /// The number of unwritten requests at which a write is due at once.
    share: u64,
}

impl Counter {
    /// A counter with a new random name of the container. So if the counter of a quota is dropped
    /// and made again, it does not replace its former tally with a smaller one.
    pub fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(CONTAINER_CHARACTERS);
        Self {
            container: characters.map(char::from).collect(),
            limits: Limits::default(),
            own_hours: BTreeMap::new(),
            own_minutes: Buckets::new(),
            others: BTreeMap::new(),
            earlier_read: None,
            attempted_at: None,
            failures: None,
            share: 1,
        }
    }

    /// The name under which this counter is written.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Whether so many requests fit into each quota at `now`, in seconds since 1970.
    ///
    /// # Errors
    /// Returns an error if they do not.
    pub fn check(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.limits = limits;
        self.drop_expired(now);
        match self.statuses_for(requests, now).too_small_for(requests) {
            Some(exhausted) => {
                Err(QuotaExceeded { exhausted, requests, statuses: self.statuses(now) })
            }
            None => Ok(()),
        }
    }

    /// Counts so many requests at `now`, in seconds since 1970: all, or none if they do not fit into
    /// each quota.
    ///
    /// # Errors
    /// Returns an error if they do not fit.
    pub fn take(
        &mut self,
        limits: Limits,
        requests: u64,
        now: i64,
    ) -> Result<QuotaStatuses, QuotaExceeded> {
        self.check(limits, requests, now)?;
        self.own_hours.entry(LimitType::Daily.bucket_at(now)).or_default().count += requests;
        if limits.per_minute.is_some() {
            *self.own_minutes.entry(LimitType::Minute.bucket_at(now)).or_default() += requests;
        }
        let after = self.statuses(now);
        self.share = (after.least_remaining() / REMAINING_PER_SHARE).clamp(1, LARGEST_SHARE);
        Ok(after)
    }

    /// The status of each quota.
    fn statuses(&self, now: i64) -> QuotaStatuses {
        self.statuses_for(1, now)
    }

    /// The status of each quota, with a reset for so many requests.
    fn statuses_for(&self, requests: u64, now: i64) -> QuotaStatuses {
        let status = |limit_type: LimitType, limit, buckets: Buckets| {
            limit_type.status_for(requests, limit, &buckets, now)
        };
        let Limits { per_minute, per_day } = self.limits;
        QuotaStatuses {
            minute: per_minute.map(|limit| status(LimitType::Minute, limit, self.minutes())),
            daily: per_day.map(|limit| status(LimitType::Daily, limit, self.hours())),
        }
    }

    /// The requests of all containers in the buckets of the quota of a minute.
    fn minutes(&self) -> Buckets {
        let mut buckets = self.own_minutes.clone();
        for tally in self.others.values().flat_map(HourOfUsage::values) {
            for (start, count) in &tally.recent {
                *buckets.entry(*start).or_default() += count;
            }
        }
        buckets
    }

    /// The requests of all containers in the buckets of the quota of a day.
    fn hours(&self) -> Buckets {
        let mut buckets: Buckets =
            self.own_hours.iter().map(|(hour, own)| (*hour, own.count)).collect();
        for (hour, tallies) in &self.others {
            *buckets.entry(*hour).or_default() +=
                tallies.values().map(|tally| tally.count).sum::<u64>();
        }
        buckets
    }

    /// Drops the requests that no window counts any more.
    fn drop_expired(&mut self, now: i64) {
        let minute_ago = now - LimitType::Minute.window();
        let day_ago = now - LimitType::Daily.window();
        self.own_minutes = self.own_minutes.split_off(&(minute_ago + 1));
        self.own_hours = self.own_hours.split_off(&(day_ago + 1));
        self.others = self.others.split_off(&(day_ago + 1));
    }

    fn unwritten(&self) -> u64 {
        self.own_hours.values().map(|hour| hour.count - hour.written).sum()
    }

    /// Whether requests are left to write.
    pub fn has_unwritten(&self) -> bool {
        self.unwritten() > 0
    }

    /// When the next write is due; `None` while there is nothing to write.
    ///
    /// The first write is due at once, since only its answer tells what the others have counted.
    pub fn due_at(&self, now: Instant) -> Option<Instant> {
        let unwritten = self.unwritten();
        if unwritten == 0 {
            return None;
        }
        let Some(attempted_at) = self.attempted_at else { return Some(now) };
        match &self.failures {
            None if unwritten >= self.share => Some(now),
            None => Some(attempted_at + FLUSH_INTERVAL),
            Some(failures) => {
                let doublings = (failures.times - 1).min(MOST_DOUBLINGS);
                Some(attempted_at + FLUSH_INTERVAL * 2_u32.pow(doublings))
            }
        }
    }

    /// Begins a write: returns the tallies to write and the hours to read.
    pub fn flush(&mut self, now: i64, clock: Instant) -> Flush {
        self.drop_expired(now);
        let tallies: Vec<_> = self
            .own_hours
            .iter()
            .filter(|(_, own)| own.count > own.written)
            .map(|(hour, own)| (*hour, self.tally(*hour, own)))
            .collect();
        if tallies.is_empty() {
            return Flush::default();
        }
        self.attempted_at = Some(clock);
        Flush { tallies, earlier_hours: self.earlier_hours(now) }
    }

    fn tally(&self, hour: i64, own: &OwnHour) -> Tally {
        let recent = self.own_minutes.range(hour..hour + LimitType::Daily.bucket());
        Tally { count: own.count, recent: recent.map(|(start, count)| (*start, *count)).collect() }
    }

    /// The earlier hours that still count, unless they have been read in this hour. They are read
    /// again in each hour, because a container that was frozen may have written late.
    fn earlier_hours(&self, now: i64) -> Vec<i64> {
        let hour = LimitType::Daily.bucket_at(now);
        let is_daily = self.limits.per_day.is_some();
        let is_read = self
            .earlier_read
            .is_some_and(|(read_in, for_a_day)| read_in == hour && (for_a_day || !is_daily));
        if is_read {
            return Vec::new();
        }
        let (minute, day) = (LimitType::Minute, LimitType::Daily);
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

    /// The hours to read in order to know what other containers have counted until `now`: the running
    /// one and the one before, into which somebody may just have written, and those before that unless
    /// they have been read.
    pub fn hours_to_learn(&mut self, limits: Limits, now: i64) -> Vec<i64> {
        self.limits = limits;
        let hour = LimitType::Daily.bucket_at(now);
        let earlier = self.earlier_hours(now).into_iter();
        let hours: BTreeSet<i64> =
            earlier.chain([hour - LimitType::Daily.bucket(), hour]).collect();
        hours.into_iter().collect()
    }

    /// Records that `tally` has been written, and that the table has the tallies in `usage`.
    pub fn record_written(&mut self, hour: i64, tally: &Tally, usage: HourOfUsage) {
        // If the write was refused, the table already has this tally, or one that is as new.
        let in_table = usage.get(&self.container).map_or(tally.count, |own| own.count);
        if let Some(own) = self.own_hours.get_mut(&hour) {
            own.written = own.written.max(in_table.min(own.count));
        }
        self.record_others(hour, usage);
        self.failures = None;
    }

    /// Records the tallies that the table has for earlier hours.
    pub fn record_earlier_hours(
        &mut self,
        now: i64,
        usage: impl IntoIterator<Item = (i64, HourOfUsage)>,
    ) {
        for (hour, tallies) in usage {
            self.record_others(hour, tallies);
        }
        self.earlier_read = Some((LimitType::Daily.bucket_at(now), self.limits.per_day.is_some()));
    }

    fn record_others(&mut self, hour: i64, mut usage: HourOfUsage) {
        usage.remove(&self.container);
        let known = self.others.entry(hour).or_default();
        // A tally only grows, and a read may be older than one that was answered before.
        for (container, tally) in usage {
            let last = known.entry(container).or_default();
            if last.count <= tally.count {
                *last = tally;
            }
        }
    }

    /// Records that a write failed; returns all failures since the last success.
    pub fn record_failure(&mut self, clock: Instant) -> Failures {
        let failures = self.failures.get_or_insert(Failures { since: clock, times: 0 });
        failures.times += 1;
        *failures
    }
}

#[cfg(test)]
mod tests;
