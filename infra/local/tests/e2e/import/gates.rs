//! Ruined but parseable reports: the gates refuse each, and report the changes it would make.

use std::cell::Cell;

use ingest::{ImportReport, Options, Outcome, Waivers};
use store::Store;

use super::ruined_reports::{OCN, RATE_CENTER, RUINS, Ruin, with_cell};
use crate::support::{imports::import, service::Service, small_reports::ReportTexts};

/// CloudWatch's limit for one event, since the function logs its report as one line.
const MAX_LINE_BYTES: usize = 256 * 1024;

/// Returns the reason for a refusal.
fn refusal(name: &str, report: ImportReport) -> String {
    match report.outcome {
        Outcome::Refused { reason, .. } => reason,
        other => panic!("{name}: {other:?}"),
    }
}

/// Imports a ruined report, and asserts that it is refused for these reasons, without effect.
async fn assert_refused(store: &Store, ruin: &Ruin, reasons: &[&str]) {
    let before = store.manifest().await.unwrap();
    let mut ruined = ReportTexts::sample();
    (ruin.ruin)(&mut ruined);
    let report = import(store, &ruined, Options::default()).await.unwrap();
    assert!(report.changes.total() > 0, "{}", ruin.name);
    let line = serde_json::to_string(&report).unwrap();
    assert!(line.len() < MAX_LINE_BYTES, "{}: {} bytes", ruin.name, line.len());
    let reason = refusal(ruin.name, report);
    for expected in reasons {
        assert!(reason.contains(expected), "{}: no '{expected}' in\n{reason}", ruin.name);
    }
    assert_eq!(store.manifest().await.unwrap(), before, "{}", ruin.name);
}

#[tokio::test]
async fn every_ruined_report_is_refused_with_the_changes_it_would_make() {
    let service = Service::empty().await;
    let store = service.database.store();
    for ruin in RUINS.iter().filter(|ruin| !ruin.first_reasons.is_empty()) {
        assert_refused(&store, ruin, ruin.first_reasons).await;
    }
    let whole = import(&store, &ReportTexts::sample(), Options::default()).await.unwrap();
    assert_eq!(whole.outcome, Outcome::Published);
    for ruin in &RUINS {
        assert_refused(&store, ruin, &[ruin.reasons, ruin.first_reasons].concat()).await;
    }
}

#[tokio::test]
async fn the_named_waivers_let_the_import_and_later_ones_pass() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let mut texts = ReportTexts::sample();
    texts.nanpa = with_cell(&texts.nanpa, OCN, |_| String::new());
    let refused = import(&store, &texts, Options::default()).await.unwrap();
    let Outcome::Refused { allowed_by: Some(waivers), .. } = refused.outcome else {
        panic!("{:?}", refused.outcome)
    };
    assert!(waivers.max_change.is_some() && waivers.max_suspect.is_some(), "{waivers:?}");
    let waived = Options { waivers, ..Options::default() };
    assert_eq!(import(&store, &texts, waived).await.unwrap().outcome, Outcome::Published);

    // The change does not count again when the next import is compared with the oldest version.
    texts.nanpa = with_cell(&texts.nanpa, RATE_CENTER, |cells| {
        let is_moved = cells[1].ends_with("-234");
        if is_moved { "ELSEWHERE".to_owned() } else { cells[RATE_CENTER].to_owned() }
    });
    let suspect = Waivers { max_suspect: waivers.max_suspect, ..Waivers::default() };
    let next = Options { waivers: suspect, ..Options::default() };
    assert_eq!(import(&store, &texts, next).await.unwrap().outcome, Outcome::Published);
}

#[tokio::test]
async fn small_changes_over_several_imports_add_up_to_a_refusal() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let mut texts = ReportTexts::sample();
    let first = store.manifest().await.unwrap().unwrap().current.version;
    let mut reports = Vec::new();
    for step in ["ONE", "TWO"] {
        let changed = Cell::new(0);
        texts.nanpa = with_cell(&texts.nanpa, RATE_CENTER, |cells| {
            let is_moved = changed.get() < 15 && cells[RATE_CENTER] != "ONE";
            changed.set(changed.get() + u32::from(is_moved));
            if is_moved { step.to_owned() } else { cells[RATE_CENTER].to_owned() }
        });
        reports.push(import(&store, &texts, Options::default()).await.unwrap());
    }
    let second = reports.pop().unwrap();
    assert_eq!(reports[0].outcome, Outcome::Published);
    let reason = refusal("the second step", second);
    let expected = format!("would differ from version {first}, more than 19 in a day: rate center");
    assert!(
        reason.starts_with("30 of 2797 US exchanges") && reason.contains(&expected),
        "{reason}"
    );
}
