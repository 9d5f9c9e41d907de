//! The time as records keep it.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// The second that has begun, never one to come.
pub fn this_second() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// The day in UTC.
pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
