//! Lists the reports behind the current version.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use jiff::civil::Date;
use numbering::records::Version;
use serde::Serialize;
use shared::{
    errors::{ApiError, PublicError},
    state::App,
};
use store::{Countries, CountryData, ImportedReport, ReportDescription, ReportName, Snapshot};
use utoipa::ToSchema;

use super::{SampleHeader, current_snapshot, sample_header};

/// The reports that the current version was imported from.
#[derive(Debug, Serialize, ToSchema)]
pub struct Sources {
    /// The data version.
    #[schema(value_type = String, example = "20261124T040000Z-k3v9")]
    pub version: Version,
    /// The time of the last import of this data.
    #[schema(format = DateTime)]
    pub imported_at: String,
    /// Only reports that were imported. A country without a block report has no blocks.
    pub reports: Vec<Source>,
}

/// A report and statistics about its contents.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct Source {
    /// Such as `nanpa`, `npa_report` or `carriers`, or `ranges_gb` for another country's ranges. More may follow.
    #[schema(example = "nanpa")]
    pub report: String,
    #[schema(example = "Utilized central office codes")]
    pub title: String,
    /// `NANPA`, `CNAC`, another country's regulator, or `operator` for the operator's own list.
    #[schema(example = "NANPA")]
    pub publisher: String,
    /// The publisher's URL, or the name of a file from elsewhere.
    #[schema(
        example = "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip"
    )]
    pub address: String,
    /// The date stated in the report or, for another country's ranges, the date of the newest entry; `null` if there is
    /// none.
    #[schema(required, value_type = Option<String>, format = Date, example = "2026-09-04")]
    pub date: Option<Date>,
    /// The time of the import that read it. If a later import cannot read a block report, it keeps the blocks and this
    /// time.
    #[schema(format = DateTime)]
    pub read_at: String,
    /// The SHA-256 hash of the file, before it was unpacked, in hex.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub sha256: String,
    /// The size of that file.
    pub bytes: u64,
    /// The number of rows, excluding the header and blank rows.
    pub rows: u32,
    /// Rows that did not become records, by reason, and blank rows.
    pub skipped: BTreeMap<String, u32>,
    /// The number of values that this release does not recognize, by column.
    pub unknown_values: BTreeMap<String, u32>,
    /// Counts of the report's records, such as `records`, `distinct_holders` or `blocks`.
    pub counts: BTreeMap<String, u32>,
    /// Percentages of its exchanges with a `holder`, `ocn`, `state` or `rate_center`, and of those that are `assigned`,
    /// `unassigned` or `reserved`. `carrier_type` is the percentage of exchanges with an OCN whose carrier has a type.
    pub percentages: BTreeMap<String, f64>,
    /// The known terms of use.
    #[schema(
        example = "The report states no license. Ask NANPA (nanpa.com) before you redistribute it."
    )]
    pub license: String,
    /// Facts that this report does not contain.
    pub cannot_tell: Vec<String>,
}

impl Sources {
    fn new(Snapshot { version, ingested_at, reports, .. }: Snapshot, countries: Countries) -> Self {
        let reports = reports.0.into_iter().map(Source::from);
        let countries = countries.0.into_iter().map(Source::from);
        let imported_at = ingested_at.to_string();
        Self { version, imported_at, reports: reports.chain(countries).collect() }
    }
}

impl From<(ReportName, ImportedReport)> for Source {
    fn from((report, imported): (ReportName, ImportedReport)) -> Self {
        let ReportDescription { publisher, title, license, cannot_tell, .. } = report.description();
        Self {
            report: report.to_string(),
            title: title.to_owned(),
            publisher: publisher.to_owned(),
            license: license.to_owned(),
            cannot_tell: cannot_tell.iter().copied().map(str::to_owned).collect(),
            ..imported.into()
        }
    }
}

impl From<(String, CountryData)> for Source {
    fn from((code, data): (String, CountryData)) -> Self {
        let CountryData { publisher, title, license, cannot_tell, imported, .. } = data;
        let report = format!("ranges_{}", code.to_lowercase());
        Self { report, title, publisher, license, cannot_tell, ..imported.into() }
    }
}

impl From<ImportedReport> for Source {
    /// Describes what was read, without a name.
    fn from(imported: ImportedReport) -> Self {
        Self {
            address: imported.address,
            date: imported.date,
            read_at: imported.read_at.to_string(),
            sha256: imported.sha256,
            bytes: imported.bytes,
            rows: imported.rows,
            skipped: imported.skipped,
            unknown_values: imported.unknown_values,
            counts: imported.counts,
            percentages: imported.percentages,
            ..Self::default()
        }
    }
}

/// Sources of the data
///
/// The reports behind the current version, each with its address, date, hash, rows, skipped rows, completeness, license
/// and limitations. Phone number rules and time zones come from libraries listed in the release's license notices.
#[utoipa::path(
    get, path = "/v1/sources", operation_id = "getSources", tag = "Status", security(()),
    responses(
        PublicError,
        (
            status = 200, description = "The reports", body = Sources,
            headers(("X-Numbering-Data"))
        )
    )
)]
pub async fn sources(State(app): State<App>) -> Result<(SampleHeader, Json<Sources>), ApiError> {
    let snapshot = current_snapshot(&app).await?;
    let countries = app.countries().await?;
    Ok((sample_header(&snapshot), Json(Sources::new(snapshot, countries))))
}
