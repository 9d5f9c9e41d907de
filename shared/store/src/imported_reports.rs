//! The reports behind a version, as listed by `/v1/sources`.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil::Date};
use numbering::records::Country;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A kind of report that imports read.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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

impl ReportName {
    pub fn codes(country: Country) -> Self {
        match country {
            Country::Us => Self::Nanpa,
            Country::Ca => Self::Cnac,
        }
    }

    pub fn blocks(country: Country) -> Self {
        match country {
            Country::Us => Self::ThousandsBlocks,
            Country::Ca => Self::CanadianBlocks,
        }
    }

    pub fn description(self) -> ReportDescription {
        let (publisher, title, max_age_days, cannot_tell): (_, _, _, &[&str]) = match self {
            Self::Nanpa => ("NANPA", "Utilized central office codes", Some(7), CODES_CANNOT_TELL),
            Self::Cnac => ("CNAC", "Central office code status", Some(7), CODES_CANNOT_TELL),
            Self::NpaReport => ("NANPA", "Area code database", Some(62), AREA_CODES_CANNOT_TELL),
            Self::ThousandsBlocks => {
                ("NANPA", "Thousands block assignments", Some(7), BLOCKS_CANNOT_TELL)
            }
            Self::CanadianBlocks => ("CNAC", "Thousands block status", Some(7), BLOCKS_CANNOT_TELL),
            Self::Carriers => (
                "operator",
                "Carrier types and trade names",
                None,
                &["the origin of a type or name"],
            ),
        };
        let license = match publisher {
            "NANPA" => NANPA_LICENSE,
            "CNAC" => CNAC_LICENSE,
            _ => OPERATOR_LICENSE,
        };
        ReportDescription { publisher, title, license, max_age_days, cannot_tell }
    }
}

const NANPA_LICENSE: &str =
    "The report states no license. Ask NANPA (nanpa.com) before you redistribute it.";
const CNAC_LICENSE: &str =
    "The report states no license. See the website's terms of use, or ask CNAC (cnac.ca).";
const OPERATOR_LICENSE: &str = "Ask the operator of this service.";

const USE_AND_PORTING: &str = "whether a number is in use, or was ported to another carrier";
const CODES_CANNOT_TELL: &[&str] = &[
    USE_AND_PORTING,
    "the holders of thousands blocks in pooled exchanges",
    "a carrier's type and everyday name",
];
const AREA_CODES_CANNOT_TELL: &[&str] = &[
    "the exchanges in an area code",
    "the boundaries of an area code, or the time zone of each place in it",
];
const BLOCKS_CANNOT_TELL: &[&str] =
    &[USE_AND_PORTING, "the holders of exchanges that are not pooled"];

/// The facts about a report that are known in advance.
pub struct ReportDescription {
    pub publisher: &'static str,
    pub title: &'static str,
    /// The known terms of use.
    pub license: &'static str,
    /// The age in days beyond which its publisher has stalled; `None` if it has no schedule. Most reports are published
    /// every day, the area code database every month. The alarms in `template.yaml` have the same defaults.
    pub max_age_days: Option<i64>,
    /// Facts that the report does not contain.
    pub cannot_tell: &'static [&'static str],
}

/// A report, as read by an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportedReport {
    /// The publisher's URL, or only the file name for any other source, because addresses are published.
    pub address: String,
    /// The date stated in the report.
    pub date: Option<Date>,
    pub read_at: Timestamp,
    /// The hash of the file before unpacking, in hex.
    pub sha256: String,
    /// The size of that file.
    pub bytes: u64,
    pub rows: u32,
    /// Rows that were not imported, by reason.
    pub skipped: BTreeMap<String, u32>,
    /// Unknown values, by column.
    pub unknown_values: BTreeMap<String, u32>,
    /// Record counts.
    pub counts: BTreeMap<String, u32>,
    /// The completeness of records, by column or status.
    pub percentages: BTreeMap<String, f64>,
}

/// The reports behind one version, in list order. Stored as JSON text, because every container
/// reads the manifest, and DynamoDB's nested attributes take longer to parse.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ImportedReports(pub BTreeMap<ReportName, ImportedReport>);

/// The dates stated in the reports; `None` for a report without a date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FileDates {
    pub nanpa: Option<Date>,
    pub cnac: Option<Date>,
    pub npa_report: Option<Date>,
}

/// The report date in the fictional sample. No real report has this date.
pub const SAMPLE_DATE: Date = Date::constant(2000, 1, 1);

impl TryFrom<String> for ImportedReports {
    type Error = serde_json::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        serde_json::from_str(&text).map(Self)
    }
}

impl From<ImportedReports> for String {
    fn from(reports: ImportedReports) -> Self {
        json!(reports.0).to_string()
    }
}

impl ImportedReports {
    /// The date stated in a report; `None` if it has no date or was not imported.
    pub fn date(&self, name: ReportName) -> Option<Date> {
        self.0.get(&name)?.date
    }

    pub fn file_dates(&self) -> FileDates {
        let [nanpa, cnac, npa_report] =
            [ReportName::Nanpa, ReportName::Cnac, ReportName::NpaReport].map(|it| self.date(it));
        FileDates { nanpa, cnac, npa_report }
    }
}
