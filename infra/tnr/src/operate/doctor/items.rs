//! The lookup items and the history, compared with the newest readable version.

use indicatif::HumanCount;
use ingest::{HistoryDrift, HistoryVerification, IngestError, Progress, Repair, Verification};
use store::{DatasetError, Store};

use super::finding::{Finding, Findings, State};
use crate::{data::verify::drift_kinds, error::pluralize, terminal::next_commands::NextCommands};

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
    let repair = || next.tnr("verify --repair");
    let mut findings = Vec::new();
    for (kind, count, meaning) in drift_kinds(drift).into_iter().filter(|(_, count, _)| *count > 0)
    {
        let state = if kind == "contradicting" { State::Problem } else { State::Warning };
        let message = format!("{} {kind}: {meaning}", HumanCount(count as u64));
        findings.push(Finding::new(state, "items", message).remedy(repair()));
    }
    if findings.is_empty() {
        let message = format!("all {} match the current version", HumanCount(*items as u64));
        findings.push(Finding::ok("items", message));
    }
    let HistoryVerification { publications, changes, drift, unrecorded, .. } = history;
    if drift.total() > 0 {
        let HistoryDrift { publications, differences, changes } = *drift;
        let message = format!(
            "missing or damaged: {}, {}, {}; requests that need them fail",
            pluralize(publications, "publication"),
            pluralize(differences, "difference"),
            pluralize(changes, "change")
        );
        findings.push(Finding::problem("history", message).remedy(repair()));
    }
    if *unrecorded > 0 {
        let message = format!(
            "the changes of {} are missing; requests for earlier days fail until the next import",
            pluralize(*unrecorded, "publication")
        );
        let finding = Finding::warning("history", message);
        findings.push(finding.remedy(next.tnr("import --fetch")));
    }
    if drift.total() == 0 && *unrecorded == 0 {
        let publications = pluralize(*publications, "publication");
        let message = format!("{publications}, {}, all intact", pluralize(*changes, "change"));
        findings.push(Finding::ok("history", message));
    }
    let advise =
        |it: Finding| if it.remedy.is_some() { it.section("Verify the items") } else { it };
    findings.into_iter().map(advise).collect()
}

#[cfg(test)]
mod tests {
    use ingest::Drift;
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
