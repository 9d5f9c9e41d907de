mod changed;
mod plausible;

use std::sync::Arc;

use jiff::{Timestamp, ToSpan};
use numbering::records::{Carrier, CarrierType, Country, Exchange, Status, Version};
use store::{ImportedReport, Manifest, ReportName, SAMPLE_DATE};

use super::*;
use crate::quality::tests::{area_code, carrier, exchange};

/// A snapshot imported this many days after November 1, 2026.
fn snapshot(days: i64) -> Snapshot {
    let start: Timestamp = "2026-11-01T09:00:00Z".parse().unwrap();
    let imported_at = start + (24 * days).hours();
    Snapshot::of(&Dataset::default(), Version::new(imported_at), imported_at)
}

/// A report with this date, or without a date if `date` is empty.
fn dated(name: ReportName, date: &str) -> ImportedReports {
    let report = ImportedReport { date: date.parse().ok(), ..ImportedReport::default() };
    ImportedReports([(name, report)].into())
}

/// The refusals due to differences between two versions.
fn refused_changes(older: MeasuredVersion<'_>, next: MeasuredVersion<'_>) -> Vec<Refusal> {
    let quality = Quality::new(next.dataset);
    let mut refusals = run_gates(&[older], next, &quality, &Notes::default(), false);
    refusals.retain(Refusal::compares_versions);
    refusals
}

fn refusals_after(days: i64, older: &Snapshot, before: &Dataset, after: &Dataset) -> Vec<Refusal> {
    let older = MeasuredVersion { snapshot: older, dataset: before };
    refused_changes(older, MeasuredVersion { snapshot: &snapshot(days), dataset: after })
}

/// The reasons to refuse a version regardless of older ones.
fn reasons_alone(dataset: &Dataset, notes: &Notes, is_strict: bool) -> Vec<String> {
    let next = MeasuredVersion { snapshot: &snapshot(0), dataset };
    let refusals = run_gates(&[], next, &Quality::new(dataset), notes, is_strict);
    refusals.into_iter().map(|refusal| refusal.reason).collect()
}

fn npa_nxx(n: usize) -> String {
    format!("{}-{}", 201 + n / 700, 200 + n % 700)
}

fn only_exchanges(exchanges: impl Iterator<Item = Exchange>) -> Dataset {
    Dataset::new(Vec::new(), Vec::new(), exchanges.collect())
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
/// exchanges are in California instead. The first `sold` of the first carrier's belong to the last carrier.
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
fn strict_imports_refuse_any_format_change() {
    let mut notes = Notes::default();
    let reasons = |notes: &Notes, is_strict| reasons_alone(&Dataset::default(), notes, is_strict);
    assert_eq!(reasons(&notes, true), [""; 0]);
    let findings = notes.findings_mut(ReportName::Cnac);
    findings.unknown_columns.count("'Porting'");
    findings.missing_columns.count("'Use'");
    findings.unknown_values.entry("Use").or_default().count("'ZZ' on line 4");
    let zones = findings.unknown_details.entry("Zone").or_default();
    (0..100).for_each(|_| zones.count("'EST' on line 5"));
    notes.countries_without_blocks.push(Country::Ca);
    assert_eq!(reasons(&notes, false), [""; 0]);
    insta::assert_snapshot!(reasons(&notes, true).join("\n"));
}

#[test]
fn import_passes_only_if_all_refusing_gates_are_allowed() {
    use Gate::{Changes, Dates, Losses, Suspect};
    let refusals = |gates: &[Option<Gate>]| -> Vec<_> {
        gates.iter().map(|&gate| Refusal { reason: "a reason".to_owned(), gate }).collect()
    };
    let three = [Some(Changes), Some(Losses), Some(Changes)];
    for (refused, allowed, remaining, allowed_by, confirms_changes) in [
        (&three[..], &[][..], 3, Some(&[Changes, Losses][..]), false),
        (&three, &[Dates, Changes], 1, Some(&[Changes, Losses, Dates]), true),
        (&three, &[Losses, Changes], 0, Some(&[Changes, Losses]), true),
        (&[Some(Suspect), Some(Dates)], &[Dates, Suspect], 0, Some(&[Suspect, Dates]), false),
        (&[Some(Losses), None], &Gate::ALL, 1, None, true),
    ] {
        let allowed = allowed.iter().copied().collect();
        let result = GateResult::new(refusals(refused), allowed);
        assert_eq!(result.reasons.len(), remaining, "{refused:?} {allowed:?}");
        assert_eq!(result.allowed_by.as_deref(), allowed_by, "{refused:?} {allowed:?}");
        assert_eq!(result.confirms_changes, confirms_changes, "{refused:?} {allowed:?}");
    }
}

#[test]
fn files_without_a_date_older_files_and_future_files_are_refused() {
    let (midnight, late) = ("2026-11-21T00:00:00Z", "2026-11-21T23:59:59Z");
    let refusals = [
        (midnight, "2026-09-12", "2026-09-12"),
        (midnight, "", "2026-09-12"),
        (midnight, "2026-09-12", ""),
        (midnight, "2026-09-12", "2026-09-11"),
        // Elsewhere in the world, tomorrow has already started.
        (midnight, "", "2026-11-22"),
        (midnight, "", "2026-11-23"),
        (late, "", "2026-11-22"),
        (late, "", "2026-11-23"),
    ]
    .map(|(now, current, date)| {
        let reports = dated(ReportName::Cnac, date);
        let next = Snapshot { ingested_at: now.parse().unwrap(), reports, ..snapshot(0) };
        let refusals = refuse_dates(&dated(ReportName::Cnac, current), &next);
        let refusals = refusals.iter().map(|it| format!("\n  {:?}: {}", it.gate, it.reason));
        format!("{now}: '{date}' after '{current}'{}\n", refusals.collect::<String>())
    });
    insta::assert_snapshot!(refusals.concat());
}

#[test]
fn published_data_replaces_the_sample_and_starts_a_history() {
    let sample_date = SAMPLE_DATE.to_string();
    let sample = Snapshot { reports: dated(ReportName::Nanpa, &sample_date), ..snapshot(0) };
    let published = snapshot(1);
    for (current, next, is_compared) in [
        (&sample, &published, false),
        (&sample, &sample, true),
        (&published, &published, true),
        (&published, &sample, true),
    ] {
        let baseline = Baseline {
            manifest: Some(Manifest::new(None, current.clone(), |_| false)),
            dataset: Arc::default(),
            snapshot: Some(current.clone()),
            unreadable: Vec::new(),
        };
        assert_eq!(baseline.compared_with(next).is_some(), is_compared);
        assert_eq!(baseline.predecessor(next).is_some(), is_compared);
    }
}
