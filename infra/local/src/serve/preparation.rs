//! The sample data and the key that a database gets before it is served.

use std::{fs, path::Path};

use shared::auth::ApiKey;
use store::Store;

use crate::{
    CliError,
    data::sample,
    database::{
        data_folder::{self, KEY_FILE},
        private_file,
    },
    keys,
};

/// Name of the key that the local program makes for itself.
const KEY_NAME: &str = "local";

/// Stores the key that was given, so that the API accepts it; does nothing if there is none.
pub async fn register_given(store: &Store, text: Option<&str>) -> Result<Option<ApiKey>, CliError> {
    let Some(text) = text else { return Ok(None) };
    let key = text.parse()?;
    keys::register(store, &key, KEY_NAME).await?;
    Ok(Some(key))
}

/// Makes sure that the database holds data and a key: the given one, or else the key of the folder.
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

/// The key of this folder's database, made on the first start and whenever the last one cannot be used.
/// It is kept as a file, so that a restart prints the same one. Only the local program does so; a
/// deployment never stores a key.
async fn folder_key(store: &Store, data_dir: &Path) -> Result<ApiKey, CliError> {
    let file = data_dir.join(KEY_FILE);
    if let Some(key) = fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok()) {
        match keys::register(store, &key, KEY_NAME).await {
            Err(CliError::UnusableKey(_)) => (),
            registered => return registered.map(|()| key),
        }
    }
    let key = keys::random()?;
    keys::register(store, &key, KEY_NAME).await?;
    let failed = || CliError::io(format!("cannot write {}", file.display()));
    data_folder::create(data_dir).map_err(failed())?;
    private_file::replace(&file, key.reveal()).map_err(failed())?;
    Ok(key)
}
