//! The Lambda around the import: which sources it is asked for, and what it answers.

use std::env;

use lambda_runtime::{Error, LambdaEvent};
use serde::Deserialize;
use shared::store::{Patience, Store};

use crate::{Options, Report, Source, Sources, ingest};

/// Where the reports are published.
const NANPA: &str =
    "https://reports.nanpa.com/public/CoCodeAssignment_Utilized_AllStates_Public.zip";
const CNAC: &str = "https://www.cnac.ca/data/COCodeStatus_ALL.zip";
const NPA_REPORT: &str = "https://reports.nanpa.com/public/npa_report.csv";

/// What one invocation imports: paths or `https://` addresses. What it leaves out comes from
/// `NANPA_SOURCE`, `CNAC_SOURCE`, `NPA_REPORT_SOURCE` and `CARRIERS_SOURCE`, or from where the
/// reports are published; the overlay is nowhere published and may stay out.
#[derive(Debug, Default, Deserialize)]
pub struct Request {
    nanpa: Option<String>,
    cnac: Option<String>,
    npa_report: Option<String>,
    carriers: Option<String>,
}

impl From<Request> for Sources {
    fn from(Request { nanpa, cnac, npa_report, carriers }: Request) -> Self {
        let configured = |given: Option<String>, variable| {
            let text = given.or_else(|| env::var(variable).ok()).filter(|text| !text.is_empty());
            text.map(|text| {
                text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {})
            })
        };
        let published = |source: Option<Source>, address: &str| {
            source.unwrap_or_else(|| Source::Https(address.to_owned()))
        };
        Self {
            nanpa: published(configured(nanpa, "NANPA_SOURCE"), NANPA),
            cnac: published(configured(cnac, "CNAC_SOURCE"), CNAC),
            npa_report: published(configured(npa_report, "NPA_REPORT_SOURCE"), NPA_REPORT),
            carriers: configured(carriers, "CARRIERS_SOURCE"),
        }
    }
}

/// Imports what the event asks for and answers with the report.
///
/// # Errors
/// Where the import is refused or fails; Lambda then counts the invocation as failed.
pub async fn handle(event: LambdaEvent<Request>) -> Result<Report, Error> {
    let store = Store::from_env(Patience::Loading).await;
    let sources = Sources::from(event.payload);
    let report = ingest(&store, &sources, Options::default(), |_| ()).await?;
    tracing::info!(report = serde_json::to_string(&report)?, "imported");
    Ok(report)
}
