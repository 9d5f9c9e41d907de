//! The gates: checks that can refuse an import, although its files can be read.
//!
//! Each gate looks at one thing: [`dates`], the number of records that are [`changed`], the [`losses`] of
//! one state, carrier or area code, and what is not [`plausible`] even without a version before it. All
//! of them are asked, so that a refusal names everything that is wrong. The [`waivers`] of an operator
//! let an import pass.

mod changed;
mod dates;
mod fields;
mod losses;
mod percent;
mod plausible;
mod waivers;

#[cfg(test)]
mod tests;

use jiff::{Timestamp, civil::Date};
use numbering::{dataset::Dataset, records::Version};
use store::FileDates;

use crate::{outcome::Notes, quality::Quality};

pub use percent::{Percent, PercentError};
pub use waivers::Waivers;

/// The fewest records that may be the reason of a refusal: in small data a few are a large share.
const FEWEST: u32 = 20;

/// Why a gate refuses an import.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{changed} of {records} {what} ({share:.1} %) would differ from version {version}, more than \
         {allowed}{}: {fields}; {example}; check whether a file is cut off or left out, columns are \
         blank or swapped, or rows are shifted",
        in_days(*days)
    )]
    Changed {
        what: &'static str,
        changed: u32,
        records: u32,
        share: f64,
        version: Version,
        allowed: u32,
        /// The days that `allowed` is for; `None` if it does not depend on them.
        days: Option<u64>,
        fields: String,
        example: String,
    },
    #[error(
        "{count} {what} would lose exchanges that version {version} has, or have them changed: \
         {first}; check whether a file is cut off, or a column is filled with one value"
    )]
    Lost { what: &'static str, count: usize, most: u32, version: Version, first: String },
    #[error(
        "{file}, column {column}: {count} of {rows} rows ({share:.1} %) hold a word that is not known, \
         more than {most_percent} %, such as {example}; check the order of the header and whether the \
         file is the publisher's own"
    )]
    UnknownWords {
        file: &'static str,
        column: &'static str,
        count: u32,
        rows: u32,
        share: f64,
        example: String,
        most_percent: f64,
    },
    #[error(
        "only {count} of {records} {what}, while {share:.1} % lack one, more than {most_percent} %; \
         check whether a column is blank"
    )]
    Blank { what: String, count: u32, records: u32, share: f64, most_percent: f64 },
    #[error(
        "the {what} would be the same in {share:.1} % of {records} records, more than \
         {most_percent} %; check whether a column is filled with one value"
    )]
    Uniform { what: String, share: f64, records: u32, most_percent: f64 },
    #[error(
        "{count} of {carriers} carriers ({share:.1} %) come with several company names for one OCN, \
         more than {most_percent} %; check whether another column is read as the company"
    )]
    SeveralNames { count: u32, carriers: u32, share: f64, most_percent: f64 },
    #[error("{file} is dated {found}, older than the current data ({current})")]
    Older { file: &'static str, found: Date, current: Date },
    #[error("{file} states no date, while the current data is dated {current}")]
    Undated { file: &'static str, current: Date },
    #[error(
        "{file} is dated {found}; the date must not be in the future; \
         check the file and the clock of this machine"
    )]
    Future { file: &'static str, found: Date },
}

fn in_days(days: Option<u64>) -> String {
    match days {
        None => String::new(),
        Some(1) => " in a day".to_owned(),
        Some(days) => format!(" in {days} days"),
    }
}

impl Refusal {
    /// The waivers that let the import pass this gate; `None` if nothing does.
    fn waivers(&self) -> Option<Waivers> {
        let none = Waivers::default();
        match *self {
            Self::Changed { changed, .. } => Some(Waivers { max_change: Some(changed), ..none }),
            Self::Lost { most, .. } => Some(Waivers { max_loss: Some(most), ..none }),
            Self::UnknownWords { share, .. }
            | Self::Blank { share, .. }
            | Self::Uniform { share, .. }
            | Self::SeveralNames { share, .. } => {
                Some(Waivers { max_suspect: Some(Percent::at_least(share)), ..none })
            }
            Self::Older { .. } | Self::Undated { .. } => {
                Some(Waivers { allow_older: true, ..none })
            }
            Self::Future { .. } => None,
        }
    }

    /// Whether the gate compares the records with those of an older version.
    fn is_of_changes(&self) -> bool {
        matches!(self, Self::Changed { .. } | Self::Lost { .. })
    }
}

/// A version as the gates look at it.
pub(crate) struct MeasuredVersion<'a> {
    pub version: &'a Version,
    pub imported_at: Timestamp,
    pub file_dates: FileDates,
    pub dataset: &'a Dataset,
}

/// The versions that an import is compared with.
#[derive(Default)]
pub(crate) struct OlderVersions<'a> {
    /// The version before; `None` for a first import.
    pub previous: Option<MeasuredVersion<'a>>,
    /// The oldest version that is still retained, if it is another one. Small changes of several
    /// imports add up between it and the next version.
    pub oldest: Option<MeasuredVersion<'a>>,
}

/// Asks every gate about `next`: about what it holds by itself, and about what it would change.
pub(crate) fn check(
    older: &OlderVersions<'_>,
    next: &MeasuredVersion<'_>,
    quality: &Quality,
    notes: &Notes,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    dates::refuse_future(next.file_dates, next.imported_at, &mut refusals);
    if let Some(previous) = &older.previous {
        dates::refuse_older(previous.file_dates, next.file_dates, &mut refusals);
    }
    for version in older.previous.iter().chain(&older.oldest) {
        changed::refuse_changed(version, next, &mut refusals);
    }
    plausible::refuse_implausible(quality, notes, &mut refusals);
    refusals
}

/// What becomes of an import, after its gates and its operator were asked.
pub(crate) struct Verdict {
    /// The refusals that no waiver covers, in words; empty if the import may go on.
    pub reasons: Vec<String>,
    /// The waivers under which it may go on; `None` if nothing lets it.
    pub allowed_by: Option<Waivers>,
    /// Whether the operator allows changes that a gate would refuse.
    pub confirms_changes: bool,
}

impl Verdict {
    pub(crate) fn new(refusals: &[Refusal], given: Waivers) -> Self {
        let is_waived =
            |refusal: &Refusal| refusal.waivers().is_some_and(|needed| given.cover(&needed));
        let (waived, standing): (Vec<&Refusal>, _) =
            refusals.iter().partition(|refusal| is_waived(refusal));
        let allowed_by = standing
            .iter()
            .try_fold(given, |waivers, refusal| Some(waivers.with(refusal.waivers()?)));
        Self {
            reasons: standing.iter().map(ToString::to_string).collect(),
            allowed_by,
            confirms_changes: waived.iter().any(|refusal| refusal.is_of_changes()),
        }
    }
}
