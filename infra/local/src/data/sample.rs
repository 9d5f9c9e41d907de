//! The bundled sample data.

use ingest::{IngestError, Options, Source, Sources};
use store::{Snapshot, Store, StoreError};

use crate::{CliError, terminal::next_commands::NextCommands};

/// Imports the sample into an empty database.
pub async fn import_if_empty(store: &Store) -> Result<(), CliError> {
    match store.manifest().await {
        Ok(None) => (),
        // A damaged manifest shows up in /health, and the log says how to repair it.
        Ok(Some(_)) | Err(StoreError::Manifest { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    match ingest::ingest(store, &sample(), Options::default(), |_| ()).await {
        // Another process imported first.
        Err(IngestError::Store(StoreError::Overtaken)) => Ok(()),
        imported => Ok(imported.map(drop)?),
    }
}

/// A note that the data is made up, with the command that imports real data. `None` unless it is the
/// sample.
pub fn sample_note(snapshot: &Snapshot, next: &NextCommands) -> Option<String> {
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
        canadian_blocks: None,
    }
}
