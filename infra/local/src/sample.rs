//! The sample of numbering data that the program brings along.

use ingest::{IngestError, Options, Source, Sources};
use store::{Store, StoreError};

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
