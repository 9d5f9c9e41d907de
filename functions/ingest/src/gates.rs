//! What an import must not do to the data, however well the files read.

use std::{fmt, str::FromStr};

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use serde::Deserialize;
use shared::{
    dataset::Dataset,
    records::Country,
    store::{FileDates, Snapshot},
};

use crate::Options;

/// Why the data stays as it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{what} would shrink from {before} to {after}, by more than {most_percent} %; \
         is a file cut off or left out? Raise --max-shrink if it is right"
    )]
    Shrunk { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{file} is of {found}, older than that of {current} in force; \
         give --allow-older if it is right"
    )]
    Older { file: &'static str, found: Date, current: Date },
    #[error(
        "{file} states no date, and that in force is of {current}; give --allow-older if it is right"
    )]
    Undated { file: &'static str, current: Date },
    #[error("{file} is of {found}, which is yet to come")]
    Future { file: &'static str, found: Date },
}

/// What is counted of a version.
pub(crate) struct Counted<'a> {
    pub snapshot: &'a Snapshot,
    pub dataset: &'a Dataset,
}

/// A share, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Percent(f64);

/// A number that is no share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 0 to 100")]
pub struct NoPercent;

impl Percent {
    pub(crate) const fn of(percent: u8) -> Self {
        Self(percent as f64)
    }

    fn percent(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Percent {
    type Error = NoPercent;

    fn try_from(percent: f64) -> Result<Self, NoPercent> {
        (0.0..=100.0).contains(&percent).then_some(Self(percent)).ok_or(NoPercent)
    }
}

impl FromStr for Percent {
    type Err = NoPercent;

    fn from_str(text: &str) -> Result<Self, NoPercent> {
        text.parse::<f64>().map_err(|_| NoPercent)?.try_into()
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Counted<'_> {
    /// Each count an import must not cut down.
    fn counts(&self) -> Vec<(String, u32)> {
        let records = Country::ALL.map(|country| {
            let count =
                self.snapshot.statistics.by_country.get(&country).copied().unwrap_or_default();
            (format!("the records of {country}"), count)
        });
        let carriers = self.dataset.carriers();
        let typed = carriers.iter().filter(|carrier| carrier.carrier_type.is_some()).count();
        let others = [
            ("the carriers".to_owned(), carriers.len() as u32),
            ("the carriers of known type".to_owned(), typed as u32),
            ("the area codes".to_owned(), self.dataset.area_codes().len() as u32),
            ("the thousands blocks".to_owned(), self.dataset.block_count() as u32),
        ];
        records.into_iter().chain(others).collect()
    }
}

/// Checks what `next`, of files with these dates, would do to the data in force, if there is any.
///
/// # Errors
/// The first rule that it breaks.
pub(crate) fn check(
    current: Option<Counted<'_>>,
    next: &Counted<'_>,
    options: &Options,
) -> Result<(), Refusal> {
    refuse_future(next.snapshot.file_dates, options.now)?;
    let Some(current) = current else { return Ok(()) };
    if !options.allow_older {
        refuse_older(current.snapshot.file_dates, next.snapshot.file_dates)?;
    }
    let counts = current.counts().into_iter().zip(next.counts());
    let most_percent = options.max_shrink.percent();
    let shrunk = counts.map(|((what, before), (_, after))| (what, before, after)).find(
        |&(_, before, after)| {
            let lost = f64::from(before.saturating_sub(after));
            100.0 * lost > most_percent * f64::from(before)
        },
    );
    match shrunk {
        Some((what, before, after)) => Err(Refusal::Shrunk { what, before, after, most_percent }),
        None => Ok(()),
    }
}

/// A report's name with the date it states.
fn dated(dates: FileDates) -> [(&'static str, Option<Date>); 3] {
    [
        ("the NANPA report", dates.nanpa),
        ("the CNAC report", dates.cnac),
        ("the area code database", dates.npa_report),
    ]
}

/// A wrong year would make every later file one that is older.
fn refuse_future(dates: FileDates, now: Timestamp) -> Result<(), Refusal> {
    let tomorrow = now.to_zoned(TimeZone::UTC).date().saturating_add(1.day());
    let future = dated(dates).into_iter().filter_map(|(file, date)| Some((file, date?)));
    match future.into_iter().find(|&(_, date)| date > tomorrow) {
        Some((file, found)) => Err(Refusal::Future { file, found }),
        None => Ok(()),
    }
}

fn refuse_older(current: FileDates, next: FileDates) -> Result<(), Refusal> {
    for ((file, current), (_, next)) in dated(current).into_iter().zip(dated(next)) {
        match (current, next) {
            (Some(current), Some(found)) if found < current => {
                return Err(Refusal::Older { file, found, current });
            }
            (Some(current), None) => return Err(Refusal::Undated { file, current }),
            _ => (),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_one() {
        assert_eq!("2.5".parse(), Ok(Percent(2.5)));
        for text in ["nan", "-1", "101", "inf", "", "two"] {
            assert_eq!(text.parse::<Percent>(), Err(NoPercent), "{text}");
        }
    }

    fn dates(cnac: Option<&str>) -> FileDates {
        FileDates { cnac: cnac.map(|date| date.parse().unwrap()), ..FileDates::default() }
    }

    #[test]
    fn a_report_may_not_lose_its_date_nor_come_from_the_future() {
        let current = dates(Some("2026-09-12"));
        assert!(refuse_older(current, dates(Some("2026-09-12"))).is_ok());
        assert!(refuse_older(dates(None), current).is_ok());
        let undated = refuse_older(current, dates(None)).unwrap_err().to_string();
        assert!(undated.starts_with("the CNAC report states no date"), "{undated}");
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        assert!(refuse_future(dates(Some("2026-11-22")), now).is_ok());
        assert!(refuse_future(dates(Some("2199-01-01")), now).is_err());
    }
}
