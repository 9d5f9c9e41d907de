//! Loads numbering data for read-only commands.

use std::sync::Arc;

use numbering::dataset::Dataset;
use shared::{config::Config, in_process::InProcessRoutes, state::App};
use store::{CurrentDataset, DatasetError, LoadedCountry, Snapshot, Store};

use crate::{
    CliError,
    data::sample,
    database::{
        Access,
        args::{DataArgs, DatabaseLocation},
        on_database,
    },
    routes,
    terminal::{NextCommands, show_note},
};

pub struct NumberingData {
    pub dataset: Arc<Dataset>,
    pub snapshot: Snapshot,
    /// Other countries' ranges, if they were requested.
    pub countries: Vec<LoadedCountry>,
}

impl NumberingData {
    /// Loads the current version, or the newest readable one, and other countries' ranges if they are needed. Notes say
    /// which version, and whether it is the sample.
    ///
    /// # Errors
    /// Returns [`CliError::NoData`] before the first import.
    pub async fn load(args: &DataArgs, needs_countries: bool) -> Result<Self, CliError> {
        let load = async |store: &Store| {
            let current = CurrentDataset::new(store.clone());
            let mut data = Self::from_current(&current, args).await?;
            let manifest = current.in_memory().filter(|_| needs_countries);
            for (code, country) in manifest.iter().flat_map(|(_, it)| &it.countries.0) {
                data.countries.push(store.country(code, country).await?);
            }
            Ok(data)
        };
        on_database(args, Access::Read, load).await?
    }

    async fn from_current(current: &CurrentDataset, args: &DataArgs) -> Result<Self, CliError> {
        let location = args.location()?;
        let no_data = || location.no_data(&args.next());
        let loaded = match current.get().await {
            Err(DatasetError::Empty) => return Err(no_data()),
            loaded => loaded?,
        };
        for unreadable in current.skipped().iter() {
            let reason = unreadable.line();
            show_note(&format!("warning: {reason}; using version {}", loaded.version));
        }
        let data = current.in_memory().and_then(|(loaded, manifest)| {
            let snapshot = manifest.snapshot(loaded.version.as_str())?.clone();
            Some(Self { dataset: loaded.dataset, snapshot, countries: Vec::new() })
        });
        let data = data.ok_or_else(no_data)?;
        if let Some(note) = sample::sample_note(&data.snapshot, &args.next()) {
            show_note(&format!("note: {note}"));
        }
        Ok(data)
    }
}

pub async fn with_routes<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(&InProcessRoutes) -> Result<T, CliError>,
) -> Result<T, CliError> {
    with_app(args, async |app| work(&InProcessRoutes::new(routes(), app)).await).await
}

pub async fn with_app<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(App) -> Result<T, CliError>,
) -> Result<T, CliError> {
    on_database(args, Access::Read, async |store: &Store| {
        let app = App::new(store.clone(), Config::from_env());
        // The API's own error does not give the reason.
        NumberingData::from_current(&app.dataset, args).await?;
        work(app).await
    })
    .await?
}

/// The note to print without data for rate center and carrier.
pub fn no_data_note(location: &DatabaseLocation, next: &NextCommands) -> String {
    let import = next.tnr("import --fetch");
    format!(
        "{location} has no numbering data, so rate center and carrier are omitted; get it with '{import}'"
    )
}
