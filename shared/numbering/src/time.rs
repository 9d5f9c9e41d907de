//! The current time and date, at the precision that records store.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// The current time truncated to seconds, so it is never ahead of the clock.
pub fn this_second() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second())
        .expect("truncating to seconds keeps a timestamp in range")
}

/// The current date in UTC.
pub fn today() -> Date {
    date_of(Timestamp::now())
}

/// The date in UTC.
pub fn date_of(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}
