//! The dates that the files state for themselves.

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use store::FileDates;

use super::Refusal;
use crate::reports::{cnac, nanpa, npa_report};

/// Each report, as messages call it, with the date it states.
fn by_file(dates: FileDates) -> [(&'static str, Option<Date>); 3] {
    [(nanpa::FILE, dates.nanpa), (cnac::FILE, dates.cnac), (npa_report::FILE, dates.npa_report)]
}

/// Refuses files that are dated later than tomorrow: after a file with a wrong year, every later file
/// would count as older.
pub(super) fn refuse_future(dates: FileDates, now: Timestamp, refusals: &mut Vec<Refusal>) {
    let tomorrow = now.to_zoned(TimeZone::UTC).date().saturating_add(1.day());
    for (file, date) in by_file(dates) {
        if let Some(found) = date
            && found > tomorrow
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

    #[test]
    fn a_report_must_not_lose_its_date_nor_be_dated_in_the_future() {
        assert_eq!(refusals_of_older(Some("2026-09-12"), Some("2026-09-12")), []);
        assert_eq!(refusals_of_older(None, Some("2026-09-12")), []);
        let undated = refusals_of_older(Some("2026-09-12"), None)[0].to_string();
        assert!(undated.starts_with("the CNAC code status states no date"), "{undated}");
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let future = |date| {
            let mut refusals = Vec::new();
            refuse_future(dates(Some(date)), now, &mut refusals);
            refusals.len()
        };
        assert_eq!((future("2026-11-22"), future("2199-01-01")), (0, 1));
    }
}
