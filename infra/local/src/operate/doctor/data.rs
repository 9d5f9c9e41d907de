//! The data: its age, unreadable versions, and drift.

use std::collections::BTreeMap;

use indicatif::HumanCount;
use ingest::{
    Drift, HistoryDrift, HistoryVerification, IngestError, Progress, Repair, Verification,
};
use jiff::{SignedDuration, Timestamp};
use logging::with_causes;
use numbering::{records::Version, time::date_of};
use store::{DatasetError, Manifest, ReportName, Snapshot, Store, load};

use crate::error::pluralize;

use super::{
    facts::FactResult,
    finding::{Finding, State, section},
    remedies::Remedies,
};

#[derive(Debug)]
pub struct DataFacts {
    /// `None` before the first import.
    pub manifest: Option<Manifest>,
    /// The reasons by version.
    pub unreadable: BTreeMap<Version, String>,
}

/// Reads the manifest and every version it lists.
pub async fn gather(store: &Store) -> FactResult<DataFacts> {
    let manifest = store.manifest().await?;
    let mut unreadable = BTreeMap::new();
    for snapshot in manifest.iter().flat_map(Manifest::snapshots) {
        match load(store, snapshot).await {
            Ok(_) => (),
            Err(DatasetError::Unreadable { version, source }) => {
                unreadable.insert(version, with_causes(&source));
            }
            Err(error) => return Err(IngestError::from(error).into()),
        }
    }
    Ok(DataFacts { manifest, unreadable })
}

