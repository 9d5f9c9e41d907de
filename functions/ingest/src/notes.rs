//! Warnings and skipped rows, collected while reading and joining reports.

use std::{collections::BTreeMap, fmt::Display};

use numbering::records::Country;
use serde::Serialize;
use store::ReportName;

const MAX_EXAMPLES: usize = 10;

/// The warning for an OCN with different company names in its rows.
pub(crate) const CONFLICTING_NAMES: &str =
    "an OCN has several company names; the most frequent one is used";

#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub reports: BTreeMap<ReportName, Findings>,
    pub warnings: BTreeMap<String, Warning>,
    /// Countries whose block report is unreadable.
    pub countries_without_blocks: Vec<Country>,
}

#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub rows: u32,
    /// Rows that were not imported, by reason.
    pub skipped: BTreeMap<String, u32>,
    /// Values that affect records, by column. Many of them are a reason to refuse the import.
    pub unknown_values: BTreeMap<&'static str, Warning>,
    /// Values that only add details to records.
    pub unknown_details: BTreeMap<&'static str, Warning>,
    pub unknown_columns: Warning,
    pub missing_columns: Warning,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub count: u32,
    /// The first ten values, or their positions.
    pub examples: Vec<String>,
}

impl Warning {
    pub(crate) fn count(&mut self, example: impl Display) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(example.to_string());
        }
    }
}

impl Notes {
    pub fn findings_mut(&mut self, name: ReportName) -> &mut Findings {
        self.reports.entry(name).or_default()
    }

    pub fn skip(&mut self, name: ReportName, reason: impl Into<String>) {
        *self.findings_mut(name).skipped.entry(reason.into()).or_default() += 1;
    }

    /// Counts a warning, and stores the first few of each kind as examples.
    pub fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }
}

impl Findings {
    pub fn all_unknown_values(&self) -> impl Iterator<Item = (&&'static str, &Warning)> {
        self.unknown_values.iter().chain(&self.unknown_details)
    }
}
