//! Checks the data: its age, its reports' ages, unreadable versions and countries, and whether items and history match
//! the newest readable version.

use std::collections::BTreeMap;

use indicatif::HumanCount;
use ingest::{Drift, HistoryVerification, IngestError, Repair, Verification};
use jiff::{SignedDuration, civil::Date};
use logging::with_causes;
use numbering::{records::Version, time::date_of};
use store::{CountryData, DatasetError, Manifest, ReportName, Snapshot, Store, load};

use super::{
    CheckContext,
    finding::{CheckResult, Finding, State},
};
use crate::{
    data::{
        import::show_progress,
        verify::{drift_kinds, history_kinds},
    },
    error::pluralize,
    terminal::NextCommands,
};

pub async fn check(store: &Store, context: &CheckContext) -> CheckResult {
    let Some(manifest) = store.manifest().await? else {
        let finding = Finding::problem("data", "nothing has been imported");
        let finding = finding.remedy(context.next.tnr("import --fetch"));
        return Ok(vec![finding.section("First import and first key")]);
    };
    let mut unreadable = BTreeMap::new();
    for snapshot in manifest.snapshots() {
        match load(store, snapshot).await {
            Ok(_) => (),
            Err(DatasetError::Unreadable { version, source }) => {
                unreadable.insert(version, with_causes(source.as_ref()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let mut findings = findings(&manifest, &unreadable, context);
    let unreadable = ingest::unreadable_countries(store, &manifest).await?;
    findings.extend(manifest.countries.0.iter().map(|(code, data)| {
        country_finding(code, data, unreadable.get(code).map(String::as_str), context)
    }));
    Ok(findings)
}

/// The ages in days beyond which imports and reports are too old.
#[derive(Debug, PartialEq, Eq)]
pub struct AgeLimits {
    pub import_days: i64,
    /// Limits that override the publisher's schedule.
    pub report_days: BTreeMap<ReportName, i64>,
}

impl Default for AgeLimits {
    fn default() -> Self {
        Self { import_days: 3, report_days: BTreeMap::new() }
    }
}

impl AgeLimits {
    /// The alarm limits of a stack with these parameters. A publisher's block report has the same limit as
    /// its code report.
    pub fn for_stack(parameters: &BTreeMap<String, String>) -> Self {
        let days = |parameter: &str| parameters.get(parameter)?.parse().ok();
        let reports = [
            (ReportName::Nanpa, "MaxNanpaAge"),
            (ReportName::ThousandsBlocks, "MaxNanpaAge"),
            (ReportName::Cnac, "MaxCnacAge"),
            (ReportName::CanadianBlocks, "MaxCnacAge"),
            (ReportName::NpaReport, "MaxAreaCodeAge"),
        ];
        let reports =
            reports.iter().filter_map(|(name, parameter)| Some((*name, days(parameter)?)));
        let import_days = days("MaxDataAge").unwrap_or(Self::default().import_days);
        Self { import_days, report_days: reports.collect() }
    }

    /// The maximum age of a report, in days; `None` if it has no publishing schedule.
    pub fn for_report(&self, report: ReportName) -> Option<i64> {
        self.report_days.get(&report).copied().or_else(|| report.description().max_age_days)
    }
}

/// Findings about these versions, and the reasons why some are unreadable.
fn findings(
    manifest: &Manifest,
    unreadable: &BTreeMap<Version, String>,
    context: &CheckContext,
) -> Vec<Finding> {
    let mut findings = vec![age_finding(&manifest.current, context)];
    findings.extend(report_findings(&manifest.current, context));
    findings.extend(unreadable.iter().map(|(version, reason)| {
        unreadable_version(version, reason, unreadable, manifest, &context.next)
    }));
    if unreadable.is_empty() {
        let versions = 1 + manifest.retained.len();
        findings.push(Finding::ok("versions", format!("all {versions} are readable")));
    }
    findings
}

fn age_finding(current: &Snapshot, context: &CheckContext) -> Finding {
    let (imported, max_days) = (current.ingested_at, context.limits.import_days);
    let age = context.now.duration_since(imported);
    let hours = HumanCount(age.as_hours().unsigned_abs());
    let records = HumanCount(current.statistics.total_records.into());
    let message = format!("imported at {imported}, {hours} hours ago; {records} exchanges");
    if age <= SignedDuration::from_hours(24 * max_days) {
        return Finding::ok("age", message);
    }
    let message = format!("no import has succeeded in {}; {message}", format_days(max_days));
    Finding::new(too_old(context), "age", message)
        .remedy(context.next.tnr("import --fetch"))
        .section("Data too old")
}

fn format_days(days: i64) -> String {
    pluralize(usize::try_from(days).unwrap_or_default(), "day")
}

/// The severity of outdated data. It is a problem only on a stack, which imports every night.
fn too_old(context: &CheckContext) -> State {
    if context.is_stack { State::Problem } else { State::Warning }
}

/// A finding for each dated report. The sample's dates are fictional.
fn report_findings(current: &Snapshot, context: &CheckContext) -> Vec<Finding> {
    if current.is_sample() {
        return Vec::new();
    }
    let reports = current.reports.0.iter().filter_map(|(name, report)| {
        let (date, max_days) = (report.date?, context.limits.for_report(*name)?);
        Some(date_finding(name.to_string(), date, max_days, context))
    });
    reports.collect()
}

/// A finding about the age of data that is published at least every `max_days` days.
fn date_finding(check: String, date: Date, max_days: i64, context: &CheckContext) -> Finding {
    let days = i64::from((date_of(context.now) - date).get_days());
    let message = format!("dated {date}, {} ago", format_days(days));
    if days <= max_days {
        return Finding::ok(check, message);
    }
    let message = format!("more than {} old; {message}", format_days(max_days));
    let finding = Finding::new(too_old(context), check, message);
    finding.remedy(context.next.tnr("sources")).section("Publisher stalled")
}

/// A finding for another country's ranges. It is dated by the newest entry.
fn country_finding(
    code: &str,
    country: &CountryData,
    unreadable: Option<&str>,
    context: &CheckContext,
) -> Finding {
    let check = format!("ranges of {code}");
    if let Some(reason) = unreadable {
        return Finding::problem(check, format!("unreadable; {reason}"))
            .remedy(context.next.tnr(&format!("import --fetch --country {code}")))
            .section("Country unread");
    }
    match country.imported.date {
        Some(date) if !country.is_sample() => {
            date_finding(check, date, country.max_age_days, context)
        }
        _ => Finding::ok(check, "readable"),
    }
}

fn unreadable_version(
    version: &Version,
    reason: &str,
    unreadable: &BTreeMap<Version, String>,
    manifest: &Manifest,
    next: &NextCommands,
) -> Finding {
    let check = format!("version {version}");
    if manifest.current.version != *version {
        let message = format!("unreadable, so you cannot roll back to it; {reason}");
        return Finding::note(check, message).section("Roll back data");
    }
    let mut snapshots = manifest.snapshots();
    let consequence = match snapshots.find(|it| !unreadable.contains_key(&it.version)) {
        Some(older) => format!("requests use version {} instead", older.version),
        None => "no other version is readable, so all requests fail".to_owned(),
    };
    let message = format!("the current version is unreadable; {reason}; {consequence}");
    Finding::problem(check, message)
        .remedy(next.tnr("import --fetch"))
        .section("Upgrade and roll back code")
}

pub async fn check_items(store: &Store, next: &NextCommands) -> CheckResult {
    match ingest::verify(store, Repair::No, None, show_progress()).await {
        Ok(Verification { items, drift, history, .. }) => {
            Ok(item_findings(items, &drift, &history, next))
        }
        Err(
            IngestError::NothingImported | IngestError::Current(DatasetError::NoneReadable { .. }),
        ) => Ok(vec![Finding::note("items", "not compared; no version is readable")]),
        Err(error) => Err(error.into()),
    }
}

fn item_findings(
    items: usize,
    drift: &Drift,
    history: &HistoryVerification,
    next: &NextCommands,
) -> Vec<Finding> {
    let publications = pluralize(history.publications, "publication");
    let changes = pluralize(history.changes, "change");
    let items = format!("all {} match the current version", HumanCount(items as u64));
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
    use ingest::HistoryDrift;
    use jiff::Timestamp;
    use numbering::dataset::Dataset;
    use store::{ImportedReport, ImportedReports, Piece};

    use super::*;

    fn context(now: &str, limits: AgeLimits, is_stack: bool) -> CheckContext {
        let now = now.parse().unwrap();
        CheckContext { now, next: NextCommands::default(), limits, is_stack }
    }

    fn snapshot(time: &str, reports: ImportedReports) -> Snapshot {
        let time = time.parse().unwrap();
        Snapshot { reports, ..Snapshot::of(&Dataset::default(), Version::new(time), time) }
    }

    #[test]
    fn reports_older_than_their_schedule_are_findings() {
        let at = |is_stack| context("2026-11-26T23:59:59Z", AgeLimits::default(), is_stack);
        let check = |name: ReportName, date: Option<&str>, is_stack| {
            let date = date.map(|date| date.parse().unwrap());
            let report = ImportedReport { date, ..ImportedReport::default() };
            let reports = ImportedReports([(name, report)].into());
            let current = snapshot("2026-11-26T03:00:00Z", reports);
            let found = report_findings(&current, &at(is_stack));
            found.first().map(Finding::line)
        };
        for (name, date, expected) in [
            (ReportName::Nanpa, "2026-11-26", "dated 2026-11-26, 0 days ago"),
            (ReportName::Cnac, "2026-11-19", "dated 2026-11-19, 7 days ago"),
            (ReportName::NpaReport, "2026-09-25", "dated 2026-09-25, 62 days ago"),
            (ReportName::ThousandsBlocks, "2026-11-25", "dated 2026-11-25, 1 day ago"),
        ] {
            assert_eq!(check(name, Some(date), true), Some(format!("ok {name}: {expected}")));
        }
        for (name, date, expected) in [
            (ReportName::Nanpa, "2026-11-18", "7 days old; dated 2026-11-18, 8 days ago"),
            (ReportName::Cnac, "2025-09-12", "7 days old; dated 2025-09-12, 440 days ago"),
            (ReportName::NpaReport, "2026-09-24", "62 days old; dated 2026-09-24, 63 days ago"),
        ] {
            // Only a stack imports every night.
            for (is_stack, state) in [(true, "problem"), (false, "warning")] {
                let expected = format!("{state} {name}: more than {expected}");
                assert_eq!(check(name, Some(date), is_stack), Some(expected));
            }
        }
        assert_eq!(check(ReportName::CanadianBlocks, None, true), None);
        assert_eq!(check(ReportName::Carriers, Some("2025-01-01"), true), None);
        assert_eq!(check(ReportName::Nanpa, Some("2000-01-01"), true), None, "the sample");
    }

    #[test]
    fn unreadable_or_old_ranges_are_findings() {
        let check = |date: Option<&str>, unreadable, is_stack| {
            let date = date.map(|date| date.parse().unwrap());
            let piece = Piece::new(Version::new(Timestamp::UNIX_EPOCH), b"bytes");
            let mut country = CountryData::sample(piece);
            country.imported.date = date;
            let context = context("2026-11-26T23:59:59Z", AgeLimits::default(), is_stack);
            country_finding("GB", &country, unreadable, &context).line()
        };
        let old = "more than 45 days old; dated 2026-10-11, 46 days ago";
        for (date, unreadable, is_stack, expected) in [
            (Some("2026-10-12"), None, true, "ok ranges of GB: dated 2026-10-12, 45 days ago"),
            (Some("2026-10-11"), None, true, &format!("problem ranges of GB: {old}")),
            (Some("2026-10-11"), None, false, &format!("warning ranges of GB: {old}")),
            (Some("2000-01-01"), None, true, "ok ranges of GB: readable"),
            (None, None, true, "ok ranges of GB: readable"),
            (None, Some("its hash"), false, "problem ranges of GB: unreadable; its hash"),
        ] {
            assert_eq!(check(date, unreadable, is_stack), expected);
        }
    }

    #[test]
    fn old_or_unreadable_data_is_a_problem() {
        let imported_at = |before: Option<&Manifest>, time| {
            Manifest::new(before, snapshot(time, ImportedReports::default()), |_| false)
        };
        let states = |manifest: &Manifest, unreadable: Option<&Version>| {
            let reason = |version: &Version| (version.clone(), "its layout is 9".to_owned());
            let unreadable = unreadable.map(reason).into_iter().collect();
            let a_day = AgeLimits { import_days: 1, ..AgeLimits::default() };
            let context = context("2026-11-21T12:00:00Z", a_day, true);
            let found = findings(manifest, &unreadable, &context);
            found.iter().map(|finding| finding.state).collect::<Vec<_>>()
        };
        let in_time = imported_at(None, "2026-11-20T12:00:00Z");
        assert_eq!(states(&in_time, None), [State::Ok, State::Ok]);
        let too_old = imported_at(None, "2026-11-20T11:59:59Z");
        assert_eq!(states(&too_old, None), [State::Problem, State::Ok]);
        let two = imported_at(Some(&in_time), "2026-11-21T11:00:00Z");
        let (current, retained) = (&two.current.version, &two.retained[0].version);
        assert_eq!(states(&two, Some(current)), [State::Ok, State::Problem]);
        assert_eq!(states(&two, Some(retained)), [State::Ok, State::Note]);
    }

    #[test]
    fn age_limits_match_the_stacks_alarms() {
        let parameters = ["MaxDataAge 9", "MaxNanpaAge 10", "MaxCnacAge 500", "MaxAreaCodeAge 99"];
        let parameters = parameters.map(|it| it.split_once(' ').unwrap());
        let parameters = parameters.map(|(name, days)| (name.to_owned(), days.to_owned())).into();
        let limits = AgeLimits::for_stack(&parameters);
        assert_eq!(limits.import_days, 9);
        for (report, days) in [
            (ReportName::Nanpa, Some(10)),
            (ReportName::Cnac, Some(500)),
            (ReportName::NpaReport, Some(99)),
            (ReportName::ThousandsBlocks, Some(10)),
            (ReportName::CanadianBlocks, Some(500)),
            (ReportName::Carriers, None),
        ] {
            assert_eq!(limits.for_report(report), days, "{report}");
        }
        assert_eq!(AgeLimits::for_stack(&BTreeMap::new()), AgeLimits::default());
    }

    #[test]
    fn contradictions_and_damaged_history_are_problems_other_drift_is_a_warning() {
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
            let found = item_findings(9, &drift, &history, &NextCommands::default());
            let found: Vec<String> = found.iter().map(Finding::summary).collect();
            assert_eq!(found.join(", "), expected);
        }
    }
}
