//! Numbering data for read-only commands.

use std::sync::Arc;

use numbering::dataset::Dataset;
use shared::{config::Config, in_process::InProcess, state::App};
use store::{CurrentDataset, DatasetError, Snapshot, Store};

use crate::{
    CliError,
    data::sample,
    database::args::DataArgs,
    database::{Access, Database, place::Place},
    routes,
    terminal::next_commands::NextCommands,
};

/// The current version in memory, with its manifest details.
pub struct NumberingData {
    pub dataset: Arc<Dataset>,
    pub snapshot: Snapshot,
}

impl NumberingData {
    /// Loads the data that the arguments name.
    ///
    /// # Errors
    /// Returns [`CliError::NoData`] before the first import.
    pub async fn load(args: &DataArgs) -> Result<Self, CliError> {
        on_data(args, async |store| Self::require(&CurrentDataset::new(store), args).await).await
    }

    /// Loads the newest readable version, and warns if it is not the current one.
    async fn require(current: &CurrentDataset, args: &DataArgs) -> Result<Self, CliError> {
        let place = args.place()?;
        let no_data = || place.no_data(&args.next());
        let loaded = match current.get().await {
            Err(DatasetError::Empty) => return Err(no_data()),
            loaded => loaded?,
        };
        for unreadable in current.passed_over().iter() {
            eprintln!("warning: {}; version {} answers", unreadable.line(), loaded.version);
        }
        let found = current.in_memory().and_then(|(loaded, manifest)| {
            let snapshot = manifest.snapshot(loaded.version.as_str())?.clone();
            Some(Self { dataset: loaded.dataset, snapshot })
        });
        found.ok_or_else(no_data)
    }
}

/// Runs `work` with the API's routes on the data that the arguments name.
pub async fn on_routes<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(&InProcess) -> Result<T, CliError>,
) -> Result<T, CliError> {
    on_app(args, async |app| work(&InProcess::new(routes(), app)).await).await
}

/// Runs `work` with the loaded data that the arguments name.
pub async fn on_app<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(App) -> Result<T, CliError>,
) -> Result<T, CliError> {
    on_data(args, async |store| {
        let app = App::new(store, Config::from_env());
        // The API's own error would only say that it cannot answer now.
        let data = NumberingData::require(&app.dataset, args).await?;
        warn_of_sample(&data.snapshot, &args.next());
        work(app).await
    })
    .await
}

/// Opens the database for reading, runs `work` and closes it.
async fn on_data<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(Store) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let database = Database::open(args, Access::Read).await?;
    let done = work(database.store()).await;
    database.close().await;
    done
}

/// The note that answers lack numbering data.
pub fn without_data(place: &Place, next: &NextCommands) -> String {
    let import = next.tnr("import --fetch");
    format!(
        "{place} has no numbering data, so place and carrier are left out; '{import}' \
         fetches the published reports"
    )
}

/// Warns if the data is the made-up sample.
pub fn warn_of_sample(snapshot: &Snapshot, next: &NextCommands) {
    if let Some(note) = sample::note_on(snapshot, next) {
        eprintln!("note: {note}");
    }
}
