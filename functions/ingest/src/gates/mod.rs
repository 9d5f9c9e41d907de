//! The gates: checks that can refuse an import even if its files are readable.
//!
//! The [`changed`] gates compare an import with older versions; the [`plausible`] gates look at the import alone. All
//! gates run, so that a refusal lists every problem. An operator can allow what a [`Gate`] refuses. The strict gate
//! only runs on request.

mod baseline;
mod changed;
mod plausible;

#[cfg(test)]
mod tests;

use numbering::{dataset::Dataset, time::date_of};
use serde::{Deserialize, Serialize};
use store::{ImportedReports, Snapshot};
use strum::{Display, EnumString, VariantNames};

use crate::{
    Outcome,
    notes::{Notes, Warning},
    quality::Quality,
    reports::{REPORTS, file},
};

pub(crate) use baseline::Baseline;

/// The minimum number of suspicious records for a refusal, because a few are a large share of a small dataset.
const MIN_RECORDS: u32 = 20;

/// A check that an operator can override, by its name in `--allow` and in requests.
#[derive(
    Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Display, EnumString, VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Gate {
    /// Many records of one kind that differ from an older version.
    Changes,
    /// A state, carrier or area code that loses many exchanges.
    Losses,
    /// Unknown values, and columns that are blank or the same everywhere.
    Suspect,
    /// Files that are older than the current ones, or no longer have a date.
    Dates,
}

impl Gate {
    pub const ALL: [Self; 4] = [Self::Changes, Self::Losses, Self::Suspect, Self::Dates];
}

/// The gates that an import may fail; none by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllowedGates([bool; Gate::ALL.len()]);

impl AllowedGates {
    fn contains(self, gate: Gate) -> bool {
        self.0[gate as usize]
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Gate> {
        Gate::ALL.into_iter().filter(move |&gate| self.contains(gate))
    }
}

impl FromIterator<Gate> for AllowedGates {
    fn from_iter<I: IntoIterator<Item = Gate>>(gates: I) -> Self {
        let mut allowed = Self::default();
        gates.into_iter().for_each(|gate| allowed.0[gate as usize] = true);
        allowed
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    reason: String,
    /// The gate to allow; `None` if operators cannot allow it.
    gate: Option<Gate>,
}

impl Refusal {
    pub(crate) fn new(gate: Gate, reason: String) -> Self {
        Self { reason, gate: Some(gate) }
    }

    fn compares_versions(&self) -> bool {
        matches!(self.gate, Some(Gate::Changes | Gate::Losses))
    }
}

#[derive(Clone, Copy)]
pub(crate) struct MeasuredVersion<'a> {
    pub snapshot: &'a Snapshot,
    pub dataset: &'a Dataset,
}

/// Runs every gate. `older` comes from [`Baseline::compared_versions`].
pub(crate) fn run_gates(
    older: &[MeasuredVersion<'_>],
    next: MeasuredVersion<'_>,
    quality: &Quality,
    notes: &Notes,
    is_strict: bool,
) -> Vec<Refusal> {
    let no_reports = ImportedReports::default();
    let previous = older.first().map_or(&no_reports, |previous| &previous.snapshot.reports);
    let mut refusals = refuse_dates(previous, next.snapshot);
    for version in older {
        changed::refuse_changes(*version, next, &mut refusals);
    }
    plausible::refuse_implausible(next.dataset, quality, notes, &mut refusals);
    if is_strict {
        refusals.extend(refuse_format_changes(notes));
    }
    refusals
}

/// Refuses files that are older than the current ones, no longer have a date, or have a date after tomorrow. After a
/// file with a future date, all later files would count as older.
fn refuse_dates(current: &ImportedReports, next: &Snapshot) -> Vec<Refusal> {
    let tomorrow = date_of(next.ingested_at).tomorrow().ok();
    let mut refusals = Vec::new();
    for report in REPORTS.iter().filter(|report| report.is_required) {
        let file = report.format.file;
        let [current, date] = [current, &next.reports].map(|it| it.date(report.format.name));
        let is_future = date > tomorrow;
        let reason = match (current, date) {
            (_, Some(date)) if is_future => format!(
                "{file} is dated {date}; the date must not be in the future; check the file and this \
                 machine's clock"
            ),
            (Some(current), Some(date)) if date < current => {
                format!("{file} is dated {date}, older than the current data ({current})")
            }
            (Some(current), None) => {
                format!("{file} has no date, but the current data is dated {current}")
            }
            _ => continue,
        };
        refusals.push(Refusal { reason, gate: (!is_future).then_some(Gate::Dates) });
    }
    refusals
}

/// Refuses any change to a report's format, so that maintainers notice it: unknown and missing columns, unknown
/// values and unreadable reports, even if there is only one.
fn refuse_format_changes(notes: &Notes) -> Vec<Refusal> {
    let mut reasons = Vec::new();
    for (&name, findings) in &notes.reports {
        let file = file(name);
        let columns = [
            ("unknown columns", &findings.unknown_columns),
            ("missing columns", &findings.missing_columns),
        ];
        for (what, columns) in columns.into_iter().filter(|(_, it)| it.count > 0) {
            reasons.push(format_warning(file, what, columns));
        }
        for (column, values) in findings.all_unknown_values() {
            reasons.push(format_warning(
                &format!("{file}, column {column}"),
                "unknown values",
                values,
            ));
        }
    }
    let unread = &notes.countries_without_blocks;
    let is_unread = |country| unread.contains(&country);
    for report in REPORTS.iter().filter(|report| report.keeps_blocks_in.is_some_and(is_unread)) {
        reasons.push(format!("{} cannot be read; see the warnings", report.format.file));
    }
    reasons.into_iter().map(|reason| Refusal { reason, gate: None }).collect()
}

fn format_warning(place: &str, what: &str, Warning { count, examples }: &Warning) -> String {
    format!("{place}: {what} ({count}): {}", examples.join("; "))
}

pub(crate) struct GateResult {
    pub reasons: Vec<String>,
    /// The gates that would have to be allowed; `None` if the import cannot be allowed.
    pub allowed_by: Option<Vec<Gate>>,
    pub confirms_changes: bool,
}

impl GateResult {
    pub(crate) fn new(refusals: Vec<Refusal>, allowed: AllowedGates) -> Self {
        let is_allowed = |it: &Refusal| it.gate.is_some_and(|gate| allowed.contains(gate));
        let (passed, remaining): (Vec<_>, Vec<_>) = refusals.into_iter().partition(is_allowed);
        let needed: Option<Vec<Gate>> = remaining.iter().map(|refusal| refusal.gate).collect();
        let allowed_by = needed.map(|needed| AllowedGates::from_iter(allowed.iter().chain(needed)));
        Self {
            reasons: remaining.into_iter().map(|refusal| refusal.reason).collect(),
            allowed_by: allowed_by.map(|gates| gates.iter().collect()),
            confirms_changes: passed.iter().any(Refusal::compares_versions),
        }
    }

    /// The outcome of an import that publishes nothing; `None` if it may publish.
    pub(crate) fn unpublished(self, is_dry_run: bool) -> Option<Outcome> {
        if self.reasons.is_empty() {
            return is_dry_run.then_some(Outcome::Planned);
        }
        let (reason, allowed_by) = (self.reasons.join("\n"), self.allowed_by);
        Some(Outcome::Refused { reason, allowed_by })
    }
}
