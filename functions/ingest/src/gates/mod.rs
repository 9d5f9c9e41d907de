//! The gates: checks that can refuse an import even if its files can be read.
//!
//! The [`changed`] gates compare an import with older versions; the [`plausible`] ones judge it alone. All of them run,
//! so a refusal names everything that is wrong. An operator's [`waivers`] let an import pass.

mod changed;
mod losses;
mod plausible;
mod waivers;

#[cfg(test)]
mod tests;

use jiff::{
    civil::Date,
    tz::{Offset, TimeZone},
};
use numbering::dataset::Dataset;
use store::{FileDates, Snapshot};

use crate::{
    outcome::Notes,
    quality::Quality,
    reports::{cnac, nanpa, npa_report},
};

pub use waivers::{Percent, Waivers};

/// Minimum records for a refusal: in small data a few are a large share.
const MIN_RECORDS: u32 = 20;

/// A gate's reason to refuse an import.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    reason: String,
    /// The waivers that would let the import pass; `None` if none do.
    waivers: Option<Waivers>,
    /// `true` if the gate compares records with an older version's.
    is_of_changes: bool,
}

/// A version as gates see it.
#[derive(Clone, Copy)]
pub(crate) struct MeasuredVersion<'a> {
    pub snapshot: &'a Snapshot,
    pub dataset: &'a Dataset,
}

/// Runs every gate on `next`. `older` holds the previous version and the oldest retained one, since small changes add
/// up over several imports.
pub(crate) fn check(
    older: &[MeasuredVersion<'_>],
    next: MeasuredVersion<'_>,
    quality: &Quality,
    notes: &Notes,
) -> Vec<Refusal> {
    let previous = older.first().map(|previous| previous.snapshot.file_dates);
    let mut refusals = refuse_dates(previous.unwrap_or_default(), next.snapshot);
    for version in older {
        changed::refuse_changes(*version, next, &mut refusals);
    }
    plausible::refuse_implausible(next.dataset, quality, notes, &mut refusals);
    refusals
}

/// The earliest time zone, that of the Line Islands.
const EARLIEST_OFFSET: Offset = Offset::constant(14);

/// Refuses files that are older than the current ones, have lost their date, or are dated after today in every time
/// zone. After a file from the future, every later file would count as older.
fn refuse_dates(current: FileDates, next: &Snapshot) -> Vec<Refusal> {
    let latest_today = next.ingested_at.to_zoned(TimeZone::fixed(EARLIEST_OFFSET)).date();
    let mut refusals = Vec::new();
    let mut refuse = |reason, waivers| {
        refusals.push(Refusal { reason, waivers, is_of_changes: false });
    };
    let older = Some(Waivers { allow_older: true, ..Waivers::default() });
    for ((file, current), (_, found)) in by_file(current).into_iter().zip(by_file(next.file_dates))
    {
        match (current, found) {
            (_, Some(found)) if found > latest_today => refuse(
                format!(
                    "{file} is dated {found}; the date must not be in the future; \
                     check the file and the clock of this machine"
                ),
                None,
            ),
            (Some(current), Some(found)) if found < current => refuse(
                format!("{file} is dated {found}, older than the current data ({current})"),
                older,
            ),
            (Some(current), None) => refuse(
                format!("{file} states no date, while the current data is dated {current}"),
                older,
            ),
            _ => (),
        }
    }
    refusals
}

/// Each report's name in messages, with the date it states.
pub(crate) fn by_file(dates: FileDates) -> [(&'static str, Option<Date>); 3] {
    [(nanpa::FILE, dates.nanpa), (cnac::FILE, dates.cnac), (npa_report::FILE, dates.npa_report)]
}

/// The decision on an import, after its gates and waivers.
pub(crate) struct Verdict {
    /// The refusals that no waiver covers; empty if the import may proceed.
    pub reasons: Vec<String>,
    /// The waivers that would let it proceed; `None` if none do.
    pub allowed_by: Option<Waivers>,
    /// `true` if the operator allows changes that a gate would refuse.
    pub confirms_changes: bool,
}

impl Verdict {
    pub(crate) fn new(refusals: &[Refusal], given: Waivers) -> Self {
        let is_waived =
            |refusal: &Refusal| refusal.waivers.is_some_and(|needed| given.cover(&needed));
        let (waived, standing): (Vec<&Refusal>, _) =
            refusals.iter().partition(|refusal| is_waived(refusal));
        let allowed_by = standing
            .iter()
            .try_fold(given, |waivers, refusal| Some(waivers.with(refusal.waivers?)));
        Self {
            reasons: standing.iter().map(|refusal| refusal.reason.clone()).collect(),
            allowed_by,
            confirms_changes: waived.iter().any(|refusal| refusal.is_of_changes),
        }
    }
}
