//! The gate that refuses any change of a report's format, for those who maintain the parsers.

use store::ReportName;

use super::Refusal;
use crate::{
    outcome::{Notes, Warning},
    reports::file,
};

/// Refuses unknown and missing columns, unknown values and unreadable reports, however few.
pub(super) fn refusals(notes: &Notes) -> impl Iterator<Item = Refusal> {
    let unknown_columns =
        notes.unknown_columns.iter().map(|(file, it)| counted(file, "unknown columns", it));
    let missing_columns =
        notes.missing_columns.iter().map(|(file, it)| counted(file, "missing columns", it));
    let values = notes.unknown_values().map(|((file, column), values)| {
        counted(&format!("{file}, column {column}"), "unknown values", values)
    });
    let unread = notes.countries_without_blocks.iter().map(|&country| {
        format!("{} cannot be read; see the warnings", file(ReportName::blocks(country)))
    });
    unknown_columns.chain(missing_columns).chain(values).chain(unread).map(|reason| Refusal {
        reason,
        waivers: None,
        compares_versions: false,
    })
}

fn counted(place: &str, what: &str, Warning { count, examples }: &Warning) -> String {
    format!("{place}: {what} ({count}): {}", examples.join("; "))
}
