//! The lookup items and the history, compared with the newest readable version.

use indicatif::HumanCount;
use ingest::{IngestError, Progress, Repair, Verification};
use store::{DatasetError, Store};

use super::finding::{Finding, Findings, State};
use crate::{
    data::verify::{drift_kinds, history_kinds},
    error::pluralize,
    terminal::next_commands::NextCommands,
};

pub async fn check(store: &Store, progress: &dyn Fn(Progress), next: &NextCommands) -> Findings {
    match ingest::verify(store, Repair::No, None, progress).await {
        Ok(verification) => Ok(findings(&verification, next)),
        Err(
            IngestError::NothingImported | IngestError::Current(DatasetError::NoneReadable { .. }),
        ) => Ok(vec![Finding::note("items", "not compared; no version is readable")]),
        Err(error) => Err(error.into()),
    }
}

fn findings(verification: &Verification, next: &NextCommands) -> Vec<Finding> {
    let Verification { items, drift, history, .. } = verification;
    let publications = pluralize(history.publications, "publication");
    let changes = pluralize(history.changes, "change");
    let items = format!("all {} match the current version", HumanCount(*items as u64));
    let intact = format!("{publications}, {changes}, all intact");
    let kinds = [
        ("items", items, drift_kinds(drift).to_vec()),
        ("history", intact, history_kinds(history, Repair::No).to_vec()),
    ];
    let mut findings = Vec::new();
    for (check, intact, kinds) in kinds {
        let count = findings.len();
        for (kind, count, meaning) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
            let (state, remedy) = match kind {
                "unrecorded" => (State::Warning, "import --fetch"),
                "outdated" | "unreadable" | "missing" | "stray" => {
                    (State::Warning, "verify --repair")
                }
                _ => (State::Problem, "verify --repair"),
            };
            let message = format!("{} {kind}: {meaning}", HumanCount(count as u64));
            let finding = Finding::new(state, check, message).remedy(next.tnr(remedy));
            findings.push(finding.section("Verify the items"));
        }
        if findings.len() == count {
            findings.push(Finding::ok(check, intact));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use ingest::{Drift, HistoryDrift, HistoryVerification};
    use jiff::Timestamp;
    use numbering::records::Version;

    use super::*;

    #[test]
    fn contradictions_and_damaged_history_are_problems_and_other_drift_a_warning() {
        let stray = Drift { stray: 1, ..Drift::default() };
        let contradicting = Drift { contradicting: 1, missing: 2, ..Drift::default() };
        let changes = HistoryDrift { changes: 1, ..HistoryDrift::default() };
        let intact = HistoryDrift::default();
        for (drift, damage, unrecorded, expected) in [
            (Drift::default(), intact, 0, "ok items, ok history"),
            (stray, intact, 0, "warning items, ok history"),
            (contradicting, intact, 0, "problem items, warning items, ok history"),
            (Drift::default(), changes, 0, "ok items, problem history"),
            (Drift::default(), intact, 1, "ok items, warning history"),
            (Drift::default(), changes, 2, "ok items, problem history, warning history"),
        ] {
            let history =
                HistoryVerification { drift: damage, unrecorded, ..HistoryVerification::default() };
            let (version, skipped) = (Version::new(Timestamp::UNIX_EPOCH), Vec::new());
            let verification =
                Verification { version, skipped, items: 9, drift, repaired: 0, history };
            let found = findings(&verification, &NextCommands::default());
            let found: Vec<String> = found.iter().map(Finding::summary).collect();
            assert_eq!(found.join(", "), expected);
        }
    }
}
