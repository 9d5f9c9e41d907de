//! Which hours of a quota a container reads beside those that it writes, whose answers tell of them.

use std::collections::BTreeSet;

use store::Tally;

use crate::quota::{limits::Limits, window::LimitType};

/// Around the change of an hour, other containers may still, or already, write to the hour beside.
const AROUND_CHANGE: i64 = 15;

/// What has been read of the hours before the running one.
#[derive(Debug, Default)]
pub struct HoursToRead {
    /// The hour in which they were last read, and whether all hours of a day were.
    earlier_read: Option<(i64, bool)>,
}

impl HoursToRead {
    /// The hours to read after these tallies are written at `now`, in seconds since 1970.
    pub fn after(&self, tallies: &[(i64, Tally)], limits: Limits, now: i64) -> Vec<i64> {
        let (hour, length) = (LimitType::Daily.bucket_at(now), LimitType::Daily.bucket());
        let mut hours: BTreeSet<i64> = self.earlier(limits, now).into_iter().collect();
        hours.insert(hour);
        for (written, _) in tallies {
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
        let hour = LimitType::Daily.bucket_at(now);
        let is_daily = limits.per_day.is_some();
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
}
