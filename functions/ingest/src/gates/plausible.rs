//! What no report that is right looks like, whatever came before it: words nobody knows, a needed
//! column that is blank, one value all over.

use numbering::records::Country;

use super::{
    Refusal,
    thresholds::{FEWEST, FEWEST_OF_A_COUNTRY, Thresholds},
};
use crate::{
    quality::{Column, Coverage, Quality, percent},
    report::Notes,
};

pub(super) fn refuse_implausible(
    next: &Quality,
    notes: &Notes,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    refuse_unknown(notes, thresholds, refusals);
    for (&country, coverage) in &next.by_country {
        if coverage.records >= FEWEST_OF_A_COUNTRY {
            refuse_blank(country, coverage, thresholds, refusals);
            refuse_uniform(country, coverage, thresholds, refusals);
        }
    }
    refuse_several_names(next, notes, thresholds, refusals);
}

fn refuse_unknown(notes: &Notes, thresholds: &Thresholds, refusals: &mut Vec<Refusal>) {
    for unknown in notes.unknown() {
        let share = percent(unknown.count, unknown.rows);
        if unknown.count >= FEWEST && share > thresholds.unknown {
            refusals.push(Refusal::Unknown {
                file: unknown.file,
                column: unknown.column,
                count: unknown.count,
                rows: unknown.rows,
                share,
                example: unknown.example.to_owned(),
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
    for (what, values) in coverage.values() {
        let share = percent(values.most_frequent, values.filled);
        if share > thresholds.same {
            refusals.push(Refusal::Uniform {
                what: format!("{what} of {country}"),
                share,
                records: values.filled,
                most_percent: thresholds.same,
            });
        }
    }
    for count in coverage.by_status.values() {
        let share = percent(*count, coverage.records);
        if share > thresholds.same_status {
            refusals.push(Refusal::Uniform {
                what: format!("statuses of {country}"),
                share,
                records: coverage.records,
                most_percent: thresholds.same_status,
            });
        }
    }
}

/// An OCN belongs to one company. Where most come with several, another column was read as its name.
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
