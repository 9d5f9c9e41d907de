mod losses;
mod plausible;

use jiff::{Timestamp, ToSpan};
use numbering::records::{
    AreaCode, BlockHolder, Carrier, CarrierType, Country, Exchange, Status, Version,
};
use store::ImportedReport;

use super::*;
use crate::quality::tests::{area_code, carrier, exchange};

/// The import time of the older versions.
const BEFORE: &str = "2026-11-01T09:00:00Z";

/// A snapshot imported this many days after [`BEFORE`].
fn snapshot(days: i64) -> Snapshot {
    let imported_at = BEFORE.parse::<Timestamp>().unwrap() + (24 * days).hours();
    let statistics = Dataset::default().statistics();
    let version = Version::new(imported_at);
    Snapshot::new(version, b"", statistics, ImportedReports::default(), imported_at)
}

/// A report's date; none if `date` is empty.
fn dated(name: ReportName, date: &str) -> ImportedReports {
    let report = ImportedReport { date: date.parse().ok(), ..ImportedReport::default() };
    ImportedReports([(name, report)].into())
}

fn measured<'a>(snapshot: &'a Snapshot, dataset: &'a Dataset) -> MeasuredVersion<'a> {
    MeasuredVersion { snapshot, dataset }
}

fn refused_changes(older: &[MeasuredVersion<'_>], next: MeasuredVersion<'_>) -> Vec<Refusal> {
    let mut refusals =
        run_gates(older, next, &Quality::new(next.dataset), &Notes::default(), false);
    refusals.retain(|refusal| refusal.compares_versions);
    refusals
}

fn refusals_after(days: i64, before: &Dataset, after: &Dataset) -> Vec<Refusal> {
    refused_changes(&[measured(&snapshot(0), before)], measured(&snapshot(days), after))
}

/// The refusals for an import a day later, one per line.
fn refusals(before: &Dataset, after: &Dataset) -> String {
    let reasons = refusals_after(1, before, after).into_iter().map(|refusal| refusal.reason);
    reasons.collect::<Vec<_>>().join("\n")
}

fn npa_nxx(n: usize) -> String {
    format!("{}-{}", 201 + n / 700, 200 + n % 700)
}

/// A version with `count` exchanges in one area code; the first `with_ocn` have an OCN.
fn exchanges(count: usize, with_ocn: usize) -> Dataset {
    let exchanges = (200..).take(count).enumerate().map(|(n, nxx)| {
        let ocn = (n < with_ocn).then_some("0051");
        Exchange {
            company_name: Some("A".to_owned()),
            ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
        }
    });
    Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges.collect())
}

/// A version with `count` carriers; the first `with_exchanges` hold exchanges.
fn carriers(count: u32, with_exchanges: u32, carrier_type: Option<CarrierType>) -> Dataset {
    let carriers = (0..count).map(|n| Carrier {
        carrier_type,
        ..carrier(&format!("{n:04}"), "A", u32::from(n < with_exchanges))
    });
    Dataset::new(carriers.collect(), Vec::new(), Vec::new())
}

#[test]
fn allowed_changes_grow_with_days_and_are_at_least_19() {
    let allowed = |records, days| changed::allowed_changes(records, days);
    let us = [1, 4, 30, 85, 1000].map(|days| allowed(202_468, Some(days)));
    assert_eq!(us, [648, 769, 1822, 4049, 4049]);
    assert_eq!((allowed(44_000, Some(1)), allowed(3084, None)), (141, 62));
    assert_eq!([0, 100, 3484].map(|records| allowed(records, Some(1))), [19; 3]);
}

#[test]
fn fewer_than_twenty_changes_are_not_refused() {
    assert_eq!(refusals(&exchanges(60, 60), &exchanges(60, 41)), "");
    let changed = refusals(&exchanges(60, 60), &exchanges(60, 15));
    for expected in [
        "45 of 60 US exchanges (75.0%) would differ from version 20261101",
        ", more than 19 in a day: OCN (45); 415-215 would change OCN from '0051' to none; check",
        "1 area code would lose or change exchanges",
        "415 45 of 60",
    ] {
        assert!(changed.contains(expected), "{changed}");
    }
}

