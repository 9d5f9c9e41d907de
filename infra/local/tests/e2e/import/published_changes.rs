//! Changes to the published reports that are too small to show in the sample. The gates refuse a few
//! thousand ruined rows; correct files pass or name their waivers.

use std::{
    cell::{Cell, RefCell},
    path::Path,
};

use ingest::{Options, Outcome, Waivers};

use super::{
    full_scale,
    gates::allowed_by,
    ruined_reports::{OCN, STATE, USE, with_cell},
};
use crate::support::{databases, imports::import, small_reports::ReportTexts};

/// The text of the published reports in a folder.
fn published_texts(folder: &Path) -> ReportTexts {
    let unpacked = |name: &str| full_scale::unpacked(&folder.join(name));
    let text = |name: &str| {
        String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap()).into_owned()
    };
    ReportTexts {
        nanpa: unpacked("CoCodeAssignment_Utilized_AllStates_Public.zip"),
        cnac: unpacked("COCodeStatus_ALL.zip"),
        npa_report: text("npa_report.csv"),
        carriers: text("carriers.csv"),
    }
}

/// The report with a column's cells shifted down by a row.
fn shifted(nanpa: &str, column: usize) -> String {
    let above = RefCell::new("AS ".to_owned());
    with_cell(nanpa, column, |cells| above.replace(cells[column].to_owned()))
}

/// The report with one carrier's exchanges reassigned to another.
fn given_to(nanpa: &str, from: &str, ocn: &str) -> String {
    let cell = |cells: &[&str]| if cells[OCN].trim() == from { ocn } else { cells[OCN] }.to_owned();
    with_cell(nanpa, OCN, cell)
}

/// The report with every 25th row reassigned to one carrier.
fn sprinkled(nanpa: &str) -> String {
    let row = Cell::new(0);
    with_cell(nanpa, OCN, |cells| {
        row.set(row.get() + 1);
        if row.get() % 25 == 0 { "6529" } else { cells[OCN] }.to_owned()
    })
}

fn without_alaska(nanpa: &str) -> String {
    with_cell(nanpa, STATE, |cells| {
        if cells[STATE].trim() == "AK" { "CA" } else { cells[STATE] }.to_owned()
    })
}

/// Adds 800 exchanges in an area code that had none.
fn with_overlay(nanpa: &str) -> String {
    let template = nanpa.lines().find(|line| line.starts_with("CA")).unwrap();
    let cells: Vec<&str> = template.split('\t').collect();
    let row = |nxx: u32| template.replace(cells[1], &format!("357-{nxx}")) + "\r\n";
    nanpa.to_owned() + &(200..1000).map(row).collect::<String>()
}

#[tokio::test]
async fn small_ruins_in_published_reports_are_refused_and_correct_reports_can_pass() {
    let Some(folder) = full_scale::folder() else { return };
    let (database, published) =
        databases::with_published_reports(full_scale::sources(&folder)).await;
    assert_eq!(published.outcome, Outcome::Published);
    let (store, whole) = (database.store(), published_texts(&folder));
    let with_nanpa = |nanpa| ReportTexts { nanpa, ..whole.clone() };
    let trial = |texts, options: Options| {
        let store = &store;
        async move { import(store, &texts, Options { dry_run: true, ..options }).await.unwrap() }
    };
    let attempt = |nanpa: String| trial(with_nanpa(nanpa), Options::default());

    let nanpa = &whole.nanpa;
    for (name, ruined, expected) in [
        ("Use shifted by a row", shifted(nanpa, USE), "status of"),
        ("every 25th row of one OCN", sprinkled(nanpa), "OCN of"),
        ("Alaska in California", without_alaska(nanpa), "state would lose exchanges"),
        ("a carrier's rows of another", given_to(nanpa, "6534", "6529"), "6534 6808 of 6808"),
    ] {
        let report = attempt(ruined).await;
        let Outcome::Refused { reason, .. } = report.outcome else {
            panic!("{name}: {:?}", report.outcome)
        };
        assert!(reason.contains(expected), "{name}: no '{expected}' in\n{reason}");
    }

    let overlay = with_overlay(nanpa);
    let waivers = allowed_by("an overlay", &attempt(overlay.clone()).await);
    assert_eq!(waivers, Waivers { max_change: Some(800), ..Waivers::default() });
    let allowed = trial(with_nanpa(overlay), Options { waivers, ..Options::default() }).await;
    assert_eq!(allowed.outcome, Outcome::Planned);

    let again = import(&store, &whole, Options::default()).await.unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
}

/// A trial with the published reports does this.
#[tokio::test]
async fn the_published_reports_may_replace_the_sample() {
    let Some(folder) = full_scale::folder() else { return };
    let sample = databases::with_sample().await;
    let dry = Options { dry_run: true, ..Options::default() };
    let planned = import(&sample.store(), &published_texts(&folder), dry).await.unwrap();
    assert_eq!(planned.outcome, Outcome::Planned);
}
