mod baseline;
mod changed;
mod losses;
mod plausible;

use jiff::{Timestamp, ToSpan};
use numbering::records::{Carrier, CarrierType, Country, Exchange, Status, Version};
use store::{ImportedReport, ReportName};

use super::*;
use crate::quality::tests::{area_code, carrier, exchange};

/// A snapshot imported this many days after November 1, 2026.
fn snapshot(days: i64) -> Snapshot {
    let start: Timestamp = "2026-11-01T09:00:00Z".parse().unwrap();
    let imported_at = start + (24 * days).hours();
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

/// The reasons to refuse a version on its own.
fn reasons_alone(dataset: &Dataset, notes: &Notes, is_strict: bool) -> Vec<Refusal> {
    let next = snapshot(0);
    run_gates(&[], measured(&next, dataset), &Quality::new(dataset), notes, is_strict)
}

fn npa_nxx(n: usize) -> String {
    format!("{}-{}", 201 + n / 700, 200 + n % 700)
}

fn only_exchanges(exchanges: impl Iterator<Item = Exchange>) -> Dataset {
    Dataset::new(Vec::new(), Vec::new(), exchanges.collect())
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
fn carriers(
    count: u32,
    with_exchanges: u32,
    name: &str,
    carrier_type: Option<CarrierType>,
) -> Dataset {
    let carriers = (0..count).map(|n| Carrier {
        carrier_type,
        ..carrier(&format!("{n:04}"), name, u32::from(n < with_exchanges))
    });
    Dataset::new(carriers.collect(), Vec::new(), Vec::new())
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
fn strict_imports_refuse_a_single_unknown_or_missing_column_unknown_value_or_unreadable_report() {
    let reasons = |notes: &Notes, is_strict| {
        let refusals = reasons_alone(&Dataset::default(), notes, is_strict);
        assert!(refusals.iter().all(|refusal| refusal.waivers.is_none()));
        refusals.into_iter().map(|refusal| refusal.reason).collect::<Vec<_>>()
    };
    let mut notes = Notes::default();
    assert_eq!(reasons(&notes, true), [""; 0]);
    let findings = notes.in_report(ReportName::Cnac);
    findings.unknown_columns.count("'Porting'");
    findings.missing_columns.count("'Use'");
    findings.unknown_values.entry("Use").or_default().count("'ZZ' on line 4");
    let zones = findings.unknown_details.entry("Zone").or_default();
    (0..100).for_each(|_| zones.count("'EST' on line 5"));
    notes.countries_without_blocks.push(Country::Ca);
    assert_eq!(reasons(&notes, false), [""; 0]);
    let ten_zones = ["'EST' on line 5"; 10].join("; ");
    let expected = [
        "the CNAC code status: unknown columns (1): 'Porting'",
        "the CNAC code status: missing columns (1): 'Use'",
        "the CNAC code status, column Use: unknown values (1): 'ZZ' on line 4",
        &format!("the CNAC code status, column Zone: unknown values (100): {ten_zones}"),
        "the CNAC block status cannot be read; see the warnings",
    ];
    assert_eq!(reasons(&notes, true), expected);
}

#[test]
fn suggested_waivers_let_the_same_import_pass() {
    let (before, after) = (states_and_carriers(1000, 0, 0), states_and_carriers(1000, 1000, 1250));
    let refusals = refusals_after(1, &before, &after);
    let refused = GateResult::new(&refusals, Waivers::default());
    assert_eq!((refused.reasons.len(), refused.confirms_changes), (refusals.len(), false));
    assert!(refused.reasons.iter().all(|reason| !reason.contains('\n')), "one line per gate");
    let allowed_by = refused.allowed_by.unwrap();
    let allowed = GateResult::new(&refusals, allowed_by);
    assert_eq!((allowed.reasons, allowed.confirms_changes), (Vec::new(), true));
    let fewer = Waivers { max_change: allowed_by.max_change.map(|count| count - 1), ..allowed_by };
    let remaining = GateResult::new(&refusals, fewer);
    assert_eq!((remaining.reasons.len(), remaining.allowed_by), (1, Some(allowed_by)));
}

#[test]
fn files_without_a_date_older_files_and_future_files_are_refused() {
    let refuse = |now: &str, current: &str, next: &str| {
        let reports = dated(ReportName::Cnac, next);
        let next = Snapshot { ingested_at: now.parse().unwrap(), reports, ..snapshot(0) };
        refuse_dates(&dated(ReportName::Cnac, current), &next)
    };
    let (midnight, late) = ("2026-11-21T00:00:00Z", "2026-11-21T23:59:59Z");
    let future = "the date must not be in the future";
    for (now, current, next, expected) in [
        (midnight, "2026-09-12", "2026-09-12", ""),
        (midnight, "", "2026-09-12", ""),
        (midnight, "2026-09-12", "", "has no date, but the current data is dated 2026-09-12"),
        (midnight, "2026-09-12", "2026-09-11", "older than the current data (2026-09-12)"),
        // Tomorrow has already started elsewhere.
        (midnight, "", "2026-11-22", ""),
        (midnight, "", "2026-11-23", future),
        (late, "", "2026-11-22", ""),
        (late, "", "2026-11-23", future),
    ] {
        let refusals = refuse(now, current, next);
        assert_eq!(refusals.len(), usize::from(!expected.is_empty()), "{next}: {refusals:?}");
        for Refusal { reason, .. } in refusals {
            assert!(reason.starts_with("the CNAC code status ") && reason.contains(expected));
        }
    }
    let all = Waivers { max_change: Some(u32::MAX), allow_older: true, ..Waivers::default() };
    let result = GateResult::new(&refuse(midnight, "", "2199-01-01"), all);
    assert_eq!((result.reasons.len(), result.allowed_by), (1, None), "no waiver allows it");
    let older_from_today = GateResult::new(&refuse(midnight, "2026-11-22", "2026-11-21"), all);
    assert_eq!(older_from_today.reasons, [""; 0]);
}
