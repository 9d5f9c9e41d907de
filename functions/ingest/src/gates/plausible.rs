//! The gates that need no other version: unknown words, a needed column that is blank, one value in nearly all records.

use numbering::{dataset::Dataset, records::Country};

use super::{MIN_RECORDS, Percent, Refusal, Waivers};
use crate::{
    outcome::{Notes, SEVERAL_NAMES, Warning},
    quality::{Coverage, Quality, percent},
};

/// A country with fewer records may be uniform, or lack a column.
const MIN_PER_COUNTRY: u32 = 1000;
/// Maximum percent of a file's rows with unknown words in a column.
const UNKNOWN_PERCENT: f64 = 1.0;
/// Maximum percent of a country's records without a needed column.
const BLANK_PERCENT: f64 = 90.0;
/// Maximum percent of a country's records that share one value in a column.
const SAME_PERCENT: f64 = 90.0;
/// Maximum percent of a country's records that share one status.
const SAME_STATUS_PERCENT: f64 = 99.5;
/// Maximum percent of carriers whose OCN has several names.
const SEVERAL_NAMES_PERCENT: f64 = 25.0;

/// The columns that need varied values, as measured and in messages.
const COLUMNS: [(&str, &str, &str); 4] = [
    ("holders", "with a company name", "company names"),
    ("ocns", "with an OCN", "OCNs"),
    ("states", "with a state or province", "states or provinces"),
    ("rate_centers", "with a rate center", "rate centers"),
];

pub(super) fn refuse_implausible(
    next: &Dataset,
    quality: &Quality,
    notes: &Notes,
    refusals: &mut Vec<Refusal>,
) {
    refuse_unknown_words(notes, refusals);
    for (&country, coverage) in &quality.by_country {
        if coverage.records >= MIN_PER_COUNTRY {
            refuse_blank(country, coverage, refusals);
            refuse_uniform(country, coverage, refusals);
        }
    }
    refuse_several_names(next, notes, refusals);
}

/// Refuses a share above `limit`, which a larger allowed share of suspect rows waives.
fn refuse(refusals: &mut Vec<Refusal>, share: f64, limit: f64, reason: String) {
    if share > limit {
        let max_suspect = Some(Percent::at_least(share));
        let waivers = Some(Waivers { max_suspect, ..Waivers::default() });
        refusals.push(Refusal { reason, waivers, is_of_changes: false });
    }
}

fn refuse_unknown_words(notes: &Notes, refusals: &mut Vec<Refusal>) {
    for (&(file, column), Warning { count, examples }) in &notes.unknown_words {
        let rows = notes.rows.get(file).copied().unwrap_or_default();
        let share = percent(*count, rows);
        let reason = format!(
            "{file}, column {column}: {count} of {rows} rows ({share:.1} %) hold a word that is not \
             known, more than {UNKNOWN_PERCENT} %, such as {}; check the order of the header and \
             whether the file is the publisher's own",
            examples.first().map_or("", String::as_str)
        );
        if *count >= MIN_RECORDS {
            refuse(refusals, share, UNKNOWN_PERCENT, reason);
        }
    }
}

fn refuse_blank(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    for (column, with_value, _) in COLUMNS {
        let (filled, records) = (coverage.columns[column].filled, coverage.records);
        let share = 100.0 - percent(filled, records);
        let reason = format!(
            "only {filled} of {records} {country} exchanges {with_value}, while {share:.1} % lack one, \
             more than {BLANK_PERCENT} %; check whether a column is blank"
        );
        refuse(refusals, share, BLANK_PERCENT, reason);
    }
}

fn refuse_uniform(country: Country, coverage: &Coverage, refusals: &mut Vec<Refusal>) {
    let columns = COLUMNS.map(|(column, _, names)| {
        let values = coverage.columns[column];
        (names, values.most_frequent, values.filled, SAME_PERCENT)
    });
    let statuses = coverage.by_status.values();
    let statuses =
        statuses.map(|&count| ("statuses", count, coverage.records, SAME_STATUS_PERCENT));
    for (names, same, records, limit) in columns.into_iter().chain(statuses) {
        let share = percent(same, records);
        let reason = format!(
            "the {names} of {country} would be the same in {share:.1} % of {records} records, more \
             than {limit} %; check whether a column is filled with one value"
        );
        refuse(refusals, share, limit, reason);
    }
}

/// Refuses many OCNs with several company names. An OCN belongs to one company, so another column was probably read as
/// the name.
fn refuse_several_names(next: &Dataset, notes: &Notes, refusals: &mut Vec<Refusal>) {
    let carriers = next.carriers().filter(|carrier| carrier.exchanges.total > 0).count() as u32;
    let count = notes.warnings.get(SEVERAL_NAMES).map_or(0, |warning| warning.count);
    let share = percent(count, carriers);
    let reason = format!(
        "{count} of {carriers} carriers ({share:.1} %) come with several company names for one OCN, \
         more than {SEVERAL_NAMES_PERCENT} %; check whether another column is read as the company"
    );
    if count >= MIN_RECORDS {
        refuse(refusals, share, SEVERAL_NAMES_PERCENT, reason);
    }
}
