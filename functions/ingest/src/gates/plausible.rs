//! What looks wrong without a version to compare with: words that are not known, a needed column that
//! is blank, one value in nearly all records.

use numbering::records::Country;

use super::{
    Refusal,
    thresholds::{FEWEST, FEWEST_OF_A_COUNTRY, Thresholds},
};
use crate::{
    outcome::{Notes, UnknownWords},
    quality::{Column, Coverage, Quality, percent},
};

pub(super) fn refuse_implausible(
    next: &Quality,
    notes: &Notes,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    refuse_unknown_words(notes, thresholds, refusals);
    for (&country, coverage) in &next.by_country {
        if coverage.records >= FEWEST_OF_A_COUNTRY {
            refuse_blank(country, coverage, thresholds, refusals);
            refuse_uniform(country, coverage, thresholds, refusals);
        }
    }
    refuse_several_names(next, notes, thresholds, refusals);
}

fn refuse_unknown_words(notes: &Notes, thresholds: &Thresholds, refusals: &mut Vec<Refusal>) {
    for UnknownWords { file, column, count, rows, example } in notes.unknown_words() {
        let share = percent(count, rows);
        if count >= FEWEST && share > thresholds.unknown {
            refusals.push(Refusal::UnknownWords {
                file,
                column,
                count,
                rows,
                share,
                example: example.to_owned(),
                most_percent: thresholds.unknown,
            });
        }
    }
}

fn refuse_blank(
    country: Country,
    coverage: &Coverage,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for column in [Column::Holder, Column::Ocn, Column::State, Column::RateCenter] {
        let share = 100.0 - coverage.percent(column);
        if share > thresholds.blank {
            refusals.push(Refusal::Blank {
                what: format!("{country} exchanges {}", column.described()),
                count: coverage.count(column),
                records: coverage.records,
                most_percent: thresholds.blank,
            });
        }
    }
}

fn refuse_uniform(
    country: Country,
    coverage: &Coverage,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    let columns = coverage
        .values()
        .map(|(column, values)| (column, values.most_frequent, values.filled, thresholds.same));
    let statuses = coverage
        .by_status
        .values()
        .map(|&count| ("statuses", count, coverage.records, thresholds.same_status));
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
fn refuse_several_names(
    next: &Quality,
    notes: &Notes,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    let (count, carriers) = (notes.several_names(), next.carriers.with_exchanges);
    let share = percent(count, carriers);
    if count >= FEWEST && share > thresholds.several_names {
        let most_percent = thresholds.several_names;
        refusals.push(Refusal::SeveralNames { count, carriers, share, most_percent });
    }
}
