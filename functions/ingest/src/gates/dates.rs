//! The dates that the files state for themselves.

use jiff::{
    Timestamp,
    civil::Date,
    tz::{Offset, TimeZone},
};
use store::FileDates;

use super::Refusal;
use crate::reports::{cnac, nanpa, npa_report};

/// Each report, as messages call it, with the date it states.
fn by_file(dates: FileDates) -> [(&'static str, Option<Date>); 3] {
    [(nanpa::FILE, dates.nanpa), (cnac::FILE, dates.cnac), (npa_report::FILE, dates.npa_report)]
}

/// The time zone where a day begins first: that of the Line Islands.
const EARLIEST_OFFSET: Offset = Offset::constant(14);

/// Refuses files dated after today in every time zone: after a file with a wrong date, every later
/// file would count as older until that day.
pub(super) fn refuse_future(dates: FileDates, now: Timestamp, refusals: &mut Vec<Refusal>) {
    let latest_today = now.to_zoned(TimeZone::fixed(EARLIEST_OFFSET)).date();
    for (file, date) in by_file(dates) {
        if let Some(found) = date
            && found > latest_today
        {
            refusals.push(Refusal::Future { file, found });
        }
    }
}

/// Refuses files that are older than the current ones, or have lost their date.
pub(super) fn refuse_older(current: FileDates, next: FileDates, refusals: &mut Vec<Refusal>) {
    for ((file, current), (_, next)) in by_file(current).into_iter().zip(by_file(next)) {
        match (current, next) {
            (Some(current), Some(found)) if found < current => {
                refusals.push(Refusal::Older { file, found, current });
            }
            (Some(current), None) => refusals.push(Refusal::Undated { file, current }),
            _ => (),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(cnac: Option<&str>) -> FileDates {
        FileDates { cnac: cnac.map(|date| date.parse().unwrap()), ..FileDates::default() }
    }

    fn refusals_of_older(current: Option<&str>, next: Option<&str>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        refuse_older(dates(current), dates(next), &mut refusals);
        refusals
    }

    fn future_refusals(date: &str, now: &str) -> Vec<String> {
        let mut refusals = Vec::new();
        refuse_future(dates(Some(date)), now.parse().unwrap(), &mut refusals);
        refusals.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_report_must_not_lose_its_date() {
        assert_eq!(refusals_of_older(Some("2026-09-12"), Some("2026-09-12")), []);
        assert_eq!(refusals_of_older(None, Some("2026-09-12")), []);
        let undated = refusals_of_older(Some("2026-09-12"), None)[0].to_string();
        assert!(undated.starts_with("the CNAC code status states no date"), "{undated}");
    }

    #[test]
    fn a_file_dated_after_today_in_every_time_zone_is_refused() {
        let none = Vec::<String>::new();
        assert_eq!(future_refusals("2026-11-21", "2026-11-21T00:00:00Z"), none);
        let tomorrow = future_refusals("2026-11-22", "2026-11-21T09:59:59Z");
        let expected =
            "the CNAC code status is dated 2026-11-22; the date must not be in the future";
        assert!(tomorrow[0].starts_with(expected), "{tomorrow:?}");
        // The next day has begun on the Line Islands.
        assert_eq!(future_refusals("2026-11-22", "2026-11-21T10:00:00Z"), none);
        assert_eq!(future_refusals("2026-11-23", "2026-11-21T23:59:59Z").len(), 1);
        assert_eq!(future_refusals("2199-01-01", "2026-11-21T00:00:00Z").len(), 1);
    }
}
