//! The import report, for people and logs.

use std::collections::BTreeMap;

use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::{Country, Status, Version};
use serde::Serialize;
use store::{FileDates, Snapshot};

use crate::{
    CountryReport, IngestError,
    changes::Changes,
    gates::Gate,
    item_writes::Items,
    notes::{Findings, Notes, Warning},
    quality::QualityReport,
    reports,
    verify::Verification,
};

#[derive(Debug, Clone, Default, Serialize)]
pub struct ImportReport {
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The current version after the import; `None` before the first import.
    pub version: Option<Version>,
    /// `true` if real data replaces the sample, which counts as the first import.
    pub replaces_sample: bool,
    pub file_dates: FileDates,
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    /// The number of area codes, including those in service without exchanges.
    pub area_codes: usize,
    pub area_codes_with_exchanges: u32,
    /// The differences from the previous version. JSON output lists only the first 100.
    #[serde(flatten)]
    pub changes: Changes,
    pub quality: QualityReport,
    /// Countries whose block report could not be read. Their current blocks remain.
    pub unread_block_reports: Vec<Country>,
    /// Other countries, by ISO 3166-1 code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub countries: BTreeMap<String, CountryReport>,
    pub items: Items,
    /// The number of publications whose changes could not be added to the history. The next import will retry.
    pub unrecorded: usize,
    pub skipped: BTreeMap<String, u32>,
    /// Suspicious data that was imported anyway, by kind.
    pub warnings: BTreeMap<String, Warning>,
    /// The comparison of items with the current version, made after the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
}

/// The outcome for North America, or for another country.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    Published,
    /// The reports contain the same data as the current version.
    Unchanged,
    /// A dry run: the report lists what would be published.
    #[default]
    Planned,
    /// A gate refused the import. Nothing has changed.
    Refused {
        reason: String,
        /// The gates that would have to be allowed; `None` if the import cannot be allowed.
        #[serde(skip_serializing_if = "Option::is_none")]
        allowed_by: Option<Vec<Gate>>,
    },
    /// The reports could not be imported. Nothing has changed.
    Failed {
        reason: String,
    },
    RolledBack,
}

impl Outcome {
    pub fn failed(error: &IngestError) -> Self {
        Self::Failed { reason: with_causes(error) }
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
        let skipped = notes.reports.iter().flat_map(|(&name, Findings { skipped, .. })| {
            let file = reports::file(name);
            skipped.iter().map(move |(reason, &rows)| (format!("{file}: {reason}"), rows))
        });
        Self {
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
            skipped: skipped.collect(),
            warnings: notes.warnings,
            ..Self::default()
        }
    }
}