/// Compares every lookup item with the newest readable version, if any.
pub async fn compare_items(
    store: &Store,
    progress: &dyn Fn(Progress),
) -> FactResult<Option<Verification>> {
    match ingest::verify(store, Repair::No, None, progress).await {
        Ok(verification) => Ok(Some(verification)),
        Err(
            IngestError::NothingImported | IngestError::Current(DatasetError::NoneReadable { .. }),
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The ages in days beyond which an import or a report is too old.
#[derive(Debug, PartialEq, Eq)]
pub struct AgeLimits {
    pub import_days: i64,
    /// Limits that differ from the publisher's rhythm.
    pub report_days: BTreeMap<ReportName, i64>,
}

impl Default for AgeLimits {
    fn default() -> Self {
        Self { import_days: 3, report_days: BTreeMap::new() }
    }
}

impl AgeLimits {
    /// `None` for a report without a rhythm.
    pub fn for_report(&self, report: ReportName) -> Option<i64> {
        self.report_days.get(&report).copied().or_else(|| report.max_age_days())
    }
}

pub fn findings(
    facts: &DataFacts,
    now: Timestamp,
    limits: &AgeLimits,
    remedies: &Remedies,
) -> Vec<Finding> {
    let Some(manifest) = &facts.manifest else {
        let finding = Finding::problem("data", "nothing has been imported")
            .remedy(remedies.tnr("import --fetch"))
            .section(section::FIRST_IMPORT_AND_KEY);
        return vec![finding];
    };
    let mut findings = vec![age_finding(manifest, now, limits.import_days, remedies)];
    findings.extend(report_findings(&manifest.current, now, limits, remedies));
    let unreadable = facts.unreadable.iter();
    findings.extend(unreadable.map(|(version, reason)| {
        unreadable_version(version, reason, &facts.unreadable, manifest, remedies)
    }));
    if facts.unreadable.is_empty() {
        let versions = 1 + manifest.retained.len();
        findings.push(Finding::ok("versions", format!("all {versions} are readable")));
    }
    findings
}

fn age_finding(manifest: &Manifest, now: Timestamp, max_days: i64, remedies: &Remedies) -> Finding {
    let imported = manifest.current.ingested_at;
    let hours = now.duration_since(imported).as_hours();
    let hours = HumanCount(hours.unsigned_abs());
    let records = HumanCount(manifest.current.statistics.total_records.into());
    let message = format!("imported at {imported}, {hours} hours ago; {records} exchanges");
    if now.duration_since(imported) <= SignedDuration::from_hours(24 * max_days) {
        return Finding::ok("age", message);
    }
    let message = format!("no import has succeeded in {}; {message}", in_days(max_days));
    Finding::new(too_old(remedies), "age", message)
        .remedy(remedies.tnr("import --fetch"))
        .section(section::DATA_TOO_OLD)
}

fn in_days(days: i64) -> String {
    pluralize(usize::try_from(days).unwrap_or_default(), "day")
}

/// A stack imports every night.
fn too_old(remedies: &Remedies) -> State {
    if remedies.is_stack() { State::Problem } else { State::Warning }
}

/// A finding for each report with a date. The sample's date is made up.
fn report_findings(
    current: &Snapshot,
    now: Timestamp,
    limits: &AgeLimits,
    remedies: &Remedies,
) -> Vec<Finding> {
    if current.is_sample() {
        return Vec::new();
    }
    let reports = current.reports.0.iter().filter_map(|(name, report)| {
        let (date, max_days) = (report.date?, limits.for_report(*name)?);
        let days = i64::from((date_of(now) - date).get_days());
        let message = format!("dated {date}, {} ago", in_days(days));
        if days <= max_days {
            return Some(Finding::ok(name.to_string(), message));
        }
        let message = format!("more than {} old; {message}", in_days(max_days));
        let finding = Finding::new(too_old(remedies), name.to_string(), message);
        Some(finding.remedy(remedies.tnr("sources")).section(section::PUBLISHER_STALLED))
    });
    reports.collect()
}

fn unreadable_version(
    version: &Version,
    reason: &str,
    unreadable: &BTreeMap<Version, String>,
    manifest: &Manifest,
    remedies: &Remedies,
) -> Finding {
    let check = format!("version {version}");
    if manifest.current.version != *version {
        let message = format!("unreadable, so you cannot roll back to it; {reason}");
        return Finding::note(check, message).section(section::ROLL_BACK_DATA);
    }
    let mut snapshots = manifest.snapshots();
    let consequence = match snapshots.find(|it| !unreadable.contains_key(&it.version)) {
        Some(older) => format!("requests use version {} instead", older.version),
        None => "no other version is readable, so all requests fail".to_owned(),
    };
    let message = format!("the current version is unreadable; {reason}; {consequence}");
    Finding::problem(check, message)
        .remedy(remedies.tnr("import --fetch"))
        .section(section::UPGRADE)
}

/// Findings about the history, which the same comparison checks.
pub fn history_findings(verification: Option<&Verification>, remedies: &Remedies) -> Vec<Finding> {
    let Some(Verification { history, .. }) = verification else { return Vec::new() };
    let HistoryVerification { publications, changes, drift, unrecorded, .. } = history;
    let mut findings = Vec::new();
    if drift.total() > 0 {
        let HistoryDrift { publications, differences, changes } = *drift;
        let message = format!(
            "missing or damaged: {}, {}, {}; requests that need them fail",
            pluralize(publications, "publication"),
            pluralize(differences, "difference"),
            pluralize(changes, "change")
        );
        let finding = Finding::problem("history", message).section(section::VERIFY);
        findings.push(finding.remedy(remedies.tnr("verify --repair")));
    }
    if *unrecorded > 0 {
        let message = format!(
            "the changes of {} are missing; requests for earlier days fail until the next import",
            pluralize(*unrecorded, "publication")
        );
        let finding = Finding::warning("history", message).section(section::VERIFY);
        findings.push(finding.remedy(remedies.tnr("import --fetch")));
    }
    if findings.is_empty() {
        let publications = pluralize(*publications, "publication");
        let message = format!("{publications}, {}, all intact", pluralize(*changes, "change"));
        findings.push(Finding::ok("history", message));
    }
    findings
}

pub fn item_findings(verification: Option<&Verification>, remedies: &Remedies) -> Vec<Finding> {
    let Some(Verification { items, drift, .. }) = verification else {
        let message = "not compared; no version is readable";
        return vec![Finding::note("items", message)];
    };
    if drift.total() == 0 {
        let items = HumanCount(*items as u64);
        return vec![Finding::ok("items", format!("all {items} match the current version"))];
    }
    let Drift { contradicting, outdated, unreadable, missing, stray } = *drift;
    let mut findings = Vec::new();
    let repair =
        |finding: Finding| finding.remedy(remedies.tnr("verify --repair")).section(section::VERIFY);
    if contradicting > 0 {
        let contradicting = HumanCount(contradicting as u64);
        let message =
            format!("{contradicting} contradict the current version; clients get wrong data");
        findings.push(repair(Finding::problem("items", message)));
    }
    if contradicting < drift.total() {
        let [outdated, unreadable, missing, stray] =
            [outdated, unreadable, missing, stray].map(|count| HumanCount(count as u64));
        let message = format!(
            "{outdated} outdated, {unreadable} unreadable, {missing} missing, {stray} stray; clients get \
             these records from memory"
        );
        findings.push(repair(Finding::warning("items", message)));
    }
    findings
}

#[cfg(test)]
mod tests {
    use numbering::dataset::Dataset;
    use store::{ImportedReport, ImportedReports, ReportName};

    use super::*;
    use crate::{database::place::Place, terminal::next_commands::NextCommands};

    fn snapshot(time: &str, reports: ImportedReports) -> Snapshot {
        let (time, statistics) = (time.parse().unwrap(), Dataset::default().statistics());
        Snapshot::new(Version::new(time), b"bytes", statistics, reports, time)
    }

    fn imported_at(time: &str) -> Manifest {
        Manifest::new(None, snapshot(time, ImportedReports::default()), |_| false)
    }

    #[test]
    fn reports_older_than_their_publishers_rhythm_are_findings() {
        let findings_for = |dates: &[(ReportName, Option<&str>)], remedies: &Remedies| {
            let reports = dates.iter().map(|&(name, date)| {
                let date = date.map(|date| date.parse().unwrap());
                (name, ImportedReport { date, ..ImportedReport::default() })
            });
            let current = snapshot("2026-11-26T03:00:00Z", ImportedReports(reports.collect()));
            let manifest = Some(Manifest::new(None, current, |_| false));
            let facts = DataFacts { manifest, unreadable: BTreeMap::new() };
            let now = "2026-11-26T23:59:59Z".parse().unwrap();
            let found = findings(&facts, now, &AgeLimits::default(), remedies);
            // Without the import's age and the versions.
            found[1..found.len() - 1].to_vec()
        };
        let in_time = [
            (ReportName::Nanpa, Some("2026-11-26")),
            (ReportName::Cnac, Some("2026-11-19")),
            (ReportName::NpaReport, Some("2026-09-25")),
            (ReportName::ThousandsBlocks, Some("2026-11-25")),
            (ReportName::CanadianBlocks, None),
            (ReportName::Carriers, Some("2025-01-01")),
        ];
        let stack = Remedies::for_stack("numbers");
        let expected = [
            Finding::ok("nanpa", "dated 2026-11-26, 0 days ago"),
            Finding::ok("cnac", "dated 2026-11-19, 7 days ago"),
            Finding::ok("npa_report", "dated 2026-09-25, 62 days ago"),
            Finding::ok("thousands_blocks", "dated 2026-11-25, 1 day ago"),
        ];
        assert_eq!(findings_for(&in_time, &stack), expected);

        let too_old = [
            (ReportName::Nanpa, Some("2026-11-18")),
            (ReportName::Cnac, Some("2025-09-12")),
            (ReportName::NpaReport, Some("2026-09-24")),
            (ReportName::ThousandsBlocks, Some("2026-11-18")),
            (ReportName::CanadianBlocks, Some("2026-11-18")),
        ];
        let folder = Remedies::new(Place::Folder("x".into()), NextCommands::default());
        for (remedies, state) in [(&stack, State::Problem), (&folder, State::Warning)] {
            let expected = [
                ("nanpa", "more than 7 days old; dated 2026-11-18, 8 days ago"),
                ("cnac", "more than 7 days old; dated 2025-09-12, 440 days ago"),
                ("npa_report", "more than 62 days old; dated 2026-09-24, 63 days ago"),
                ("thousands_blocks", "more than 7 days old; dated 2026-11-18, 8 days ago"),
                ("canadian_blocks", "more than 7 days old; dated 2026-11-18, 8 days ago"),
            ]
            .map(|(name, message)| {
                let finding = Finding::new(state, name, message).section("Publisher stalled");
                finding.remedy(remedies.tnr("sources"))
            });
            assert_eq!(findings_for(&too_old, remedies), expected);
        }
        let sample = [ReportName::Nanpa, ReportName::Cnac].map(|name| (name, Some("2000-01-01")));
        assert_eq!(findings_for(&sample, &stack), []);
    }

    #[test]
    fn missing_old_or_unreadable_data_is_a_problem() {
        let states = |manifest: Option<Manifest>, unreadable: Option<&Version>| {
            let unreadable =
                unreadable.map(|version| (version.clone(), "its layout is 9".to_owned()));
            let facts = DataFacts { manifest, unreadable: unreadable.into_iter().collect() };
            let now = "2026-11-21T12:00:00Z".parse().unwrap();
            let a_day = AgeLimits { import_days: 1, ..AgeLimits::default() };
            findings(&facts, now, &a_day, &Remedies::for_stack("numbers"))
                .iter()
                .map(|finding| finding.state)
                .collect::<Vec<_>>()
        };
        let in_time = imported_at("2026-11-20T12:00:00Z");
        assert_eq!(states(None, None), [State::Problem]);
        assert_eq!(states(Some(in_time.clone()), None), [State::Ok, State::Ok]);
        let too_old = imported_at("2026-11-20T11:59:59Z");
        assert_eq!(states(Some(too_old), None), [State::Problem, State::Ok]);
        let current = imported_at("2026-11-21T11:00:00Z").current;
        let two = Manifest::new(Some(&in_time), current, |_| false);
        let (current, retained) = (&two.current.version, &two.retained[0].version);
        assert_eq!(states(Some(two.clone()), Some(current)), [State::Ok, State::Problem]);
        assert_eq!(states(Some(two.clone()), Some(retained)), [State::Ok, State::Note]);
    }

    fn verification(drift: Drift, history: HistoryVerification) -> Verification {
        let version = Version::new(Timestamp::UNIX_EPOCH);
        Verification { version, skipped: Vec::new(), items: 9, drift, repaired: 0, history }
    }

    #[test]
    fn a_damaged_history_is_a_problem_and_an_unrecorded_publication_a_warning() {
        let changes = HistoryDrift { changes: 1, ..HistoryDrift::default() };
        for (drift, unrecorded, expected) in [
            (HistoryDrift::default(), 0, &[State::Ok][..]),
            (changes, 0, &[State::Problem]),
            (HistoryDrift::default(), 1, &[State::Warning]),
            (changes, 2, &[State::Problem, State::Warning]),
        ] {
            let history =
                HistoryVerification { drift, unrecorded, ..HistoryVerification::default() };
            let verification = verification(Drift::default(), history);
            let found = history_findings(Some(&verification), &Remedies::for_stack("numbers"));
            let states: Vec<State> = found.iter().map(|finding| finding.state).collect();
            assert_eq!(states, expected, "{drift:?} {unrecorded}");
        }
    }

    #[test]
    fn contradicting_items_are_a_problem_and_other_drift_a_warning() {
        for (drift, expected) in [
            (Drift::default(), &[State::Ok][..]),
            (Drift { stray: 1, ..Drift::default() }, &[State::Warning]),
            (
                Drift { contradicting: 1, missing: 2, ..Drift::default() },
                &[State::Problem, State::Warning],
            ),
        ] {
            let verification = verification(drift, HistoryVerification::default());
            let found = item_findings(Some(&verification), &Remedies::for_stack("numbers"));
            let states: Vec<State> = found.iter().map(|finding| finding.state).collect();
            assert_eq!(states, expected, "{drift:?}");
        }
    }
}
