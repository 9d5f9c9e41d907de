//! What an import must not do to the data, however well the files read.
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

use jiff::civil::Date;
use shared::{dataset::Dataset, store::FileDates};

use self::thresholds::Thresholds;
use crate::{Options, quality::Quality, report::Notes};

pub use percent::{NoPercent, Percent};

/// Why the data stays as it is.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "{what} would shrink from {before} to {after}, by more than {most_percent} %; \
         is a file cut off or left out? Raise --max-shrink if it is right"
    )]
    Shrunk { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{count} area codes would lose all their exchanges: {first}; is a file cut off or left out? \
         Give --max-shrink 100 if it is right"
    )]
    AreaCodesVanished { count: usize, first: String },
    #[error(
        "the exchanges of {count} area codes would shrink by more than {most_percent} %: {first}; \
         is a file cut off? Raise --max-shrink if it is right"
    )]
    AreaCodesShrunk { count: usize, first: String, most_percent: f64 },
    #[error(
        "{what} would {} from {before:.1} % to {after:.1} %, by more than {most_points} points; \
         is a column blank, moved or swapped? Raise --max-change if it is right",
        direction(*before, *after)
    )]
    CountryMoved { what: String, before: f64, after: f64, most_points: f64 },
    #[error(
        "the share of exchanges {what} would move by more than {most_points} points in {count} \
         area codes: {first}; raise --max-change if it is right"
    )]
    AreaCodesMoved { what: &'static str, count: usize, first: String, most_points: f64 },
    #[error(
        "{changed} of {records} {what} ({share:.1} %) would change, more than {most_percent} %: \
         {fields}; {example}. Are columns swapped or rows shifted? Raise --max-change if it is right"
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
         more than {most_percent} %, such as {example}; is the header's order right, and is it the \
         publisher's own file? Raise --max-suspect if it is right"
    )]
    Unknown {
        file: &'static str,
        column: &'static str,
        count: u32,
        rows: u32,
        share: f64,
        example: String,
        most_percent: f64,
    },
    #[error(
        "only {count} of {records} {what}, while more than {most_percent} % lack one; \
         is a column blank? Raise --max-suspect if it is right"
    )]
    Blank { what: String, count: u32, records: u32, most_percent: f64 },
    #[error(
        "the {what} would be the same in {share:.1} % of {records} records, more than {most_percent} %; \
         is a column filled with one value? Raise --max-suspect if it is right"
    )]
    Uniform { what: String, share: f64, records: u32, most_percent: f64 },
    #[error(
        "{count} of {carriers} carriers ({share:.1} %) come with several company names for one OCN, \
         more than {most_percent} %; is another column read as the company? \
         Raise --max-suspect if it is right"
    )]
    SeveralNames { count: u32, carriers: u32, share: f64, most_percent: f64 },
    #[error(
        "{file} is of {found}, older than that of {current} in force; \
         give --allow-older if it is right"
    )]
    Older { file: &'static str, found: Date, current: Date },
    #[error(
        "{file} states no date, and that in force is of {current}; give --allow-older if it is right"
    )]
    Undated { file: &'static str, current: Date },
    #[error("{file} is of {found}, which is yet to come")]
    Future { file: &'static str, found: Date },
}

fn direction(before: f64, after: f64) -> &'static str {
    if after < before { "fall" } else { "rise" }
}

/// What the gates look at in a version.
pub(crate) struct Counted<'a> {
    pub file_dates: FileDates,
    pub dataset: &'a Dataset,
    pub quality: &'a Quality,
}

/// Every rule that `next` breaks, by itself and against the current version, if there is one.
pub(crate) fn check(
    current: Option<&Counted<'_>>,
    next: &Counted<'_>,
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
