//! What an import did, for the person or the log that reads it.

use std::collections::BTreeMap;

use serde::Serialize;
use shared::{
    dataset::Dataset,
    records::{Country, Status},
    store::Manifest,
};

/// What an import loaded and changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version that is current now.
    pub version: String,
    pub records: u32,
    pub by_country: BTreeMap<Country, u32>,
    pub by_status: BTreeMap<Status, u32>,
    pub carriers: usize,
    pub area_codes: usize,
    pub changes: Changes,
    /// Each warning with how often it arose.
    pub warnings: BTreeMap<String, u32>,
}

/// How many items an import wrote and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    pub written: usize,
    pub deleted: usize,
}

impl Report {
    pub(crate) fn new(
        dataset: &Dataset,
        published: Manifest,
        changes: Changes,
        warnings: Warnings,
    ) -> Self {
        Self {
            version: published.version,
            records: published.statistics.total_records,
            by_country: published.statistics.by_country,
            by_status: published.statistics.by_status,
            carriers: dataset.carriers().len(),
            area_codes: dataset.area_codes().len(),
            changes,
            warnings: warnings.0,
        }
    }
}

/// What the reports held that had to be read with care, each counted.
#[derive(Debug, Default)]
pub struct Warnings(BTreeMap<String, u32>);

impl Warnings {
    pub(crate) fn add(&mut self, warning: impl Into<String>) {
        *self.0.entry(warning.into()).or_default() += 1;
    }
}
