//! The gates: checks that can refuse an import even if its files are readable.
//!
//! The [`changed`] gates compare an import with older versions; the [`plausible`] gates look at the import alone. All
//! gates run, so a refusal lists every problem. An operator's [`waivers`] let an import pass. The [`unfamiliar`] gate
//! only runs if asked for.

mod baseline;
mod changed;
mod losses;
mod plausible;
mod unfamiliar;
mod waivers;

#[cfg(test)]
mod tests;

use numbering::{dataset::Dataset, time::date_of};
use store::{ImportedReports, Snapshot};

use crate::{notes::Notes, quality::Quality, reports::REPORTS};

pub(crate) use baseline::{Baseline, UNREADABLE};
pub use waivers::{Percent, Waivers};

/// Minimum suspicious records for a refusal, since a few are a large share of a small dataset.
const MIN_RECORDS: u32 = 20;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    reason: String,
    /// The waivers that would let the import pass; `None` if none would.
    waivers: Option<Waivers>,
    compares_versions: bool,
}

#[derive(Clone, Copy)]
pub(crate) struct MeasuredVersion<'a> {
    pub snapshot: &'a Snapshot,
    pub dataset: &'a Dataset,
}

/// Runs every gate. `older` contains the previous version and the oldest unconfirmed one, since small changes add up.
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
        refusals.extend(unfamiliar::refusals(notes));
    }
    refusals
}

/// Refuses files that are older than the current ones, no longer have a date, or are dated after tomorrow. After a file from
/// the future, all later files would count as older.
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
        let allow_older = Waivers { allow_older: true, ..Waivers::default() };
        let waivers = (!is_future).then_some(allow_older);
        refusals.push(Refusal { reason, waivers, compares_versions: false });
    }
    refusals
}

/// The result of all gates, after an operator's waivers.
pub(crate) struct GateResult {
    pub reasons: Vec<String>,
    /// The waivers that would let the import pass; `None` if none would.
    pub allowed_by: Option<Waivers>,
    pub confirms_changes: bool,
}

impl GateResult {
    pub(crate) fn new(refusals: &[Refusal], given: Waivers) -> Self {
        let is_waived =
            |refusal: &Refusal| refusal.waivers.is_some_and(|needed| given.cover(&needed));
        let (waived, remaining): (Vec<&Refusal>, _) =
            refusals.iter().partition(|refusal| is_waived(refusal));
        let allowed_by = remaining
            .iter()
            .try_fold(given, |waivers, refusal| Some(waivers.with(refusal.waivers?)));
        Self {
            reasons: remaining.iter().map(|refusal| refusal.reason.clone()).collect(),
            allowed_by,
            confirms_changes: waived.iter().any(|refusal| refusal.compares_versions),
        }
    }
}
