//! The gate that refuses any change of a report's format, for those who maintain the parsers.

use super::Refusal;
use crate::{
    notes::{Notes, Warning},
    reports::{REPORTS, file},
};

/// Refuses unknown and missing columns, unknown values and unreadable reports, however few.
pub(super) fn refusals(notes: &Notes) -> Vec<Refusal> {
    let mut reasons = Vec::new();
    for (&name, findings) in &notes.reports {
        let file = file(name);
        let columns = [
            ("unknown columns", &findings.unknown_columns),
            ("missing columns", &findings.missing_columns),
        ];
        for (what, columns) in columns.into_iter().filter(|(_, it)| it.count > 0) {
            reasons.push(counted(file, what, columns));
        }
        for (column, values) in findings.all_unknown_values() {
            reasons.push(counted(&format!("{file}, column {column}"), "unknown values", values));
        }
    }
    let unread = &notes.countries_without_blocks;
    let is_unread = |country| unread.contains(&country);
    for report in REPORTS.iter().filter(|report| report.keeps_blocks_in.is_some_and(is_unread)) {
        reasons.push(format!("{} cannot be read; see the warnings", report.format.file));
    }
    reasons.into_iter().map(|reason| Refusal { reason, gate: None }).collect()
}

fn counted(place: &str, what: &str, Warning { count, examples }: &Warning) -> String {
    format!("{place}: {what} ({count}): {}", examples.join("; "))
}
