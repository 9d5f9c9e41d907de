//! The numbering data of commands that only read it.

use std::{sync::Arc, time::Duration};

use backon::{ConstantBuilder, Retryable};
use numbering::dataset::Dataset;
use shared::{in_process::InProcess, state::App};
use store::{CurrentDataset, DatasetError, Snapshot, Store};

use crate::{
    LocalError,
    args::DataArgs,
    database::{DATABASE_FILE, Database},
    next_commands::NextCommands,
    routes, sample,
};

/// How often other commands are waited for, which use a folder for a moment, and how long each time.
const ATTEMPTS: usize = 200;
const WAIT_FOR_FOLDER: Duration = Duration::from_millis(50);

/// The current version of the data in memory, and what the manifest says of it.
pub struct NumberingData {
    pub dataset: Arc<Dataset>,
    pub snapshot: Snapshot,
}

impl NumberingData {
    /// Loads the data that the arguments name; `None` if nothing has been imported yet. The database is
    /// closed again, so that work on the data keeps no other command waiting.
    ///
    /// # Errors
    /// Returns an error if the database cannot be used, or holds no version that can be read.
    pub async fn load(args: &DataArgs) -> Result<Option<Self>, LocalError> {
        on_data(args, Self::of).await.unwrap_or(Ok(None))
    }

    async fn of(store: Store) -> Result<Option<Self>, LocalError> {
        let current = CurrentDataset::new(store);
        match current.get().await {
            Err(DatasetError::Empty) => return Ok(None),
            loaded => drop(loaded?),
        }
        let found = current.in_memory().and_then(|(loaded, manifest)| {
            let snapshot = manifest.snapshot(loaded.version.as_str())?.clone();
            Some(Self { dataset: loaded.dataset, snapshot })
        });
        Ok(found)
    }
}

/// Works with the routes of the API on the data that the arguments name.
///
/// # Errors
/// Returns an error if there is no data yet, or the database cannot be used.
pub async fn on_routes<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(&InProcess) -> Result<T, LocalError>,
) -> Result<T, LocalError> {
    on_app(args, async |app| work(&InProcess::of(routes(), app)).await).await
}

/// Works with the data that the arguments name, loaded.
///
/// # Errors
/// Returns an error if there is no data yet, or the database cannot be used.
pub async fn on_app<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(App) -> Result<T, LocalError>,
) -> Result<T, LocalError> {
    let answered = on_data(args, async |store| {
        let app = App::on(store);
        // The API would say only that it cannot answer at the moment.
        match app.dataset.get().await {
            Err(DatasetError::Empty) => return Err(LocalError::NoData(args.place())),
            loaded => drop(loaded?),
        }
        if let Some((_, manifest)) = app.dataset.in_memory() {
            warn_of_sample(&manifest.current, &args.next());
        }
        work(app).await
    });
    answered.await.unwrap_or_else(|| Err(LocalError::NoData(args.place())))
}

/// Opens the database, works on it and closes it; `None` if the folder of the embedded one has none,
/// which a command that only reads does not make.
async fn on_data<T>(
    args: &DataArgs,
    work: impl AsyncFnOnce(Store) -> Result<T, LocalError>,
) -> Option<Result<T, LocalError>> {
    let is_embedded = args.stack.is_none() && args.database.endpoint_url.is_none();
    if is_embedded && !args.database.folder.data_dir.join(DATABASE_FILE).exists() {
        return None;
    }
    let database = match open_in_turn(args).await {
        Ok(database) => database,
        Err(error) => return Some(Err(error)),
    };
    let done = work(database.store()).await;
    database.close().await;
    Some(done)
}

/// Opens the database as soon as no other command uses its folder.
async fn open_in_turn(args: &DataArgs) -> Result<Database, LocalError> {
    let wait = ConstantBuilder::default().with_delay(WAIT_FOR_FOLDER).with_max_times(ATTEMPTS);
    (|| Database::open(args))
        .retry(wait)
        .when(|error| matches!(error, LocalError::FolderBusy(_)))
        .await
}

/// Says that the data is made up, if it is the sample.
pub fn warn_of_sample(snapshot: &Snapshot, next: &NextCommands) {
    if let Some(note) = sample::note_on(snapshot, next) {
        eprintln!("note: {note}");
    }
}
