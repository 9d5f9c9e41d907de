//! The reports that a version was imported from, as `/v1/sources` lists them.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};

/// A report that an import reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportName {
    /// NANPA's utilized central office codes.
    Nanpa,
    /// CNAC's CO code status report.
    Cnac,
    /// NANPA's area code database.
    NpaReport,
    /// NANPA's thousands block assignments.
    ThousandsBlocks,
    /// CNAC's thousands block status.
    CanadianBlocks,
    /// The operator's carrier types and trade names.
    Carriers,
}

/// A report as an import read it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportedReport {
    /// The URL without credentials, or only the name of a file or S3 object. It is published.
    pub address: String,
    /// The date stated in the report.
    pub date: Option<Date>,
    pub read_at: Timestamp,
    /// The hash of the file as published, in hex.
    pub sha256: String,
    /// The size of the file as published.
    pub bytes: u64,
    pub rows: u32,
    /// Rows that did not become records, by reason.
    pub skipped: BTreeMap<String, u32>,
    /// Rows with an unknown value, by column.
    pub unknown_values: BTreeMap<String, u32>,
    /// Counts of its records.
    pub counts: BTreeMap<String, u32>,
    /// How complete its records are.
    pub percentages: BTreeMap<String, f64>,
}

/// The reports of one version, in the order in which they are listed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImportedReports(pub BTreeMap<ReportName, ImportedReport>);

/// The dates stated in the reports; `None` for a report without a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FileDates {
    pub nanpa: Option<Date>,
    pub cnac: Option<Date>,
    pub npa_report: Option<Date>,
}

/// The report date in the fictional sample, which no published report has.
pub const SAMPLE_DATE: Date = Date::constant(2000, 1, 1);

impl ImportedReports {
    /// The date stated in a report; `None` if it has none or was not imported.
    pub fn date(&self, name: ReportName) -> Option<Date> {
        self.0.get(&name)?.date
    }

    pub fn file_dates(&self) -> FileDates {
        let [nanpa, cnac, npa_report] =
            [ReportName::Nanpa, ReportName::Cnac, ReportName::NpaReport].map(|it| self.date(it));
        FileDates { nanpa, cnac, npa_report }
    }

    /// Returns `true` for the fictional sample.
    pub fn are_sample(&self) -> bool {
        self.date(ReportName::Nanpa) == Some(SAMPLE_DATE)
    }
}
