//! The import report, for people and logs.

use std::{collections::BTreeMap, fmt::Display};

use numbering::dataset::Dataset;
use numbering::records::{Country, Status, Version};
use serde::Serialize;
use store::{FileDates, Snapshot};

use crate::{Waivers, changes::Changes, quality::QualityReport};

#[derive(Debug, Clone, Serialize)]
pub struct ImportReport {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The version that is current afterward; `None` before the first import.
    pub version: Option<Version>,
    /// `true` if published data replaces the sample. This counts as the first import.
    pub replaces_sample: bool,
    pub file_dates: FileDates,
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    /// The number of area codes, including those in service without exchanges.
    pub area_codes: usize,
    pub area_codes_with_exchanges: u32,
    /// The differences from the previous version. JSON lists only the first 100.
    #[serde(flatten)]
    pub changes: Changes,
    pub quality: QualityReport,
    /// Countries whose report on thousands blocks could not be read; their current blocks are kept.
    pub unread_block_reports: Vec<Country>,
    pub items: Items,
    /// The number of publications whose changes could not be added to the history. The next import tries again.
    pub unrecorded: usize,
    /// Skipped rows by report and reason.
    pub skipped: BTreeMap<String, u32>,
    /// Suspicious data that was imported anyway, by kind.
    pub warnings: BTreeMap<String, Warning>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The imported version is current.
    Published,
    /// The reports contain the same data as the current version.
    Unchanged,
    /// A dry run: the report lists what would be published.
    Planned,
    /// A gate refused the import; nothing has changed.
    Refused {
        reason: String,
        /// The waivers that would let the import pass all gates; `None` if none do.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_by: Option<Waivers>,
    },
    /// An older version is current again.
    RolledBack,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Items {
    pub written: usize,
    pub deleted: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Warning {
    pub count: u32,
    /// The first ten values, or their positions.
    pub examples: Vec<String>,
}

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
    /// Creates the report for `dataset`, imported as `snapshot` but not yet published.
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
            file_dates: snapshot.reports.file_dates(),
            records: snapshot.statistics.total_records,
            by_country: snapshot.statistics.by_country.clone(),
            by_status: snapshot.statistics.by_status.clone(),
            carriers: dataset.carriers().len(),
            area_codes: dataset.area_codes().len(),
            area_codes_with_exchanges: snapshot.statistics.area_codes,
            quality,
            changes,
            unread_block_reports: notes.countries_without_blocks,
            items: Items::default(),
            unrecorded: 0,
            skipped: notes
                .skipped
                .into_iter()
                .map(|((file, reason), rows)| (format!("{file}: {reason}"), rows))
                .collect(),
            warnings: notes.warnings,
        }
    }
}

/// Warnings and skipped rows, collected while reading the reports.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Rows by file and reason.
    pub(crate) skipped: BTreeMap<(&'static str, String), u32>,
    pub(crate) warnings: BTreeMap<String, Warning>,
    pub(crate) rows: BTreeMap<&'static str, u32>,
    /// Countries whose report on thousands blocks cannot be read.
    pub(crate) countries_without_blocks: Vec<Country>,
    /// Values that decide about records, by file and column. Many of them are a reason to refuse the import.
    pub(crate) unknown_values: BTreeMap<(&'static str, &'static str), Warning>,
    /// Values that only add details to records.
    pub(crate) unknown_details: BTreeMap<(&'static str, &'static str), Warning>,
    /// Columns that this release does not know, by file.
    pub(crate) unknown_columns: BTreeMap<&'static str, Warning>,
    /// Optional columns that a file does not have.
    pub(crate) missing_columns: BTreeMap<&'static str, Warning>,
}

/// The warning for an OCN with different company names in its rows.
pub(crate) const SEVERAL_NAMES: &str =
    "an OCN has several company names; the most frequent one is used";

impl Notes {
    pub(crate) fn skip(&mut self, file: &'static str, reason: impl Into<String>) {
        *self.skipped.entry((file, reason.into())).or_default() += 1;
    }

    /// Counts a warning, and keeps the first few of each kind as examples.
    pub(crate) fn warn(&mut self, kind: impl Into<String>, example: impl Display) {
        self.warnings.entry(kind.into()).or_default().count(example);
    }

    pub(crate) fn count_rows(&mut self, file: &'static str, rows: u64) {
        *self.rows.entry(file).or_default() += u32::try_from(rows).unwrap_or(u32::MAX);
    }

    pub(crate) fn warn_unknown_column(&mut self, file: &'static str, name: impl Display) {
        let name = format!("'{name}'");
        self.unknown_columns.entry(file).or_default().count(&name);
        self.warn(format!("{file}: a column is unknown and is ignored"), name);
    }

    pub(crate) fn note_missing_column(&mut self, file: &'static str, name: &str) {
        self.missing_columns.entry(file).or_default().count(format!("'{name}'"));
    }

    /// Counts an unknown value in a column. `consequence` says how it is treated.
    pub(crate) fn warn_unknown_value(
        &mut self,
        file: &'static str,
        column: &'static str,
        consequence: &str,
        example: impl Display,
    ) {
        self.unknown_values.entry((file, column)).or_default().count(&example);
        self.warn(format!("{file}: {column} {consequence}"), example);
    }

    pub(crate) fn warn_unknown_detail(
        &mut self,
        file: &'static str,
        column: &'static str,
        example: impl Display,
    ) {
        self.unknown_details.entry((file, column)).or_default().count(&example);
        self.warn(format!("{file}: {column} is unknown"), example);
    }

    /// Every unknown value, by file and column.
    pub(crate) fn unknown_values(
        &self,
    ) -> impl Iterator<Item = (&(&'static str, &'static str), &Warning)> {
        self.unknown_values.iter().chain(&self.unknown_details)
    }
}
