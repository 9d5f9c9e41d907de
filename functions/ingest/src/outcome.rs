//! The report of an import, for the person or the log that reads it.

use std::{collections::BTreeMap, fmt::Display, sync::Arc};

use numbering::dataset::Dataset;
use numbering::records::{Country, Status, Version};
use serde::Serialize;
use store::{FileDates, Snapshot};

use crate::{
    Waivers,
    changes::{Changes, Comparison, Differences},
    quality::QualityReport,
};

/// The records that an import or a rollback has read and changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ImportReport {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The version that is current now; `None` before the first import.
    pub version: Option<Version>,
    /// `true` if published data takes the place of the made-up sample, which makes it the first import:
    /// it is compared with nothing.
    pub replaces_sample: bool,
    /// The dates that the files state.
    pub file_dates: FileDates,
    /// The number of exchanges.
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    /// The number of area codes, including those in service without exchanges.
    pub area_codes: usize,
    pub area_codes_with_exchanges: u32,
    /// The records that differ from the version that was current before, counted.
    pub differences: Differences,
    /// The completeness of the data, compared with the version that was current before.
    pub quality: QualityReport,
    /// The records that differ; written as JSON, the first of them.
    pub changes: Changes,
    pub items: Items,
    /// The rows that were left out, counted by reason.
    pub skipped: BTreeMap<String, u32>,
    /// The things that looked wrong and were imported with care, by kind.
    pub warnings: BTreeMap<String, Warning>,
}

/// The end of an import or a rollback.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The imported version is current.
    Published,
    /// The files hold the same data as the current version.
    Unchanged,
    /// A dry run: the report says what would be published.
    Planned,
    /// A gate refused the import; nothing has changed.
    Refused {
        /// A line for each gate.
        reason: String,
        /// The waivers that let the import pass all gates; `None` if nothing does.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_by: Option<Waivers>,
    },
    /// The version before is current again.
    RolledBack,
}

/// The number of lookup items that were written and deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Items {
    pub written: usize,
    pub deleted: usize,
}

/// The things of one kind that looked wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub count: u32,
    /// The first of them, or where they stand; at most ten.
    pub examples: Vec<String>,
}

/// Most examples of one kind of warning.
const MAX_EXAMPLES: usize = 10;

impl Warning {
    fn count(&mut self, example: impl Display) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(example.to_string());
        }
    }
}

impl ImportReport {
    /// The report on `dataset` after `before`, imported as `snapshot`, before anything is published.
    pub(crate) fn new(
        snapshot: &Snapshot,
        before: Arc<Dataset>,
        dataset: &Arc<Dataset>,
        comparison: Comparison,
        quality: QualityReport,
        notes: Notes,
    ) -> Self {
        let Comparison { differences, changed_keys } = comparison;
        Self {
            outcome: Outcome::Planned,
            version: None,
            replaces_sample: false,
            file_dates: snapshot.file_dates,
            records: snapshot.statistics.total_records,
            by_country: snapshot.statistics.by_country.clone(),
            by_status: snapshot.statistics.by_status.clone(),
            carriers: dataset.carriers().len(),
            area_codes: dataset.area_codes().len(),
            area_codes_with_exchanges: snapshot.statistics.area_codes,
            differences,
            quality,
            changes: Changes::new(before, Arc::clone(dataset), changed_keys),
            items: Items::default(),
            skipped: notes.skipped,
            warnings: notes.warnings,
        }
    }
}

/// The things in the reports that looked wrong, and the rows that were left out.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    skipped: BTreeMap<String, u32>,
    warnings: BTreeMap<String, Warning>,
    /// The number of rows of each file.
    rows: BTreeMap<&'static str, u32>,
    /// The words that are not known, by file and column.
    unknown_words: BTreeMap<(&'static str, &'static str), Warning>,
}

/// The words in one column of a file that are not known.
pub(crate) struct UnknownWords<'a> {
    pub file: &'static str,
    pub column: &'static str,
    pub count: u32,
    /// The number of rows of the file.
    pub rows: u32,
    pub example: &'a str,
}

/// The kind of warning for an OCN whose rows do not agree on the company's name.
pub(crate) const SEVERAL_NAMES: &str =
    "an OCN has several spellings of its name; the most frequent counts";

impl Notes {
    /// Counts a row that is left out.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        *self.skipped.entry(reason.into()).or_default() += 1;
    }

    /// Counts something that looks wrong; the first of its kind are kept as examples.
    pub(crate) fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    /// Counts the rows of a file.
    pub(crate) fn count_rows(&mut self, file: &'static str, rows: u64) {
        *self.rows.entry(file).or_default() += u32::try_from(rows).unwrap_or(u32::MAX);
    }

    /// Counts a word in a column that is not known; `consequence` says how it was read.
    pub(crate) fn warn_unknown_word(
        &mut self,
        file: &'static str,
        column: &'static str,
        consequence: &str,
        example: impl Display,
    ) {
        self.unknown_words.entry((file, column)).or_default().count(&example);
        self.warn(format!("{file}: {column} {consequence}"), example);
    }

    /// The number of warnings of a kind.
    pub(crate) fn warned(&self, kind: &str) -> u32 {
        self.warnings.get(kind).map_or(0, |warning| warning.count)
    }

    /// The columns that hold words that are not known.
    pub(crate) fn unknown_words(&self) -> impl Iterator<Item = UnknownWords<'_>> {
        self.unknown_words.iter().map(|(&(file, column), warning)| UnknownWords {
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