#[test]
fn version_with_over_twice_the_exchanges_is_not_compared() {
    assert_eq!(refusals(&exchanges(40, 40), &exchanges(81, 0)), "");
    assert_ne!(refusals(&exchanges(40, 40), &exchanges(80, 0)), "");
}

#[test]
fn carriers_differ_if_they_lose_their_exchanges_or_change_type() {
    let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec].map(Some);
    let original = carriers(60, 60, ilec);
    assert_eq!(
        refusals(&carriers(60, 60, None), &original),
        "",
        "the first overlay sets all types"
    );
    for (next, expected) in [
        (carriers(60, 30, ilec), "30 of 60 carriers (50.0%) would differ from version"),
        (carriers(60, 30, ilec), "more than 19: number of exchanges (30)"),
        (
            carriers(60, 60, clec),
            "more than 19: type (60); 0000 would change type from 'ILEC' to 'CLEC'",
        ),
        (
            Dataset::new(
                (0..60).map(|n| carrier(&format!("{n:04}"), "B\u{1b}[31m", 1)).collect(),
                Vec::new(),
                Vec::new(),
            ),
            "company name from 'A' to 'B[31m'",
        ),
    ] {
        let changed = refusals(&original, &next);
        assert!(changed.contains(expected) && !changed.contains('\n'), "{changed}");
    }
}

/// A version with three exchanges that have ten thousands blocks each. `holder_of` chooses the holder of each block.
fn blocks(holder_of: impl Fn(usize) -> Option<&'static str>) -> Dataset {
    let holder = |ocn: &str| BlockHolder {
        ocn: ocn.parse().unwrap(),
        company_name: None,
        carrier_type: None,
        rate_center: None,
        effective: None,
    };
    let exchanges = (0..3).map(|n| {
        let held = (0..10).filter_map(|digit| Some((digit, holder_of(10 * n + digit)?)));
        Exchange {
            blocks: held.map(|(digit, ocn)| (digit as u8, holder(ocn))).collect(),
            ..exchange(&npa_nxx(n), Some("0051"), "SNFC", Status::Assigned)
        }
    });
    let exchanges = exchanges.collect();
    let carriers = ["0051", "0052", "0053"].map(|ocn| carrier(ocn, ocn, 1)).to_vec();
    Dataset::new(carriers, Vec::new(), exchanges)
}

#[test]
fn blocks_differ_if_they_change_their_holder_or_disappear() {
    let original = blocks(|_| Some("0052"));
    let sold = |count| blocks(move |n| Some(if n < count { "0053" } else { "0052" }));
    let lost = |count| blocks(move |n| (n >= count).then_some("0052"));
    for (next, expected) in [
        (sold(19), ""),
        (lost(19), ""),
        (sold(20), "19: OCN (20); 201-200-0 would change OCN from '0052' to '0053'; check"),
        (lost(20), "19: removal (20); 201-200-0 would be removed; check"),
        (lost(20), "20 of 30 thousands blocks (66.7%) would differ"),
    ] {
        let changed = refusals(&original, &next);
        assert_eq!(changed.is_empty(), expected.is_empty(), "{changed}");
        assert!(changed.contains(expected), "{changed}");
    }
    assert_eq!(refusals(&lost(30), &original), "", "new blocks are not counted");
    assert_eq!(refusals(&lost(15), &original), "", "new blocks are not counted");
}

/// Ten states with `per_state` exchanges each, and eight carriers of the same size. The first `moved` of Alaska's
/// exchanges are in California; the first `sold` of the first carrier's belong to the last carrier.
fn states_and_carriers(per_state: usize, moved: usize, sold: usize) -> Dataset {
    const STATES: [&str; 10] = ["AK", "CA", "FL", "HI", "ME", "ND", "NY", "RI", "TX", "WY"];
    let exchanges = (0..10 * per_state).map(|n| {
        let state = if n < moved { "CA" } else { STATES[n / per_state] };
        let ocn = if n % 8 == 0 && n / 8 < sold { 7 } else { n % 8 };
        Exchange {
            state: Some(state.parse().unwrap()),
            ..exchange(&npa_nxx(n), Some(&format!("000{ocn}")), "SNFC", Status::Assigned)
        }
    });
    let carriers = (0..8).map(|ocn| carrier(&format!("000{ocn}"), "A", 1250));
    Dataset::new(carriers.collect(), Vec::new(), exchanges.collect())
}

