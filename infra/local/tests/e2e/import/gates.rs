//! Corrupt but parseable reports: the gates refuse each, and report the changes it would make.

use std::cell::Cell;

use ingest::{ImportReport, Options, Outcome, Waivers};
use store::Store;

use super::corrupt_reports::{CORRUPTIONS, Corruption, OCN, RATE_CENTER, replace_cell};
use crate::support::{imports::import, service::Service, small_reports::ReportSet};

/// CloudWatch's size limit for a log event, since the function logs its report as one line.
const MAX_LINE_BYTES: usize = 256 * 1024;

/// Returns the reason for a refusal.
fn refusal(name: &str, report: ImportReport) -> String {
    match report.outcome {
        Outcome::Refused { reason, .. } => reason,
        other => panic!("{name}: {other:?}"),
    }
}

/// Imports a corrupt report, and asserts that it is refused for these reasons, without effect.
async fn assert_refused(store: &Store, corruption: &Corruption, reasons: &[&str]) {
    let before = store.manifest().await.unwrap();
    let mut corrupt = ReportSet::sample();
    (corruption.apply)(&mut corrupt);
    let report = import(store, &corrupt, Options::default()).await.unwrap();
    assert!(report.changes.total() > 0, "{}", corruption.name);
    let line = serde_json::to_string(&report).unwrap();
    assert!(line.len() < MAX_LINE_BYTES, "{}: {} bytes", corruption.name, line.len());
    let reason = refusal(corruption.name, report);
    for expected in reasons {
        assert!(reason.contains(expected), "{}: no '{expected}' in\n{reason}", corruption.name);
    }
    assert_eq!(store.manifest().await.unwrap(), before, "{}", corruption.name);
}

#[tokio::test]
async fn every_corrupt_report_is_refused_with_the_changes_it_would_make() {
    let service = Service::empty().await;
    let store = service.database.store();
    for corruption in CORRUPTIONS.iter().filter(|it| !it.first_import_reasons.is_empty()) {
        assert_refused(&store, corruption, corruption.first_import_reasons).await;
    }
    let intact = import(&store, &ReportSet::sample(), Options::default()).await.unwrap();
    assert_eq!(intact.outcome, Outcome::Published);
    for corruption in &CORRUPTIONS {
        assert_refused(
            &store,
            corruption,
            &[corruption.reasons, corruption.first_import_reasons].concat(),
        )
        .await;
    }
}

#[tokio::test]
async fn the_suggested_waivers_let_this_import_and_later_ones_pass() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let mut reports = ReportSet::sample();
    reports.nanpa = replace_cell(&reports.nanpa, OCN, |_| String::new());
    let refused = import(&store, &reports, Options::default()).await.unwrap();
    let Outcome::Refused { allowed_by: Some(waivers), .. } = refused.outcome else {
        panic!("{:?}", refused.outcome)
    };
    assert!(waivers.max_change.is_some() && waivers.max_suspect.is_some(), "{waivers:?}");
    let waived = Options { waivers, ..Options::default() };
    assert_eq!(import(&store, &reports, waived).await.unwrap().outcome, Outcome::Published);

    // The next import, compared with the oldest version, does not count the change again.
    reports.nanpa = replace_cell(&reports.nanpa, RATE_CENTER, |cells| {
        let is_moved = cells[1].ends_with("-234");
        if is_moved { "ELSEWHERE".to_owned() } else { cells[RATE_CENTER].to_owned() }
    });
    let suspect = Waivers { max_suspect: waivers.max_suspect, ..Waivers::default() };
    let next = Options { waivers: suspect, ..Options::default() };
    assert_eq!(import(&store, &reports, next).await.unwrap().outcome, Outcome::Published);
}

#[tokio::test]
async fn small_changes_over_several_imports_add_up_to_a_refusal() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let mut reports = ReportSet::sample();
    let first = store.manifest().await.unwrap().unwrap().current.version;
    let mut imports = Vec::new();
    for step in ["ONE", "TWO"] {
        let changed = Cell::new(0);
        reports.nanpa = replace_cell(&reports.nanpa, RATE_CENTER, |cells| {
            let is_moved = changed.get() < 15 && cells[RATE_CENTER] != "ONE";
            changed.set(changed.get() + u32::from(is_moved));
            if is_moved { step.to_owned() } else { cells[RATE_CENTER].to_owned() }
        });
        imports.push(import(&store, &reports, Options::default()).await.unwrap());
    }
    let second = imports.pop().unwrap();
    assert_eq!(imports[0].outcome, Outcome::Published);
    let reason = refusal("the second step", second);
    let expected = format!("would differ from version {first}, more than 19 in a day: rate center");
    assert!(
        reason.starts_with("30 of 2797 US exchanges") && reason.contains(&expected),
        "{reason}"
    );
}
