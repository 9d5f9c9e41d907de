//! What an import did, for the person or the log that reads it.

use std::{collections::BTreeMap, fmt::Display};

use serde::Serialize;
use shared::{
    dataset::Dataset,
    records::{Country, Status},
    store::{FileDates, Snapshot},
};

use crate::difference::Differences;

/// How an import ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The version is in force.
    Published,
    /// The files hold what is in force already.
    Unchanged,
    /// A dry run: this is what would be published.
    Planned,
    /// A rule forbids it; nothing has changed.
    Refused { reason: String },
    /// The version before is in force again.
    RolledBack,
}

/// What an import read and changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The version in force now; `None` where there is none yet.
    pub version: Option<String>,
    pub file_dates: FileDates,
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    /// Those in service without exchanges among them.
    pub area_codes: usize,
    pub area_codes_with_exchanges: u32,
    /// What sets it apart from what was in force before.
    pub differences: Differences,
    pub items: Items,
    /// Rows that were passed over, by reason.
    pub skipped: BTreeMap<String, u32>,
    /// What had to be read with care, each counted and with examples.
    pub warnings: BTreeMap<String, Warning>,
}

/// How many lookup items were written and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Items {
    pub written: usize,
    pub deleted: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub count: u32,
    /// What or where the first were, at most ten.
    pub examples: Vec<String>,
}

const MOST_EXAMPLES: usize = 10;

impl Report {
    /// The report on `dataset`, taken in as `snapshot`.
    pub(crate) fn on(
        snapshot: &Snapshot,
        dataset: &Dataset,
        differences: Differences,
        notes: Notes,
    ) -> Self {
        Self {
            outcome: Outcome::Planned,
            version: None,
            file_dates: snapshot.file_dates,
            records: snapshot.statistics.total_records,
            by_country: snapshot.statistics.by_country.clone(),
            by_status: snapshot.statistics.by_status.clone(),
            carriers: dataset.carriers().len(),
            area_codes: dataset.area_codes().len(),
            area_codes_with_exchanges: snapshot.statistics.area_codes,
            differences,
            items: Items::default(),
            skipped: notes.skipped,
            warnings: notes.warnings,
        }
    }
}

/// What the reports held that had to be read with care, and what was passed over.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    skipped: BTreeMap<String, u32>,
    warnings: BTreeMap<String, Warning>,
}

impl Notes {
    /// Counts a row that is passed over.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        *self.skipped.entry(reason.into()).or_default() += 1;
    }

    /// Counts something read with care; the first of its kind are kept as examples.
    pub(crate) fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        let warning = self.warnings.entry(kind.into()).or_default();
        warning.count += 1;
        if warning.examples.len() < MOST_EXAMPLES {
            warning.examples.push(example.to_string());
        }
    }

    #[cfg(test)]
    pub(crate) fn skipped(&self) -> &BTreeMap<String, u32> {
        &self.skipped
    }

    #[cfg(test)]
    pub(crate) fn warnings(&self) -> &BTreeMap<String, Warning> {
        &self.warnings
    }
}
