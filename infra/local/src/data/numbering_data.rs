//! The numbering data of commands that only read it.

use std::sync::Arc;

use numbering::dataset::Dataset;
use shared::{in_process::InProcess, state::App};
use store::{CurrentDataset, DatasetError, Snapshot, Store};

use crate::{
    CliError,
    args::DataArgs,
    data::sample,
    database::{Access, Database, place::Place},
    routes,
    terminal::next_commands::NextCommands,
};

/// The current version of the data in memory, and what the manifest says of it.
pub struct NumberingData {
    pub dataset: Arc<Dataset>,
    pub snapshot: Snapshot,
}

impl NumberingData {
    /// Loads the data that the arguments name.
    ///
    /// # Errors
    /// Returns [`CliError::NoData`] if nothing has been imported yet.
    pub async fn load(args: &DataArgs) -> Result<Self, CliError> {
        on_data(args, async |store| Self::require(&CurrentDataset::new(store), args).await).await
    }

    /// Loads the newest version that can be read, and warns if that is not the current one.
    async fn require(current: &CurrentDataset, args: &DataArgs) -> Result<Self, CliError> {
        let place = args.place()?;
        let no_data = || CliError::no_data(&place, &args.next());
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

/// Works with the routes of the API on the data that the arguments name.
pub async fn on_routes<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(&InProcess) -> Result<T, CliError>,
) -> Result<T, CliError> {
    on_app(args, async |app| work(&InProcess::new(routes(), app)).await).await
}

/// Works with the data that the arguments name, loaded.
pub async fn on_app<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(App) -> Result<T, CliError>,
) -> Result<T, CliError> {
    on_data(args, async |store| {
        let app = App::on(store);
        // The API would say only that it cannot answer at the moment.
        let data = NumberingData::require(&app.dataset, args).await?;
        warn_of_sample(&data.snapshot, &args.next());
        work(app).await
    })
    .await
}

/// Opens the database to read it, works on it and closes it.
async fn on_data<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(Store) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let database = Database::open(args, Access::Read).await?;
    let done = work(database.store()).await;
    database.close().await;
    done
}

/// The note that answers about numbers lack numbering data.
pub fn without_data(place: &Place, next: &NextCommands) -> String {
    let import = next.tnr("import --fetch");
    format!(
        "there is no numbering data in {place}, so place and carrier are left out; '{import}' \
         fetches the published reports"
    )
}

/// Says that the data is made up, if it is the sample.
pub fn warn_of_sample(snapshot: &Snapshot, next: &NextCommands) {
    if let Some(note) = sample::note_on(snapshot, next) {
        eprintln!("note: {note}");
    }
}
