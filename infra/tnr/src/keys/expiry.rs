//! A key's expiry as given on the command line.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

use crate::CliError;

/// A date, at midnight UTC, or a number of days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    On(Date),
    After(SignedDuration),
}

impl FromStr for Expiry {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let days = text.strip_suffix('d').and_then(|days| days.parse::<u16>().ok());
        match (days, Date::strptime("%Y-%m-%d", text)) {
            (Some(days), _) => Ok(Self::After(SignedDuration::from_hours(24 * i64::from(days)))),
            (None, Ok(date)) => Ok(Self::On(date)),
            (None, Err(_)) => {
                Err("must be a date such as 2027-01-31, or a number of days such as 90d")
            }
        }
    }
}

impl Expiry {
    pub fn expires_at(self, now: Timestamp) -> Result<Timestamp, CliError> {
        let end = match self {
            Self::On(date) => date.to_zoned(TimeZone::UTC).map(|midnight| midnight.timestamp()),
            Self::After(days) => now.checked_add(days),
        };
        end.ok().filter(|end| *end > now).ok_or_else(|| {
            CliError::failed(
                "the key would already have expired; pass a future date, or a number of days such as 90d",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_is_a_future_date_or_number_of_days() {
        let now: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap();
        let end =
            |text: &str| text.parse::<Expiry>().unwrap().expires_at(now).map(|end| end.to_string());
        assert_eq!(end("2027-01-31").unwrap(), "2027-01-31T00:00:00Z");
        assert_eq!(end("90d").unwrap(), "2027-02-19T12:00:00Z");
        for past in ["2026-11-21", "2020-01-01", "0d"] {
            assert!(end(past).is_err(), "{past}");
        }
        for text in ["", "d", "-1d", "90", "31.01.2027", "2027-02-30"] {
            assert!(text.parse::<Expiry>().is_err(), "{text}");
        }
    }
}
