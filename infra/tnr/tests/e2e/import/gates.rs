//! Corrupt but parseable reports: the gates refuse each, and report the changes it would make.

use std::cell::{Cell, RefCell};

use ingest::{Gate, ImportReport, Options, Outcome};
use store::Store;

use crate::support::{imports::import, service::Service, small_reports::ReportSet};

/// Columns in NANPA's report.
const STATE: usize = 0;
const OCN: usize = 2;
const COMPANY: usize = 3;
const RATE_CENTER: usize = 4;
const USE: usize = 6;

/// CloudWatch's size limit for a log event, since the function logs its report as one line.
const MAX_LINE_BYTES: usize = 256 * 1024;

/// A way to corrupt the reports, text that the refusal must contain after an import of intact reports, and text that a first
/// import's refusal must contain. That is empty if only a previous version reveals the corruption.
type Corruption =
    (&'static str, fn(&mut ReportSet), &'static [&'static str], &'static [&'static str]);

/// Computes one cell in each data row of NANPA's report from the row's cells.
fn replace_cell(reports: &mut ReportSet, column: usize, cell: impl Fn(&[&str]) -> String) {
    let rows = reports.nanpa.split_inclusive('\n').enumerate().map(|(index, line)| {
        let cells: Vec<&str> = line.split('\t').collect();
        if index == 0 || cells.len() <= column {
            return line.to_owned();
        }
        let changed = cell(&cells);
        [&cells[..column], &[changed.as_str()], &cells[column + 1..]].concat().join("\t")
    });
    reports.nanpa = rows.collect();
}

const CORRUPTIONS: [Corruption; 11] = [
    (
        "Use shifted by one row",
        |reports| {
            let above = RefCell::new("AS ".to_owned());
            replace_cell(reports, USE, |cells| above.replace(cells[USE].to_owned()));
        },
        &["US exchanges (", "status ("],
        &[],
    ),
    (
        "every 25th row with one OCN",
        |reports| {
            let rows = Cell::new(0);
            replace_cell(reports, OCN, |cells| {
                rows.set(rows.get() + 1);
                if rows.get() % 25 == 0 { "6872" } else { cells[OCN] }.to_owned()
            });
        },
        &["US exchanges (", "ocn ("],
        &[],
    ),
    (
        "no OCN",
        |reports| replace_cell(reports, OCN, |_| String::new()),
        &["US exchanges (", "ocn (", "to none", "area codes would lose or change exchanges"],
        &["only 0 of", "US exchanges with an OCN"],
    ),
    (
        "every Use is assigned",
        |reports| replace_cell(reports, USE, |_| "AS ".to_owned()),
        &["US exchanges (", "status ("],
        &["US records would have the same status"],
    ),
    (
        "every Use is 'In Service'",
        |reports| replace_cell(reports, USE, |_| "In Service".to_owned()),
        &["US exchanges (", "would change status from 'ASSIGNED' to 'RESERVED'"],
        &["column Use:", "(100.0%) have an unknown value", "check the column order in the header"],
    ),
    (
        "one OCN",
        |reports| replace_cell(reports, OCN, |_| "6872".to_owned()),
        &["US exchanges (", "ocn ("],
        &["US records would have the same OCN"],
    ),
    (
        "unknown states",
        |reports| replace_cell(reports, STATE, |_| "ZZ".to_owned()),
        &["(100.0%) would differ from version", "state ("],
        &["column State:", "such as 'ZZ' on line 2"],
    ),
    (
        "cut off between two rows",
        |reports| {
            let lines: Vec<&str> = reports.nanpa.split_inclusive('\n').collect();
            reports.nanpa = lines[..lines.len() * 981 / 1000].concat();
        },
        &["lose or change exchanges compared with version", "check whether a file is truncated"],
        &[],
    ),
    (
        "Company and RateCenter swapped",
        |reports| {
            let (header, rows) = reports.nanpa.split_once('\n').unwrap();
            let mut names: Vec<&str> = header.split('\t').collect();
            names.swap(COMPANY, RATE_CENTER);
            reports.nanpa = format!("{}\n{rows}", names.join("\t"));
        },
        &["carriers (", "company_name (", "rate_center ("],
        &["have several company names for one OCN"],
    ),
    (
        "French statuses",
        |reports| {
            let french = reports.cnac.replace("\"In Service\"", "\"En service\"");
            reports.cnac = french.replace("\"Available\"", "\"Disponible\"");
        },
        &["CA exchanges (", "status ("],
        &["the CNAC code status, column Status:", "an unknown value"],
    ),
    (
        "full country names",
        |reports| reports.npa_report = reports.npa_report.replace(",US,", ",United States,"),
        &["have an unknown value, more than 1%, such as 'United States'"],
        &["column COUNTRY:", "'United States'"],
    ),
];

/// Returns the reason for a refusal.
fn refusal(name: &str, report: ImportReport) -> String {
    match report.outcome {
        Outcome::Refused { reason, .. } => reason,
        other => panic!("{name}: {other:?}"),
    }
}

/// Imports a corrupt report, and asserts that it is refused for these reasons, without effect.
async fn assert_refused(store: &Store, (name, corrupt, ..): &Corruption, reasons: &[&str]) {
    let before = store.manifest().await.unwrap();
    let mut reports = ReportSet::sample();
    corrupt(&mut reports);
    let report = import(store, &reports, Options::default()).await.unwrap();
    assert!(report.changes.total() > 0, "{name}");
    let line = serde_json::to_string(&report).unwrap();
    assert!(line.len() < MAX_LINE_BYTES, "{name}: {} bytes", line.len());
    let reason = refusal(name, report);
    for expected in reasons {
        assert!(reason.contains(expected), "{name}: no '{expected}' in\n{reason}");
    }
    assert_eq!(store.manifest().await.unwrap(), before, "{name}");
}

#[tokio::test]
async fn every_corrupt_report_is_refused_with_the_changes_it_would_make() {
    let service = Service::empty().await;
    let store = service.database.store();
    for corruption in CORRUPTIONS.iter().filter(|(.., first)| !first.is_empty()) {
        assert_refused(&store, corruption, corruption.3).await;
    }
    let intact = import(&store, &ReportSet::sample(), Options::default()).await.unwrap();
    assert_eq!(intact.outcome, Outcome::Published);
    for corruption in &CORRUPTIONS {
        assert_refused(&store, corruption, &[corruption.2, corruption.3].concat()).await;
    }
}

#[tokio::test]
async fn the_suggested_gates_let_this_import_and_later_ones_pass() {
    let service = Service::with_sample().await;
    let store = service.database.store();
    let mut reports = ReportSet::sample();
    replace_cell(&mut reports, OCN, |_| String::new());
    let refused = import(&store, &reports, Options::default()).await.unwrap();
    let Outcome::Refused { allowed_by: Some(gates), .. } = refused.outcome else {
        panic!("{:?}", refused.outcome)
    };
    assert_eq!(gates, [Gate::Changes, Gate::Losses, Gate::Suspect]);
    for gates in [gates, vec![Gate::Suspect]] {
        let options = Options { allow: gates.into_iter().collect(), ..Options::default() };
        let report = import(&store, &reports, options).await.unwrap();
        assert_eq!(report.outcome, Outcome::Published);
        // The next import, compared with the oldest version, does not count the change again.
        replace_cell(&mut reports, RATE_CENTER, |cells| {
            let is_moved = cells[1].ends_with("-234");
            if is_moved { "ELSEWHERE" } else { cells[RATE_CENTER] }.to_owned()
        });
    }
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
        replace_cell(&mut reports, RATE_CENTER, |cells| {
            let is_moved = changed.get() < 15 && cells[RATE_CENTER] != "ONE";
            changed.set(changed.get() + u32::from(is_moved));
            if is_moved { step } else { cells[RATE_CENTER] }.to_owned()
        });
        imports.push(import(&store, &reports, Options::default()).await.unwrap());
    }
    let second = imports.pop().unwrap();
    assert_eq!(imports[0].outcome, Outcome::Published);
    let reason = refusal("the second step", second);
    let expected = format!("would differ from version {first}, more than 19 in a day: rate_center");
    assert!(reason.starts_with("30 of 2797 US exchanges"), "{reason}");
    assert!(reason.contains(&expected), "{reason}");
}
