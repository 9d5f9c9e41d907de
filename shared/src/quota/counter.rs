//! One quota as a container knows it: what was counted here, what the other containers have written,
//! and what of its own it still has to write. Knows neither tasks nor DynamoDB calls.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rand::{RngExt, distr::Alphanumeric};

use super::{
    QuotaStatuses,
    window::{Buckets, LimitType},
};
use store::{HourOfUsage, KeyRecord, Tally};

/// Characters of the name under which a container writes; a quota has at most some hundreds of them.
const CONTAINER_CHARACTERS: usize = 6;
/// What is counted is written when it is this share of what is left of the quota.
const SHARES: u64 = 10;
const LARGEST_SHARE: u64 = 100;
/// How long after a write the next one waits, unless a share is counted sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// How often that wait doubles while one write after the other fails.
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

/// What was counted here in one hour.
#[derive(Debug, Default)]
struct OwnHour {
    count: u64,
    /// As much of it as the table is known to have.
    written: u64,
}

/// What is to be written, and what is to be read beside it.
#[derive(Debug, Default)]
pub struct Flush {
    pub tallies: Vec<(i64, Tally)>,
    pub earlier_hours: Vec<i64>,
}

/// Writes that failed one after the other.
#[derive(Debug)]
struct Failures {
    since: Instant,
    times: u32,
}

/// The requests of one quota.
#[derive(Debug)]
pub struct Counter {
    container: String,
    limits: Limits,
    own_hours: BTreeMap<i64, OwnHour>,
    own_minutes: Buckets,
    /// What the other containers have written, by hour.
    others: BTreeMap<i64, HourOfUsage>,
    /// The hour in which the hours before it were read, and whether for the window of a day.
    earlier_read: Option<(i64, bool)>,
    tried_at: Option<Instant>,
    failures: Option<Failures>,
    /// Unwritten requests that are a write of their own.
    share: u64,
}

