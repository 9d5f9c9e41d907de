//! The bundled sample data.

use ingest::{
    CountrySources, IngestError, Options, ReportName, Source, Sources, SupportedCountry,
    country_sources,
};
use store::{Snapshot, Store, StoreError};

use crate::{CliError, terminal::NextCommands};

pub async fn import_if_empty(store: &Store) -> Result<(), CliError> {
    match store.manifest().await {
        Ok(None) => (),
        // If the manifest is damaged, /health shows it, and the log says how to repair it.
        Ok(Some(_)) | Err(StoreError::Manifest { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    match ingest::import(store, &sample(), &sample_countries(), Options::default(), |_| ()).await {
        // Another process imported first.
        Err(IngestError::Store(StoreError::Overtaken)) => Ok(()),
        imported => Ok(imported.map(drop)?),
    }
}

/// Fictional British ranges around the numbers that Ofcom reserves for drama.
pub fn sample_countries() -> CountrySources {
    let file = Source::Embedded(include_bytes!("../../sample/gb_number_blocks.csv"));
    let british = SupportedCountry::all().find(|country| country.code() == "GB");
    country_sources([], british.into_iter().map(|country| (country, file.clone())), None)
}

/// A note that the data is fictional, with the command that imports real data. `None` for real data.
pub fn sample_note(snapshot: &Snapshot, next: &NextCommands) -> Option<String> {
    let import = next.tnr("import --fetch");
    snapshot.is_sample().then(|| format!("made-up sample; get real data with '{import}'"))
}

/// Fictional codes and carriers in the formats of the published reports.
pub fn sample() -> Sources {
    let files: [(_, &'static [u8]); 4] = [
        (ReportName::Nanpa, include_bytes!("../../sample/nanpa_utilized_codes.txt")),
        (ReportName::Cnac, include_bytes!("../../sample/cnac_co_code_status.csv")),
        (ReportName::NpaReport, include_bytes!("../../sample/npa_report.csv")),
        (ReportName::Carriers, include_bytes!("../../sample/carriers.csv")),
    ];
    files.into_iter().map(|(name, file)| (name, Source::Embedded(file))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use numbering::records::{CarrierType, StateCode, Status};
    use utoipa::PartialSchema;

    use super::*;

    #[tokio::test]
    async fn the_sample_has_every_state_carrier_type_and_status() {
        let dataset = ingest::read_dataset(&sample()).await.unwrap();
        let states = dataset.exchanges().filter_map(|it| it.state).map(|it| it.to_string());
        let types = dataset.carriers().filter_map(|it| it.carrier_type).map(|it| it.to_string());
        let statuses = dataset.exchanges().map(|it| it.status.to_string());
        for (schema, found) in [
            (StateCode::schema(), states.collect::<HashSet<_>>()),
            (CarrierType::schema(), types.collect()),
            (Status::schema(), statuses.collect()),
        ] {
            let schema = serde_json::to_value(schema).unwrap();
            for value in schema["enum"].as_array().unwrap() {
                assert!(found.contains(value.as_str().unwrap()), "{value}");
            }
        }
    }
}
