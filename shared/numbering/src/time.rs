//! The current time and date, with the precision that records use.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// The current time, truncated to seconds so that it is never in the future.
pub fn this_second() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second())
        .expect("truncating to seconds keeps a timestamp in range")
}

/// The current date in UTC.
pub fn today() -> Date {
    date_of(Timestamp::now())
}

/// The UTC date of a time.
pub fn date_of(time: Timestamp) -> Date {
    time.to_zoned(TimeZone::UTC).date()
}
