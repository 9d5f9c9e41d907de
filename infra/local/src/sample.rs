//! The sample of numbering data that the program brings along.

use ingest::{IngestError, Options, Source, Sources};
use jiff::civil::Date;
use store::{Snapshot, Store, StoreError};

use crate::LocalError;

/// Imports the sample, unless there is data already or another import brings some meanwhile.
///
/// # Errors
/// Returns an error if the database cannot be read or written.
pub async fn import_if_empty(store: &Store) -> Result<(), LocalError> {
    if store.manifest().await?.is_some() {
        return Ok(());
    }
    match ingest::ingest(store, &sample(), Options::default(), |_| ()).await {
        // Another process imported something first.
        Err(IngestError::Store(StoreError::Overtaken)) => Ok(()),
        imported => Ok(imported.map(drop)?),
    }
}

/// The date of the sample's reports, which no published report has.
const DATE: Date = Date::constant(2000, 1, 1);

/// Whether a version of the data was imported from the sample.
pub fn is_sample(snapshot: &Snapshot) -> bool {
    snapshot.file_dates.nanpa == Some(DATE)
}

/// What is to be said of a version of the data: that it is made up, if it is the sample, which looks like
/// the published reports.
pub fn note_on(snapshot: &Snapshot) -> Option<&'static str> {
    is_sample(snapshot)
        .then_some("this is the made-up sample; 'tnr import --fetch' fetches the published reports")
}

/// Made-up codes and carriers in the formats of the published reports.
pub fn sample() -> Sources {
    Sources {
        nanpa: Source::Embedded(include_bytes!("../sample/nanpa_utilized_codes.txt")),
        cnac: Source::Embedded(include_bytes!("../sample/cnac_co_code_status.csv")),
        npa_report: Source::Embedded(include_bytes!("../sample/npa_report.csv")),
        carriers: Some(Source::Embedded(include_bytes!("../sample/carriers.csv"))),
        thousands_blocks: None,
    }
}
