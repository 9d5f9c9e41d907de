//! The gates: checks that can refuse an import, although its files can be read.
//!
//! Each gate looks at one thing: [`dates`], [`counts`] that should not fall, the [`shares`] of records
//! that have a value, the records that are [`changed`], and what is not [`plausible`] even without a
//! version before it. All of them are asked, so that a refusal names everything that is wrong.

mod changed;
mod counts;
mod dates;
mod percent;
mod plausible;
mod shares;
mod thresholds;

#[cfg(test)]
mod tests;

use jiff::civil::Date;
use numbering::dataset::Dataset;
use store::FileDates;

use self::thresholds::Thresholds;
use crate::{Options, outcome::Notes, quality::Quality};

pub use percent::{Percent, PercentError};

/// Why a gate refuses an import.
///
/// If an option lets the import pass, the message names it twice: as the field of a request to the
/// function, and as the command line has it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{what} would shrink from {before} to {after}, by more than {most_percent} %; check whether \
         a file is cut off or left out, or raise max_shrink (--max-shrink) to import it anyway"
    )]
    Shrunk { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{what} would fall from {before} to {after}, by more than {most_percent} %; check whether \
         a column is blank, swapped or filled with one value, or raise max_shrink (--max-shrink) to \
         import it anyway"
    )]
    FewerValues { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{} would lose all exchanges: {first}; check whether a file is cut off or left out, or set \
         max_shrink (--max-shrink) to 100 to import it anyway",
        area_codes(*count)
    )]
    AreaCodesVanished { count: usize, first: String },
    #[error(
        "the exchanges of {} would shrink by more than {most_percent} %: {first}; check whether \
         a file is cut off, or raise max_shrink (--max-shrink) to import it anyway",
        area_codes(*count)
    )]
    AreaCodesShrunk { count: usize, first: String, most_percent: f64 },
    #[error(
        "{what} would {} from {before:.1} % to {after:.1} %, by more than {most_points} points; check \
         whether a column is blank, moved or swapped, or raise max_change (--max-change) to import \
         it anyway",
        direction(*before, *after)
    )]
    CountryMoved { what: String, before: f64, after: f64, most_points: f64 },
    #[error(
        "the share of exchanges {what} would move by more than {most_points} points in {}: {first}; \
         check whether a column is blank, moved or swapped, or raise max_change (--max-change) to \
         import it anyway",
        area_codes(*count)
    )]
    AreaCodesMoved { what: &'static str, count: usize, first: String, most_points: f64 },
    #[error(
        "{changed} of {records} {what} ({share:.1} %) would change, more than {most_percent} %: \
         {fields}; {example}; check whether columns are swapped or rows shifted, or raise max_change \
         (--max-change) to import it anyway"
    )]
    Changed {
        what: &'static str,
        changed: u32,
        records: u32,
        share: f64,
        fields: String,
        example: String,
        most_percent: f64,
    },
    #[error(
        "{file}, column {column}: {count} of {rows} rows ({share:.1} %) hold a word that is not known, \
         more than {most_percent} %, such as {example}; check the order of the header and whether the \
         file is the publisher's own, or raise max_suspect (--max-suspect) to import it anyway"
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
        "only {count} of {records} {what}, while more than {most_percent} % lack one; check whether \
         a column is blank, or raise max_suspect (--max-suspect) to import it anyway"
    )]
    Blank { what: String, count: u32, records: u32, most_percent: f64 },
    #[error(
        "the {what} would be the same in {share:.1} % of {records} records, more than \
         {most_percent} %; check whether a column is filled with one value, or raise max_suspect \
         (--max-suspect) to import it anyway"
    )]
    Uniform { what: String, share: f64, records: u32, most_percent: f64 },
    #[error(
        "{count} of {carriers} carriers ({share:.1} %) come with several company names for one OCN, \
         more than {most_percent} %; check whether another column is read as the company, or raise \
         max_suspect (--max-suspect) to import it anyway"
    )]
    SeveralNames { count: u32, carriers: u32, share: f64, most_percent: f64 },
    #[error(
        "{file} is dated {found}, older than the current data ({current}); set allow_older \
         (--allow-older) to import it anyway"
    )]
    Older { file: &'static str, found: Date, current: Date },
    #[error(
        "{file} states no date, while the current data is dated {current}; set allow_older \
         (--allow-older) to import it anyway"
    )]
    Undated { file: &'static str, current: Date },
    #[error(
        "{file} is dated {found}; the date must not be in the future; \
         check the file and the clock of this machine"
    )]
    Future { file: &'static str, found: Date },
}

fn direction(before: f64, after: f64) -> &'static str {
    if after < before { "fall" } else { "rise" }
}

fn area_codes(count: usize) -> String {
    if count == 1 { "1 area code".to_owned() } else { format!("{count} area codes") }
}

/// A version as the gates look at it.
pub(crate) struct MeasuredVersion<'a> {
    pub file_dates: FileDates,
    pub dataset: &'a Dataset,
    pub quality: &'a Quality,
}

/// Asks every gate about `next`: about what it holds by itself, and about what it would change in the
/// current version, if there is one.
pub(crate) fn check(
    current: Option<&MeasuredVersion<'_>>,
    next: &MeasuredVersion<'_>,
    notes: &Notes,
    options: &Options,
) -> Vec<Refusal> {
    let thresholds = Thresholds::of(options);
    let mut refusals = Vec::new();
    dates::refuse_future(next.file_dates, options.now, &mut refusals);
    if let Some(current) = current {
        if !options.allow_older {
            dates::refuse_older(current.file_dates, next.file_dates, &mut refusals);
        }
        counts::refuse_shrunk(current, next, &thresholds, &mut refusals);
        shares::refuse_moved(current.quality, next.quality, &thresholds, &mut refusals);
        changed::refuse_changed(current, next, &thresholds, &mut refusals);
    }
    plausible::refuse_implausible(next.quality, notes, &thresholds, &mut refusals);
    refusals
}