impl Counter {
    /// A counter under a name of its own, so that one that is forgotten and begun anew never counts
    /// below what it has written.
    pub fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(CONTAINER_CHARACTERS);
        Self {
            container: characters.map(char::from).collect(),
            limits: Limits::default(),
            own_hours: BTreeMap::new(),
            own_minutes: Buckets::new(),
            others: BTreeMap::new(),
            earlier_read: None,
            tried_at: None,
            failures: None,
            share: 1,
        }
    }

    pub fn container(&self) -> &str {
        &self.container
    }

    /// Counts a request at `now`, in seconds since 1970, unless a quota is exhausted.
    ///
    /// # Errors
    /// Returns where the key stands if one of its quotas is exhausted.
    pub fn take(&mut self, limits: Limits, now: i64) -> Result<QuotaStatuses, QuotaStatuses> {
        self.limits = limits;
        self.forget(now);
        let before = self.statuses(now);
        if before.exhausted().is_some() {
            return Err(before);
        }
        self.own_hours.entry(LimitType::Daily.bucket_at(now)).or_default().count += 1;
        if limits.per_minute.is_some() {
            *self.own_minutes.entry(LimitType::Minute.bucket_at(now)).or_default() += 1;
        }
        let after = self.statuses(now);
        self.share = (after.least_remaining() / SHARES).clamp(1, LARGEST_SHARE);
        Ok(after)
    }

    /// Where the key stands in each of its quotas.
    fn statuses(&self, now: i64) -> QuotaStatuses {
        let minute = |limit| LimitType::Minute.status(limit, &self.minutes(), now);
        let daily = |limit| LimitType::Daily.status(limit, &self.hours(), now);
        QuotaStatuses {
            minute: self.limits.per_minute.map(minute),
            daily: self.limits.per_day.map(daily),
        }
    }

    fn minutes(&self) -> Buckets {
        let mut buckets = self.own_minutes.clone();
        for tally in self.others.values().flat_map(HourOfUsage::values) {
            for (start, count) in &tally.recent {
                *buckets.entry(*start).or_default() += count;
            }
        }
        buckets
    }

    fn hours(&self) -> Buckets {
        let own = self.own_hours.iter().map(|(hour, own)| (*hour, own.count));
        let mut buckets: Buckets = own.collect();
        for (hour, tallies) in &self.others {
            *buckets.entry(*hour).or_default() +=
                tallies.values().map(|tally| tally.count).sum::<u64>();
        }
        buckets
    }

    /// Drops what no window counts any more.
    fn forget(&mut self, now: i64) {
        let minute_ago = now - LimitType::Minute.window();
        let day_ago = now - LimitType::Daily.window();
        self.own_minutes = self.own_minutes.split_off(&(minute_ago + 1));
        self.own_hours = self.own_hours.split_off(&(day_ago + 1));
        self.others = self.others.split_off(&(day_ago + 1));
    }

    fn unwritten(&self) -> u64 {
        self.own_hours.values().map(|hour| hour.count - hour.written).sum()
    }

    pub fn has_unwritten(&self) -> bool {
        self.unwritten() > 0
    }

    /// When the next write is due; `None` while there is nothing to write.
    ///
    /// The first one is due at once, since only its answer tells what others have counted.
    pub fn due_at(&self, now: Instant) -> Option<Instant> {
        let unwritten = self.unwritten();
        match (&self.failures, self.tried_at) {
            _ if unwritten == 0 => None,
            (_, None) => Some(now),
            (None, Some(_)) if unwritten >= self.share => Some(now),
            (None, Some(tried_at)) => Some(tried_at + FLUSH_INTERVAL),
            (Some(failures), Some(tried_at)) => {
                let doublings = (failures.times - 1).min(MOST_DOUBLINGS);
                Some(tried_at + FLUSH_INTERVAL * 2_u32.pow(doublings))
            }
        }
    }

    /// What has to be written and read now.
    pub fn flush(&mut self, now: i64, clock: Instant) -> Flush {
        self.forget(now);
        let unwritten = self.own_hours.iter().filter(|(_, own)| own.count > own.written);
        let tallies: Vec<_> =
            unwritten.map(|(hour, own)| (*hour, self.tally(*hour, own))).collect();
        if tallies.is_empty() {
            return Flush::default();
        }
        self.tried_at = Some(clock);
        Flush { tallies, earlier_hours: self.earlier_hours(now) }
    }

    fn tally(&self, hour: i64, own: &OwnHour) -> Tally {
        let of_the_hour = self.own_minutes.range(hour..hour + LimitType::Daily.bucket());
        Tally {
            count: own.count,
            recent: of_the_hour.map(|(start, count)| (*start, *count)).collect(),
        }
    }

    /// The hours before this one that still count and have not been read since it began. They are
    /// read anew each hour, because a container that was frozen may have written late.
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
        // Of an hour before, only its last bucket may still count for the minute.
        let of_the_minute = now - minute.window() - day.bucket() + minute.bucket();
        let oldest = if is_daily { now - day.window() } else { of_the_minute };
        let hours_back = (1..).map(|hours| hour - hours * day.bucket());
        hours_back.take_while(|earlier| *earlier > oldest).collect()
    }

    /// Notes that the table has `tally`, and what it has of the others.
    pub fn written(&mut self, hour: i64, tally: &Tally, usage: HourOfUsage) {
        // A refused write finds its own tally, or one that is as new, in the table.
        let in_table = usage.get(&self.container).map_or(tally.count, |own| own.count);
        if let Some(own) = self.own_hours.get_mut(&hour) {
            own.written = own.written.max(in_table.min(own.count));
        }
        self.learn(hour, usage);
        self.failures = None;
    }

    /// Notes what the table has of the hours before this one.
    pub fn earlier_known(&mut self, now: i64, usage: impl IntoIterator<Item = (i64, HourOfUsage)>) {
        for (hour, tallies) in usage {
            self.learn(hour, tallies);
        }
        self.earlier_read = Some((LimitType::Daily.bucket_at(now), self.limits.per_day.is_some()));
    }

    fn learn(&mut self, hour: i64, mut usage: HourOfUsage) {
        usage.remove(&self.container);
        self.others.insert(hour, usage);
    }

    /// Notes that a write was not answered; gives how often that happened without a success between,
    /// and since when.
    pub fn failed(&mut self, clock: Instant) -> (u32, Duration) {
        let failures = self.failures.get_or_insert(Failures { since: clock, times: 0 });
        failures.times += 1;
        (failures.times, clock.duration_since(failures.since))
    }
}

#[cfg(test)]
mod tests;
