//! What looks wrong without a version to compare with: words that are not known, a needed column that
//! is blank, one value in nearly all records.

use numbering::records::Country;

use super::{FEWEST, Refusal};
use crate::{
    outcome::{Notes, UnknownWords},
    quality::{Column, Coverage, Quality, percent},
};

/// A country with fewer records than these may be uniform, or lack a column.
const FEWEST_OF_A_COUNTRY: u32 = 1000;
/// The most rows of a file whose word in a column may be unknown, in percent.
const UNKNOWN_PERCENT: f64 = 1.0;
/// The most records of a country that may lack a needed column, in percent.
const BLANK_PERCENT: f64 = 90.0;
/// The most records of a country that may share one value of a column, in percent.
const SAME_PERCENT: f64 = 90.0;
/// The most records of a country that may share one status, in percent.
const SAME_STATUS_PERCENT: f64 = 99.5;
/// The most carriers whose OCN may come with several names, in percent.
const SEVERAL_NAMES_PERCENT: f64 = 25.0;

pub(super) fn refuse_implausible(next: &Quality, notes: &Notes, refusals: &mut Vec<Refusal>) {
    refuse_unknown_words(notes, refusals);
    for (&country, coverage) in &next.by_country {
        if coverage.records >= FEWEST_OF_A_COUNTRY {
            refuse_blank(country, coverage, refusals);
            refuse_uniform(country, coverage, refusals);
        }
    }
    refuse_several_names(next, notes, refusals);
}

fn refuse_unknown_words(notes: &Notes, refusals: &mut Vec<Refusal>) {
    for UnknownWords { file, column, count, rows, example } in notes.unknown_words() {
        let share = percent(count, rows);
        if count >= FEWEST && share > UNKNOWN_PERCENT {
            refusals.push(Refusal::UnknownWords {
                file,
                column,
                count,
                rows,
                share,
                example: example.to_owned(),
                most_percent: UNKNOWN_PERCENT,
            });
        }
    }
}

fn refuse_blank(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    for column in [Column::Holder, Column::Ocn, Column::State, Column::RateCenter] {
        let share = 100.0 - coverage.percent(column);
        if share > BLANK_PERCENT {
            refusals.push(Refusal::Blank {
                what: format!("{country} exchanges {}", column.described()),
                count: coverage.count(column),
                records: coverage.records,
                share,
                most_percent: BLANK_PERCENT,
            });
        }
    }
}

fn refuse_uniform(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    let columns = coverage
        .values()
        .map(|(column, values)| (column, values.most_frequent, values.filled, SAME_PERCENT));
    let statuses = coverage
        .by_status
        .values()
        .map(|&count| ("statuses", count, coverage.records, SAME_STATUS_PERCENT));
    for (column, same, records, most_percent) in columns.into_iter().chain(statuses) {
        let share = percent(same, records);
        if share > most_percent {
            let what = format!("{column} of {country}");
            refusals.push(Refusal::Uniform { what, share, records, most_percent });
        }
    }
}

/// Refuses many OCNs with several company names. An OCN belongs to one company, so another column was
/// likely read as the name.
fn refuse_several_names(next: &Quality, notes: &Notes, refusals: &mut Vec<Refusal>) {
    let (count, carriers) = (notes.several_names(), next.carriers.with_exchanges);
    let share = percent(count, carriers);
    if count >= FEWEST && share > SEVERAL_NAMES_PERCENT {
        let most_percent = SEVERAL_NAMES_PERCENT;
        refusals.push(Refusal::SeveralNames { count, carriers, share, most_percent });
    }
}
