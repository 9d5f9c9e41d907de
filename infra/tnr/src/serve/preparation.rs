//! Database setup before serving: sample data and a key. The `dynamodb` command serves only the database.

use std::{fs, path::Path};

use shared::auth::{ApiKey, KeyKind};
use store::Store;

use crate::{
    CliError,
    data::sample,
    database::{
        Database,
        data_folder::{self, KEY_FILE, replace_private},
    },
    keys,
    serve::args::DynamodbArgs,
    stop_signals::StopSignals,
    terminal::{init_human_logs, show_message},
};

const KEY_NAME: &str = "local";

pub async fn register_given(store: &Store, text: Option<&str>) -> Result<Option<ApiKey>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let key = text.parse()?;
    keys::register(store, &key, KEY_NAME).await?;
    Ok(Some(key))
}

/// Ensures that the database has data and a key: the given key, or the folder's own.
pub async fn with_sample_and_key(
    store: &Store,
    given: Option<&str>,
    data_dir: &Path,
) -> Result<ApiKey, CliError> {
    sample::import_if_empty(store).await?;
    match register_given(store, given).await? {
        Some(key) => Ok(key),
        None => folder_key(store, data_dir).await,
    }
}

/// The folder's own key. The first start creates it. A later start replaces it if it has been revoked
/// or has expired. A file contains the key, so that a restart prints the same one. Deployments never
/// store keys.
async fn folder_key(store: &Store, data_dir: &Path) -> Result<ApiKey, CliError> {
    let file = data_dir.join(KEY_FILE);
    if let Some(key) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
        match keys::register(store, &key, KEY_NAME).await {
            Err(CliError::UnusableKey(_)) => (),
            registered => return registered.map(|()| key),
        }
    }
    let key = keys::random(KeyKind::Live)?;
    keys::register(store, &key, KEY_NAME).await?;
    let failed = || CliError::io(format!("cannot write {}", file.display()));
    data_folder::create(data_dir).map_err(failed())?;
    replace_private(&file, key.reveal()).map_err(failed())?;
    Ok(key)
}

pub async fn dynamodb(args: DynamodbArgs) -> Result<(), CliError> {
    init_human_logs();
    let mut signals = StopSignals::listen()?;
    let data_dir = &args.folder.path()?;
    let given = args.key.given.as_deref();
    let prepared = Database::open_shared(data_dir, args.port, async |store| {
        with_sample_and_key(store, given, data_dir).await
    });
    let (database, key) = tokio::select! {
        prepared = prepared => prepared?,
        // Nothing is being served yet. The next start resumes the setup.
        _ = signals.next() => return Ok(()),
    };
    println!("DynamoDB  {}", database.endpoint());
    println!("API key   {}", key.reveal());
    show_message(&format!("Data      {}", data_dir.display()));
    println!("Press Ctrl-C to stop.");
    signals.next().await;
    database.close().await;
    Ok(())
}
