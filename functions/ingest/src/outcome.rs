//! The report of an import, for people and logs.

use std::{collections::BTreeMap, fmt::Display};

use numbering::dataset::Dataset;
use numbering::records::{Country, Status, Version};
use serde::Serialize;
use store::{FileDates, Snapshot};

use crate::{Waivers, changes::Changes, quality::QualityReport};

/// The records that an import or rollback read and changed.
#[derive(Debug, Clone, Serialize)]
pub struct ImportReport {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The now-current version; `None` before the first import.
    pub version: Option<Version>,
    /// `true` if published data replaces the made-up sample. This makes it the first import, which is compared with
    /// nothing.
    pub replaces_sample: bool,
    /// The dates stated in the files.
    pub file_dates: FileDates,
    /// The number of exchanges.
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    /// The number of area codes, including those in service without exchanges.
    pub area_codes: usize,
    pub area_codes_with_exchanges: u32,
    /// The differences from the previously current version; JSON has only the first records.
    #[serde(flatten)]
    pub changes: Changes,
    /// The completeness of the data, compared with the previously current version.
    pub quality: QualityReport,
    pub items: Items,
    /// Skipped rows, counted by reason.
    pub skipped: BTreeMap<String, u32>,
    /// Things that looked wrong and were imported with care, by kind.
    pub warnings: BTreeMap<String, Warning>,
}

/// The result of an import or rollback.
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
        /// One line per gate.
        reason: String,
        /// The waivers that would let the import pass all gates; `None` if none do.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_by: Option<Waivers>,
    },
    /// The previous version is current again.
    RolledBack,
}

/// The number of lookup items written and deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Items {
    pub written: usize,
    pub deleted: usize,
}

/// Things of one kind that looked wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub count: u32,
    /// The first ones, or where they are; at most ten.
    pub examples: Vec<String>,
}

/// Maximum examples per kind of warning.
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
    /// The report on `dataset`, imported as `snapshot`, before publishing.
    pub(crate) fn new(
        snapshot: &Snapshot,
        dataset: &Dataset,
        changes: Changes,
        quality: QualityReport,
        notes: Notes,
    ) -> Self {
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
            quality,
            changes,
            items: Items::default(),
            skipped: notes.skipped,
            warnings: notes.warnings,
        }
    }
}

/// Things in the reports that looked wrong, and skipped rows.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) skipped: BTreeMap<String, u32>,
    pub(crate) warnings: BTreeMap<String, Warning>,
    /// The number of rows of each file.
    pub(crate) rows: BTreeMap<&'static str, u32>,
    /// Unknown words, by file and column.
    pub(crate) unknown_words: BTreeMap<(&'static str, &'static str), Warning>,
}

/// The warning for an OCN whose rows disagree on the company's name.
pub(crate) const SEVERAL_NAMES: &str =
    "an OCN has several spellings of its name; the most frequent counts";

impl Notes {
    /// Counts a skipped row.
    pub(crate) fn skip(&mut self, reason: impl Into<String>) {
        *self.skipped.entry(reason.into()).or_default() += 1;
    }

    /// Counts something that looks wrong; keeps the first of each kind as examples.
    pub(crate) fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    /// Counts the rows of a file.
    pub(crate) fn count_rows(&mut self, file: &'static str, rows: u64) {
        *self.rows.entry(file).or_default() += u32::try_from(rows).unwrap_or(u32::MAX);
    }

    /// Counts an unknown word in a column; `consequence` says how it was read.
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
}
