//! The gates that check a single version for unknown values, blank columns and uniform columns.

use numbering::{dataset::Dataset, records::Country};

use super::{Gate, MIN_RECORDS, Refusal};
use crate::{
    notes::{CONFLICTING_NAMES, Notes, Warning},
    quality::{Coverage, Quality, percent},
    reports::file,
};

/// The number of records below which a country's columns may be blank or uniform.
const MIN_PER_COUNTRY: u32 = 1000;
/// The maximum percentage of a file's rows with an unknown value in a column.
const MAX_UNKNOWN_PERCENT: f64 = 1.0;
/// The maximum percentage of a country's records without a value in a column.
const MAX_BLANK_PERCENT: f64 = 90.0;
/// The maximum percentage of a country's records with the same value in a column.
const MAX_SAME_PERCENT: f64 = 90.0;
/// The maximum percentage of a country's records with the same status.
const MAX_SAME_STATUS_PERCENT: f64 = 99.5;
/// The maximum percentage of carriers whose OCN has several company names.
const MAX_CONFLICTING_NAMES_PERCENT: f64 = 25.0;

/// The columns whose values must vary, with their wording in messages.
const COLUMNS: [(&str, &str, &str); 4] = [
    ("holders", "with a company name", "company name"),
    ("ocns", "with an OCN", "OCN"),
    ("states", "with a state or province", "state or province"),
    ("rate_centers", "with a rate center", "rate center"),
];

pub(super) fn refuse_implausible(
    next: &Dataset,
    quality: &Quality,
    notes: &Notes,
    refusals: &mut Vec<Refusal>,
) {
    refuse_unknown_values(notes, refusals);
    for (&country, coverage) in &quality.by_country {
        if coverage.records >= MIN_PER_COUNTRY {
            refuse_blank(country, coverage, refusals);
            refuse_uniform(country, coverage, refusals);
        }
    }
    refuse_conflicting_names(next, notes, refusals);
}

fn refuse(refusals: &mut Vec<Refusal>, share: f64, max: f64, reason: String) {
    if share > max {
        refusals.push(Refusal::new(Gate::Suspect, reason));
    }
}

fn refuse_unknown_values(notes: &Notes, refusals: &mut Vec<Refusal>) {
    let reports = notes.reports.iter();
    let values = reports.flat_map(|(&name, findings)| {
        findings
            .unknown_values
            .iter()
            .map(move |(column, it)| (file(name), findings.rows, column, it))
    });
    for (file, rows, column, Warning { count, examples }) in values {
        let share = percent(*count, rows);
        let reason = format!(
            "{file}, column {column}: {count} of {rows} rows ({share:.1}%) have an unknown value, more \
             than {MAX_UNKNOWN_PERCENT}%, such as {}; check the column order in the header and whether the \
             file comes from the publisher",
            examples.first().map_or("", String::as_str)
        );
        if *count >= MIN_RECORDS {
            refuse(refusals, share, MAX_UNKNOWN_PERCENT, reason);
        }
    }
}

fn refuse_blank(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    for (column, with_value, _) in COLUMNS {
        let (filled, records) = (coverage.columns[column].filled, coverage.records);
        let share = 100.0 - percent(filled, records);
        let reason = format!(
            "only {filled} of {records} {country} exchanges {with_value}: {share:.1}% lack one, more \
             than {MAX_BLANK_PERCENT}%; check whether a column is blank"
        );
        refuse(refusals, share, MAX_BLANK_PERCENT, reason);
    }
}

fn refuse_uniform(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    let columns = COLUMNS.map(|(column, _, name)| {
        let values = coverage.columns[column];
        (name, values.most_frequent, values.filled, MAX_SAME_PERCENT)
    });
    let statuses = coverage.by_status.values();
    let statuses =
        statuses.map(|&count| ("status", count, coverage.records, MAX_SAME_STATUS_PERCENT));
    for (name, same, records, max) in columns.into_iter().chain(statuses) {
        let share = percent(same, records);
        let reason = format!(
            "{share:.1}% of {records} {country} records would have the same {name}, more than {max}%; \
             check whether a column has the same value everywhere"
        );
        refuse(refusals, share, max, reason);
    }
}

/// Refuses an import if many OCNs have several company names, which probably means that another column was read.
fn refuse_conflicting_names(next: &Dataset, notes: &Notes, refusals: &mut Vec<Refusal>) {
    let carriers = next.carriers().filter(|carrier| carrier.exchanges.total > 0).count() as u32;
    let count = notes.warnings.get(CONFLICTING_NAMES).map_or(0, |warning| warning.count);
    let share = percent(count, carriers);
    let reason = format!(
        "{count} of {carriers} carriers ({share:.1}%) have several company names for one OCN, more than \
         {MAX_CONFLICTING_NAMES_PERCENT}%; check whether the company names come from another column"
    );
    if count >= MIN_RECORDS {
        refuse(refusals, share, MAX_CONFLICTING_NAMES_PERCENT, reason);
    }
}
