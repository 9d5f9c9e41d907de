//! The sample of numbering data that the program brings along.

use ingest::{IngestError, Options, Source, Sources};
use store::{Snapshot, Store, StoreError};

use crate::{CliError, terminal::next_commands::NextCommands};

/// Imports the sample, unless there is data already or another import brings some meanwhile.
pub async fn import_if_empty(store: &Store) -> Result<(), CliError> {
    match store.manifest().await {
        Ok(None) => (),
        // The health of the service tells of a damaged manifest, and the log how to mend it.
        Ok(Some(_)) | Err(StoreError::Manifest { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    match ingest::ingest(store, &sample(), Options::default(), |_| ()).await {
        // Another process imported something first.
        Err(IngestError::Store(StoreError::Overtaken)) => Ok(()),
        imported => Ok(imported.map(drop)?),
    }
}

/// A note for readers of the data that it is made up, and which of the `next` commands brings the
/// published reports; `None` unless it is the sample.
pub fn note_on(snapshot: &Snapshot, next: &NextCommands) -> Option<String> {
    let import = next.tnr("import --fetch");
    snapshot.is_sample().then(|| format!("made-up sample; get real data with '{import}'"))
}

/// Made-up codes and carriers in the formats of the published reports.
pub fn sample() -> Sources {
    Sources {
        nanpa: Source::Embedded(include_bytes!("../../sample/nanpa_utilized_codes.txt")),
        cnac: Source::Embedded(include_bytes!("../../sample/cnac_co_code_status.csv")),
        npa_report: Source::Embedded(include_bytes!("../../sample/npa_report.csv")),
        carriers: Some(Source::Embedded(include_bytes!("../../sample/carriers.csv"))),
        thousands_blocks: None,
    }
}
