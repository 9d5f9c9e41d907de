//! The gate that refuses reports whose format has changed at all, for those who maintain the parsers.

use super::Refusal;
use crate::{
    outcome::{Notes, Warning},
    reports::blocks_file,
};

/// Refuses new columns, unknown values and unreadable reports, however few. Nothing waives this but dropping the option.
pub(super) fn refusals(notes: &Notes) -> impl Iterator<Item = Refusal> {
    let columns = notes.new_columns.iter().map(|(file, Warning { examples, .. })| {
        format!("{file} has columns that are new: {}", examples.join(", "))
    });
    let values =
        notes.unknown_values.iter().map(|((file, column), Warning { count, examples })| {
            format!(
                "{file}, column {column}: {count} unknown values, such as {}",
                examples.join("; ")
            )
        });
    let unread = notes
        .countries_without_blocks
        .iter()
        .map(|&country| format!("{} cannot be read; see the warnings", blocks_file(country)));
    columns.chain(values).chain(unread).map(|reason| Refusal {
        reason,
        waivers: None,
        compares_versions: false,
    })
}
