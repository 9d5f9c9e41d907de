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
use numbering::dataset::Dataset;
use store::FileDates;

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
        "{what} would fall from {before} to {after}, by more than {most_percent} %; \
         is a column blank, swapped or filled with one value? Raise --max-shrink if it is right"
    )]
    FewerValues { what: String, before: u32, after: u32, most_percent: f64 },
    #[error(
        "{} would lose all exchanges: {first}; is a file cut off or left out? \
         Give --max-shrink 100 if it is right",
        area_codes(*count)
    )]
    AreaCodesVanished { count: usize, first: String },
    #[error(
        "the exchanges of {} would shrink by more than {most_percent} %: {first}; \
         is a file cut off? Raise --max-shrink if it is right",
        area_codes(*count)
    )]
    AreaCodesShrunk { count: usize, first: String, most_percent: f64 },
    #[error(
        "{what} would {} from {before:.1} % to {after:.1} %, by more than {most_points} points; \
         is a column blank, moved or swapped? Raise --max-change if it is right",
        direction(*before, *after)
    )]
    CountryMoved { what: String, before: f64, after: f64, most_points: f64 },
    #[error(
        "the share of exchanges {what} would move by more than {most_points} points in {}: {first}; \
         raise --max-change if it is right",
        area_codes(*count)
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

fn area_codes(count: usize) -> String {
    if count == 1 { "1 area code".to_owned() } else { format!("{count} area codes") }
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

#[cfg(test)]
mod tests {
    use numbering::records::{Carrier, CarrierType, Exchange, Status};

    use super::*;
    use crate::quality::tests::{carrier, exchange};

    /// The refusals of an import that turns one dataset into the other.
    fn refusals(before: &Dataset, after: &Dataset) -> Vec<String> {
        let (old, new) = (Quality::of(before), Quality::of(after));
        let file_dates = FileDates::default();
        let current = Counted { file_dates, dataset: before, quality: &old };
        let next = Counted { file_dates, dataset: after, quality: &new };
        let refusals = check(Some(&current), &next, &Notes::default(), &Options::default());
        refusals.iter().map(ToString::to_string).collect()
    }

    /// So many exchanges of one area code, of which the first have an OCN.
    fn exchanges(count: usize, with_ocn: usize) -> Dataset {
        let exchanges = (200..).take(count).enumerate().map(|(n, nxx)| {
            let ocn = (n < with_ocn).then_some("0051");
            Exchange {
                company_name: Some("A".to_owned()),
                ..exchange(&format!("415-{nxx}"), ocn, "SNFC", Status::Assigned)
            }
        });
        Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges.collect())
    }

    /// Carriers of which the first hold exchanges.
    fn carriers(count: u32, with_exchanges: u32, carrier_type: Option<CarrierType>) -> Dataset {
        let carriers = (0..count).map(|n| Carrier {
            carrier_type,
            ..carrier(&format!("{n:04}"), "A", u32::from(n < with_exchanges))
        });
        Dataset::new(carriers.collect(), Vec::new(), Vec::new())
    }

    #[test]
    fn a_share_that_moves_by_a_few_records_refuses_nothing() {
        assert_eq!(refusals(&exchanges(30, 30), &exchanges(30, 15)), Vec::<String>::new());
        let moved = refusals(&exchanges(60, 60), &exchanges(60, 15)).join("\n");
        assert!(
            moved.contains("the US exchanges with an OCN would fall from 100.0 % to 25.0 %"),
            "{moved}"
        );
        assert!(moved.contains("in 1 area code: 415 from 100.0 % to 25.0 %"), "{moved}");
        assert!(
            moved.contains("45 of 60 US exchanges (75.0 %) would change, more than 5 %: OCN of 45"),
            "{moved}"
        );
    }

    #[test]
    fn a_country_that_more_than_doubles_is_not_compared_with_the_sample_before_it() {
        assert_eq!(refusals(&exchanges(40, 40), &exchanges(81, 0)), Vec::<String>::new());
        assert!(!refusals(&exchanges(40, 40), &exchanges(80, 0)).is_empty());
    }

    #[test]
    fn the_overlay_does_not_hide_that_carriers_lose_their_exchanges() {
        let lost = refusals(&carriers(60, 50, None), &carriers(60, 20, None));
        assert_eq!(lost.len(), 1, "{lost:?}");
        let expected = "the carriers that hold exchanges would shrink from 50 to 20";
        assert!(lost[0].starts_with(expected), "{lost:?}");
    }

    #[test]
    fn a_first_overlay_may_fill_the_types_of_all_and_a_later_one_not_change_them() {
        let [ilec, clec] = [CarrierType::Ilec, CarrierType::Clec];
        let filled = refusals(&carriers(60, 60, None), &carriers(60, 60, Some(ilec)));
        assert_eq!(filled, Vec::<String>::new());
        let changed = refusals(&carriers(60, 60, Some(ilec)), &carriers(60, 60, Some(clec)));
        let expected = "60 of 60 carriers (100.0 %) would change, more than 5 %: type of 60; \
                        0000 has type 'ILEC' and would have 'CLEC'";
        assert!(changed[0].starts_with(expected), "{changed:?}");
    }

    #[test]
    fn a_refusal_shows_nothing_that_a_terminal_would_obey() {
        let renamed = |name: &str| {
            let carriers = (0..60).map(|n| carrier(&format!("{n:04}"), name, 1));
            Dataset::new(carriers.collect(), Vec::new(), Vec::new())
        };
        let changed = refusals(&renamed("A"), &renamed("B\u{1b}[31m")).join(" ");
        assert!(changed.contains("company name 'A' and would have 'B[31m'"), "{changed}");
    }

    #[test]
    fn an_area_code_may_neither_vanish_nor_lose_a_tenth() {
        let shrunk = refusals(&exchanges(300, 300), &exchanges(270, 270)).join("\n");
        assert!(shrunk.contains("the records of US would shrink from 300 to 270"), "{shrunk}");
        assert!(!shrunk.contains("415"), "{shrunk}");
        let shrunk = refusals(&exchanges(300, 300), &exchanges(260, 260)).join("\n");
        assert!(shrunk.contains("by more than 10 %: 415 from 300 to 260"), "{shrunk}");
        let vanished = refusals(&exchanges(1, 1), &Dataset::default()).join("\n");
        assert!(vanished.contains("1 area code would lose all exchanges: 415"), "{vanished}");
    }
}
