//! The dataset in force: loaded once a container, and looked after.

use std::{
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use super::{DamagedSnapshot, Dataset};
use crate::store::{Manifest, Store, StoreError};

/// How long a loaded version is used before the manifest is read again.
const RECHECK_AFTER: Duration = Duration::from_secs(60);
/// The same after a check that failed: soon, but not with every request.
const RECHECK_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Why there is no dataset to answer from.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the snapshot {version} is damaged: {source}")]
    Damaged { version: String, source: DamagedSnapshot },
}

/// What is known of the manifest after an attempt to read it.
#[derive(Debug)]
pub enum ManifestReading {
    /// As DynamoDB has it now; `None` before the first import.
    Fresh(Option<Manifest>),
    /// DynamoDB did not answer; this is what it last said, if it ever did.
    Remembered(Option<Manifest>),
}

#[derive(Clone)]
struct Loaded {
    version: String,
    dataset: Arc<Dataset>,
    check_at: Instant,
}

/// Keeps the current dataset in memory and notices a new version within a minute.
pub struct CurrentDataset {
    store: Store,
    loaded: RwLock<Option<Loaded>>,
    /// Held by the one request that reads DynamoDB; the others go on with what is loaded.
    refreshing: tokio::sync::Mutex<()>,
    last_manifest: Mutex<Option<Manifest>>,
}

impl CurrentDataset {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            loaded: RwLock::default(),
            refreshing: tokio::sync::Mutex::default(),
            last_manifest: Mutex::default(),
        }
    }

    /// The current dataset. Reads DynamoDB at most once a minute, and goes on with the version in
    /// memory while DynamoDB does not answer.
    ///
    /// # Errors
    /// Where no version is in memory and none can be loaded.
    pub async fn get(&self) -> Result<Arc<Dataset>, DatasetError> {
        let stale = match self.loaded() {
            Some(loaded) if Instant::now() < loaded.check_at => return Ok(loaded.dataset),
            stale => stale,
        };
        let _refreshing = match (self.refreshing.try_lock(), stale) {
            (Ok(turn), _) => turn,
            (Err(_), Some(stale)) => return Ok(stale.dataset),
            (Err(_), None) => self.refreshing.lock().await,
        };
        match self.loaded() {
            Some(loaded) if Instant::now() < loaded.check_at => Ok(loaded.dataset),
            stale => self.refresh(stale).await,
        }
    }

    /// The version in memory, if one has been loaded, whatever its age.
    pub fn in_memory(&self) -> Option<Arc<Dataset>> {
        self.loaded().map(|loaded| loaded.dataset)
    }

    /// Reads the manifest anew, or recalls the last one read.
    pub async fn manifest(&self) -> ManifestReading {
        match self.read_manifest().await {
            Ok(manifest) => ManifestReading::Fresh(manifest),
            Err(error) => {
                tracing::error!(%error, "the manifest cannot be read");
                let last = self.last_manifest.lock().unwrap_or_else(PoisonError::into_inner);
                ManifestReading::Remembered(last.clone())
            }
        }
    }

    async fn read_manifest(&self) -> Result<Option<Manifest>, StoreError> {
        let manifest = self.store.manifest().await?;
        *self.last_manifest.lock().unwrap_or_else(PoisonError::into_inner) = manifest.clone();
        Ok(manifest)
    }

    async fn refresh(&self, stale: Option<Loaded>) -> Result<Arc<Dataset>, DatasetError> {
        let fresh = self.load(stale.as_ref()).await;
        let (loaded, recheck_after) = match (fresh, stale) {
            (Ok(fresh), _) => (fresh, RECHECK_AFTER),
            (Err(error), Some(stale)) => {
                tracing::error!(%error, version = stale.version, "going on with the version in memory");
                (stale, RECHECK_AFTER_FAILURE)
            }
            (Err(error), None) => return Err(error),
        };
        let dataset = Arc::clone(&loaded.dataset);
        let loaded = Loaded { check_at: Instant::now() + recheck_after, ..loaded };
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded);
        Ok(dataset)
    }

    async fn load(&self, stale: Option<&Loaded>) -> Result<Loaded, DatasetError> {
        let manifest = self.read_manifest().await?.ok_or(DatasetError::Empty)?;
        match stale.filter(|stale| stale.version == manifest.version) {
            Some(current) => Ok(current.clone()),
            None => {
                let dataset = Arc::new(load(&self.store, &manifest).await?);
                Ok(Loaded { version: manifest.version, dataset, check_at: Instant::now() })
            }
        }
    }

    fn loaded(&self) -> Option<Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Reads and unpacks the snapshot `manifest` names.
///
/// # Errors
/// Where it cannot be read whole, or is damaged.
pub async fn load(store: &Store, manifest: &Manifest) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(manifest).await?;
    Dataset::unpack(&bytes)
        .map_err(|source| DatasetError::Damaged { version: manifest.version.clone(), source })
}
