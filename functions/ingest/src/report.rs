//! What an import did, for the person or the log that reads it.

use std::{collections::BTreeMap, fmt::Display};

use numbering::dataset::Dataset;
use numbering::records::{Country, Status, Version};
use serde::Serialize;
use store::{FileDates, Snapshot};

use crate::{changes::Changes, difference::Differences, quality::QualityReport};

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
    pub version: Option<Version>,
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
    /// How complete it is, against what was in force before.
    pub quality: QualityReport,
    /// The records that differ; a report holds the first of them.
    pub changes: Option<Changes>,
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

impl Warning {
    fn count(&mut self, example: impl Display) {
        self.count += 1;
        if self.examples.len() < MOST_EXAMPLES {
            self.examples.push(example.to_string());
        }
    }
}

impl Report {
    /// The report on `dataset`, taken in as `snapshot`.
    pub(crate) fn on(
        snapshot: &Snapshot,
        dataset: &Dataset,
        differences: Differences,
        quality: QualityReport,
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
            quality,
            changes: None,
            items: Items::default(),
            skipped: notes.skipped,
            warnings: notes.warnings,
        }
    }
}

impl Report {
    /// The changes that it counts, between the versions it compares.
    pub(crate) fn changes(&self, before: Dataset, after: Dataset) -> Option<Changes> {
        let Differences { exchanges, carriers, area_codes, .. } = &self.differences;
        let total = [exchanges, carriers, area_codes].map(|delta| delta.total() as usize);
        Some(Changes::new(before, after, total.iter().sum()))
    }
}

/// What the reports held that had to be read with care, and what was passed over.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    skipped: BTreeMap<String, u32>,
    warnings: BTreeMap<String, Warning>,
    /// How many rows each file has.
    rows: BTreeMap<&'static str, u32>,
    /// The words nobody knows, by file and column.
    unknown: BTreeMap<(&'static str, &'static str), Warning>,
}

/// The words in one column of a file that nobody knows.
pub(crate) struct Unknown<'a> {
    pub file: &'static str,
    pub column: &'static str,
    pub count: u32,
    /// How many rows the file has.
    pub rows: u32,
    pub example: &'a str,
}

/// The warning for an OCN whose rows do not agree on the company's name.
const SEVERAL_NAMES: &str = "an OCN has several spellings of its name; the most frequent counts";

impl Notes {
    /// Counts a row that is passed over.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        *self.skipped.entry(reason.into()).or_default() += 1;
    }

    /// Counts something read with care; the first of its kind are kept as examples.
    pub(crate) fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    /// Counts the rows of a file.
    pub(crate) fn count_rows(&mut self, file: &'static str, rows: u64) {
        *self.rows.entry(file).or_default() += u32::try_from(rows).unwrap_or(u32::MAX);
    }

    /// Counts a word in a column that nobody knows, and was read as `what` says.
    pub(crate) fn warn_unknown(
        &mut self,
        file: &'static str,
        column: &'static str,
        what: &str,
        example: impl Display,
    ) {
        self.unknown.entry((file, column)).or_default().count(&example);
        self.warn(format!("{file}: {column} {what}"), example);
    }

    /// Counts an OCN that comes with several company names.
    pub(crate) fn warn_several_names(&mut self, example: impl Display) {
        self.warn(SEVERAL_NAMES, example);
    }

    /// How many OCNs come with several company names.
    pub(crate) fn several_names(&self) -> u32 {
        self.warnings.get(SEVERAL_NAMES).map_or(0, |warning| warning.count)
    }

    /// The columns in which words are not known.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = Unknown<'_>> {
        self.unknown.iter().map(|(&(file, column), warning)| Unknown {
            file,
            column,
            count: warning.count,
            rows: self.rows.get(file).copied().unwrap_or_default(),
            example: warning.examples.first().map_or("", String::as_str),
        })
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
