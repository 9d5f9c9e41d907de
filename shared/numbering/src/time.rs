//! The current time and date, as precisely as records store them.

use jiff::{Timestamp, civil::Date, tz::TimeZone};

/// The current time without its fraction of a second, which is never ahead of the clock.
pub fn this_second() -> Timestamp {
    Timestamp::from_second(Timestamp::now().as_second())
        .expect("the second that a timestamp lies in is a timestamp itself")
}

/// The current date in UTC.
pub fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}
