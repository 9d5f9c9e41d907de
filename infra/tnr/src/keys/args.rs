//! Arguments for the `keys` command.

use std::str::FromStr;

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};
use store::KeyRecord;

use crate::{CliError, database::args::DataArgs};

#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Create a key and print it; it cannot be shown again
    Create {
        /// Client or purpose of the key
        #[arg(long)]
        name: String,
        /// Create a test key, for which test numbers have fixed outcomes
        #[arg(long)]
        test: bool,
        #[command(flatten)]
        terms: KeyTerms,
        #[command(flatten)]
        data: DataArgs,
    },
    /// List all keys
    List(DataArgs),
    /// Replace the key that starts with PREFIX; both keys work during the overlap and share one
    /// quota
    Rotate {
        #[command(flatten)]
        key: KeyArgs,
        /// When the old key expires: a date, or a number of days such as 7d
        #[arg(long, value_name = "WHEN", default_value = "7d")]
        overlap: Expiry,
    },
    /// Revoke the key that starts with PREFIX; it stops working within a minute
    Revoke(KeyArgs),
    /// Delete the key that starts with PREFIX, including its name and note; revoke it first
    Delete(KeyArgs),
}

#[derive(Debug, Args)]
pub struct KeyArgs {
    /// First characters of the key, as shown by 'tnr keys list'
    pub prefix: String,
    #[command(flatten)]
    pub data: DataArgs,
}

#[derive(Debug, Clone, Args)]
pub struct KeyTerms {
    /// Note to show in the list of keys
    #[arg(long)]
    pub note: Option<String>,
    /// When the key expires: a date such as 2027-01-31 (midnight UTC), or a number of days such as
    /// 90d [default: never]
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<Expiry>,
    /// Maximum requests per minute [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_minute: Option<u32>,
    /// Maximum requests per 24 hours [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_day: Option<u32>,
}

impl KeyTerms {
    pub fn with_quotas(&self, record: KeyRecord) -> KeyRecord {
        let &Self { per_minute, per_day, .. } = self;
        KeyRecord { per_minute, per_day, ..record }
    }
}

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
