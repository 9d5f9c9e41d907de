//! The dates that the files state for themselves.

use jiff::{Timestamp, ToSpan, civil::Date, tz::TimeZone};
use store::FileDates;

use super::Refusal;

/// A report's name with the date it states.
fn dated(dates: FileDates) -> [(&'static str, Option<Date>); 3] {
    [
        ("the NANPA report", dates.nanpa),
        ("the CNAC report", dates.cnac),
        ("the area code database", dates.npa_report),
    ]
}

/// Refuses files of days to come: a wrong year would make every later file one that is older.
pub(super) fn refuse_future(dates: FileDates, now: Timestamp, refusals: &mut Vec<Refusal>) {
    let tomorrow = now.to_zoned(TimeZone::UTC).date().saturating_add(1.day());
    for (file, date) in dated(dates) {
        if let Some(found) = date
            && found > tomorrow
        {
            refusals.push(Refusal::Future { file, found });
        }
    }
}

/// Refuses files that are older than the current ones, or have lost their date.
pub(super) fn refuse_older(current: FileDates, next: FileDates, refusals: &mut Vec<Refusal>) {
    for ((file, current), (_, next)) in dated(current).into_iter().zip(dated(next)) {
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

    fn older(current: Option<&str>, next: Option<&str>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        refuse_older(dates(current), dates(next), &mut refusals);
        refusals
    }

    #[test]
    fn a_report_may_not_lose_its_date_nor_come_from_the_future() {
        assert_eq!(older(Some("2026-09-12"), Some("2026-09-12")), []);
        assert_eq!(older(None, Some("2026-09-12")), []);
        let undated = older(Some("2026-09-12"), None)[0].to_string();
        assert!(undated.starts_with("the CNAC report states no date"), "{undated}");
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let future = |date| {
            let mut refusals = Vec::new();
            refuse_future(dates(Some(date)), now, &mut refusals);
            refusals.len()
        };
        assert_eq!((future("2026-11-22"), future("2199-01-01")), (0, 1));
    }
}