#[test]
fn renamed_company_differs_once_and_not_in_each_of_its_exchanges() {
    let version = |name: &str, ocn: Option<&str>| {
        let exchanges = (200..260).map(|nxx| Exchange {
            company_name: Some(name.to_owned()),
            ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
        });
        let exchanges = exchanges.collect();
        Dataset::new(vec![carrier("0051", name, 60)], Vec::new(), exchanges)
    };
    let renamed = |ocn| refusals(&version("A", ocn), &version("B", ocn));
    assert_eq!(renamed(Some("0051")), "");
    let without_ocn = renamed(None);
    let expected = "company (60); 415-200 would change company from 'A' to 'B'";
    assert!(without_ocn.contains(expected), "{without_ocn}");
}

#[test]
fn area_codes_differ_if_they_change_their_state_but_not_if_they_get_one() {
    let version = |state: Option<&str>| {
        let area_codes = (201..261).map(|npa| AreaCode {
            state: state.map(|state| state.parse().unwrap()),
            ..area_code(&npa.to_string(), 0)
        });
        Dataset::new(Vec::new(), area_codes.collect(), Vec::new())
    };
    assert_eq!(refusals(&version(None), &version(Some("CA"))), "");
    let moved = refusals(&version(Some("CA")), &version(Some("NV")));
    let expected = "60 of 60 area codes (100.0%) would differ";
    assert!(moved.contains(expected) && moved.contains("state (60); 201 would"), "{moved}");
}

#[test]
fn more_days_between_imports_or_reports_allow_more_changes() {
    let (before, after) = (states_and_carriers(1000, 0, 0), states_and_carriers(1000, 100, 0));
    let is_count = |refusal: &Refusal| refusal.reason.contains("US exchanges (");
    let changed = |days| refusals_after(days, &before, &after).iter().any(is_count);
    // 100 of 10,000 is 1%, which is allowed after 35 days.
    assert_eq!([1, 34, 35, 400].map(changed), [true, true, false, false]);
    let dated_snapshot =
        |days, date: &str| Snapshot { reports: dated(ReportName::Nanpa, date), ..snapshot(days) };
    let (older, next) = (dated_snapshot(0, "2026-09-20"), dated_snapshot(1, "2026-11-01"));
    let refused = refused_changes(&[measured(&older, &before)], measured(&next, &after));
    assert!(!refused.iter().any(is_count), "{refused:?}");
}

#[test]
fn new_unassigned_exchanges_are_not_counted() {
    let version_with = |count, status| {
        let new = (0..count).map(|n| exchange(&format!("416-{}", 200 + n), None, "", status));
        let old =
            (0..500).map(|n| exchange(&format!("415-{}", 200 + n), None, "", Status::Assigned));
        Dataset::new(Vec::new(), Vec::new(), old.chain(new).collect())
    };
    let before = version_with(0, Status::Assigned);
    assert_eq!(refusals(&before, &version_with(400, Status::Unassigned)), "");
    let assigned = refusals(&before, &version_with(400, Status::Assigned));
    assert!(assigned.contains("addition (400); 416-200 would be added"), "{assigned}");
}

