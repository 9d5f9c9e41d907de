//! The data: whether there is any, how old it is, whether it can be read, and whether the
//! lookup items agree with it.

use std::collections::BTreeMap;

use ingest::{Drift, IngestError, Progress, Repair, Verification};
use jiff::{SignedDuration, Timestamp};
use logging::with_causes;
use numbering::records::Version;
use store::{DatasetError, Manifest, Store, load};

use super::{
    finding::{Finding, Section},
    look::Look,
    remedies::Remedies,
};

/// What the table of datasets holds.
#[derive(Debug)]
pub struct DataFacts {
    /// `None` before the first import.
    pub manifest: Option<Manifest>,
    /// Each version that cannot be read, with the reason.
    pub unreadable: BTreeMap<Version, String>,
}

/// Reads the manifest and every version that it names.
pub async fn look(store: &Store) -> Look<DataFacts> {
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

/// Compares every lookup item with the newest version that can be read; `None` if there is none.
pub async fn look_at_items(
    store: &Store,
    progress: &dyn Fn(Progress),
) -> Look<Option<Verification>> {
    match ingest::verify(store, Repair::No, None, progress).await {
        Ok(verification) => Ok(Some(verification)),
        Err(
            IngestError::NothingImported | IngestError::Current(DatasetError::NoneReadable { .. }),
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is to be said of the data at `now`, which may be `longest_age` old.
pub fn findings(
    facts: &DataFacts,
    now: Timestamp,
    longest_age: SignedDuration,
    is_imported_every_night: bool,
    remedies: &Remedies,
) -> Vec<Finding> {
    let Some(manifest) = &facts.manifest else {
        let finding = Finding::problem("data", "nothing has been imported")
            .remedy(remedies.tnr("import --fetch"))
            .section(Section::FirstImportAndKey);
        return vec![finding];
    };
    let mut findings = vec![age(manifest, now, longest_age, is_imported_every_night, remedies)];
    let unreadable = facts.unreadable.keys();
    findings.extend(unreadable.map(|version| cannot_be_read(facts, manifest, version, remedies)));
    if facts.unreadable.is_empty() {
        let versions = 1 + manifest.retained.len();
        findings.push(Finding::ok("versions", format!("all {versions} can be read")));
    }
    findings
}

fn age(
    manifest: &Manifest,
    now: Timestamp,
    longest_age: SignedDuration,
    is_imported_every_night: bool,
    remedies: &Remedies,
) -> Finding {
    let imported = manifest.current.ingested_at;
    let hours = now.duration_since(imported).as_hours();
    let records = manifest.current.statistics.total_records;
    let message = format!("imported at {imported}, {hours} hours ago; {records} exchanges");
    if now.duration_since(imported) <= longest_age {
        return Finding::ok("age", message);
    }
    let longest = longest_age.as_hours() / 24;
    let message = format!("no import has succeeded for {longest} days; {message}");
    let finding = if is_imported_every_night {
        Finding::problem("age", message)
    } else {
        Finding::warning("age", message)
    };
    finding.remedy(remedies.tnr("import --fetch")).section(Section::DataTooOld)
}

fn cannot_be_read(
    DataFacts { unreadable, .. }: &DataFacts,
    manifest: &Manifest,
    version: &Version,
    remedies: &Remedies,
) -> Finding {
    let why = &unreadable[version];
    let check = format!("version {version}");
    if manifest.current.version == *version {
        let answering =
            manifest.snapshots().find(|snapshot| !unreadable.contains_key(&snapshot.version));
        let consequence = match answering {
            Some(older) => format!("version {} answers", older.version),
            None => "no other can be read either, so that nothing is answered".to_owned(),
        };
        let message = format!("the current version cannot be read; {why}; {consequence}");
        return Finding::problem(check, message)
            .remedy(remedies.tnr("import --fetch"))
            .section(Section::Upgrade);
    }
    let message = format!("it cannot be read, and no rollback can go to it; {why}");
    Finding::note(check, message).section(Section::RollBackData)
}

/// What is to be said of the lookup items.
pub fn findings_of_items(verification: Option<&Verification>, remedies: &Remedies) -> Vec<Finding> {
    let Some(Verification { items, drift, .. }) = verification else {
        return vec![Finding::note(
            "items",
            "nothing to compare them with before the first import",
        )];
    };
    if drift.total() == 0 {
        return vec![Finding::ok("items", format!("all {items} agree with the current version"))];
    }
    let Drift { contradicting, outdated, unreadable, missing, stray } = *drift;
    let mut findings = Vec::new();
    let repair =
        |finding: Finding| finding.remedy(remedies.tnr("verify --repair")).section(Section::Verify);
    if contradicting > 0 {
        let message = format!(
            "{contradicting} hold another record than the current version; clients get wrong answers"
        );
        findings.push(repair(Finding::problem("items", message)));
    }
    if contradicting < drift.total() {
        let message = format!(
            "{outdated} outdated, {unreadable} unreadable, {missing} missing, {stray} stray; clients get those records from \
             memory"
        );
        findings.push(repair(Finding::warning("items", message)));
    }
    findings
}

#[cfg(test)]
mod tests {
    use numbering::dataset::Dataset;
    use store::{FileDates, Snapshot};

    use super::*;
    use crate::doctor::finding::State;

    const DAY: SignedDuration = SignedDuration::from_hours(24);

    fn imported_at(time: &str) -> Manifest {
        let time = time.parse().unwrap();
        let snapshot = Snapshot::of(
            Version::new(time),
            b"bytes",
            Dataset::default().statistics(),
            FileDates::default(),
            time,
        );
        Manifest::following(None, snapshot, |_| false)
    }

    fn found(facts: &DataFacts) -> Vec<Finding> {
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        findings(facts, now, DAY, true, &Remedies::of_stack("numbers"))
    }

    #[test]
    fn data_is_too_old_once_no_import_has_succeeded_for_the_days_that_are_set() {
        let state = |time: &str| {
            let facts =
                DataFacts { manifest: Some(imported_at(time)), unreadable: BTreeMap::new() };
            found(&facts)[0].state
        };
        assert_eq!(state("2026-11-20T12:00:00Z"), State::Ok);
        assert_eq!(state("2026-11-20T11:59:59Z"), State::Problem);
        let nothing = DataFacts { manifest: None, unreadable: BTreeMap::new() };
        assert_eq!(found(&nothing)[0].state, State::Problem);
    }

    #[test]
    fn a_current_version_that_cannot_be_read_is_a_problem_and_a_retained_one_a_note() {
        let before = imported_at("2026-11-20T12:00:00Z");
        let now = imported_at("2026-11-21T11:00:00Z").current;
        let manifest = Manifest::following(Some(&before), now, |_| false);
        let unreadable = |version: &Version| {
            let unreadable = [(version.clone(), "its layout is 9".to_owned())].into();
            let facts = DataFacts { manifest: Some(manifest.clone()), unreadable };
            found(&facts)[1].state
        };
        assert_eq!(unreadable(&manifest.current.version), State::Problem);
        assert_eq!(unreadable(&manifest.retained[0].version), State::Note);
    }

    #[test]
    fn items_that_readers_believe_are_a_problem_and_others_a_warning() {
        let found = |drift: Drift| {
            let version = Version::new(Timestamp::UNIX_EPOCH);
            let verification =
                Verification { version, passed_over: Vec::new(), items: 9, drift, repaired: 0 };
            findings_of_items(Some(&verification), &Remedies::of_stack("numbers"))
        };
        assert_eq!(found(Drift::default())[0].state, State::Ok);
        let stray = found(Drift { stray: 1, ..Drift::default() });
        assert_eq!(stray[0].state, State::Warning);
        assert_eq!(
            stray[0].remedy.as_deref(),
            Some(Remedies::of_stack("numbers").tnr("verify --repair").as_str())
        );
        let both = found(Drift { contradicting: 1, missing: 2, ..Drift::default() });
        assert_eq!(
            both.iter().map(|f| f.state).collect::<Vec<_>>(),
            [State::Problem, State::Warning]
        );
    }
}