#[test]
fn strict_imports_refuse_a_single_unknown_or_missing_column_unknown_value_or_unreadable_report() {
    let (snapshot, dataset) = (snapshot(0), Dataset::default());
    let reasons = |notes: &Notes, is_strict| {
        let next = measured(&snapshot, &dataset);
        let refusals = run_gates(&[], next, &Quality::default(), notes, is_strict);
        assert!(refusals.iter().all(|refusal| refusal.waivers.is_none()));
        refusals.into_iter().map(|refusal| refusal.reason).collect::<Vec<_>>()
    };
    let mut notes = Notes::default();
    assert_eq!(reasons(&notes, true), <[&str; 0]>::default());
    notes.warn_unknown_column("a report", "Porting");
    notes.note_missing_column("a report", "Use");
    notes.warn_unknown_value("a report", "Use", "is unknown", "'ZZ' on line 4");
    (0..100).for_each(|_| notes.warn_unknown_detail("a report", "Zone", "'EST' on line 5"));
    notes.countries_without_blocks.push(Country::Ca);
    assert_eq!(reasons(&notes, false), <[&str; 0]>::default());
    let ten_zones = ["'EST' on line 5"; 10].join("; ");
    let expected = [
        "a report: unknown columns (1): 'Porting'",
        "a report: missing columns (1): 'Use'",
        "a report, column Use: unknown values (1): 'ZZ' on line 4",
        &format!("a report, column Zone: unknown values (100): {ten_zones}"),
        "the CNAC block status cannot be read; see the warnings",
    ];
    assert_eq!(reasons(&notes, true), expected);
}

#[test]
fn suggested_waivers_let_the_same_import_pass() {
    let (before, after) = (states_and_carriers(1000, 0, 0), states_and_carriers(1000, 1000, 1250));
    let refusals = refusals_after(1, &before, &after);
    let refused = Verdict::new(&refusals, Waivers::default());
    assert_eq!((refused.reasons.len(), refused.confirms_changes), (refusals.len(), false));
    assert!(refused.reasons.iter().all(|reason| !reason.contains('\n')), "one line per gate");
    let allowed_by = refused.allowed_by.unwrap();
    let allowed = Verdict::new(&refusals, allowed_by);
    assert_eq!((allowed.reasons, allowed.confirms_changes), (Vec::new(), true));
    let fewer = Waivers { max_change: allowed_by.max_change.map(|count| count - 1), ..allowed_by };
    let remaining = Verdict::new(&refusals, fewer);
    assert_eq!((remaining.reasons.len(), remaining.allowed_by), (1, Some(allowed_by)));
}

#[test]
fn files_without_a_date_older_files_and_future_files_are_refused() {
    let dates = |cnac: &str| dated(ReportName::Cnac, cnac);
    let refuse = |now: &str, current: &str, next: &str| {
        let ingested_at = now.parse().unwrap();
        let next = Snapshot { ingested_at, reports: dates(next), ..snapshot(0) };
        refuse_dates(&dates(current), &next)
    };
    let (now, future) = ("2026-11-21T09:59:59Z", "; the date must not be in the future");
    for (now, current, next, expected) in [
        (now, "2026-09-12", "2026-09-12", ""),
        (now, "", "2026-09-12", ""),
        (now, "2026-09-12", "", "has no date, but the current data is dated"),
        (now, "2026-09-12", "2026-09-11", "older than the current data (2026-09-12)"),
        (now, "", "2026-11-21", ""),
        (now, "", "2026-11-22", future),
        // The next day has started on the Line Islands.
        ("2026-11-21T10:00:00Z", "", "2026-11-22", ""),
        ("2026-11-21T23:59:59Z", "", "2026-11-23", future),
    ] {
        let refusals = refuse(now, current, next);
        let case = format!("{current} {next}: {refusals:?}");
        assert_eq!(refusals.len(), usize::from(!expected.is_empty()), "{case}");
        let is_expected =
            |reason: &str| reason.starts_with("the CNAC code status ") && reason.contains(expected);
        assert!(refusals.iter().all(|refusal| is_expected(&refusal.reason)), "{case}");
    }
    let all = Waivers { max_change: Some(u32::MAX), allow_older: true, ..Waivers::default() };
    let verdict = Verdict::new(&refuse(now, "", "2199-01-01"), all);
    assert_eq!((verdict.reasons.len(), verdict.allowed_by), (1, None), "no waiver allows it");
    let older_from_today = Verdict::new(&refuse(now, "2026-11-22", "2026-11-21"), all);
    assert_eq!(older_from_today.reasons, [""; 0]);
}
