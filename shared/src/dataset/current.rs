//! The version in force: its manifest and dataset, loaded once a container and looked after.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use super::{DamagedSnapshot, Dataset};
use crate::store::{Manifest, Store, StoreError};

/// How long a manifest is believed before it is read again.
const RECHECK_AFTER: Duration = Duration::from_secs(60);
/// The same after a read that failed: soon, but not with every request.
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
    Fresh(Option<Arc<Manifest>>),
    /// DynamoDB did not answer; this is what it last said, if it ever did.
    Remembered(Option<Arc<Manifest>>),
}

/// Something that was read, and until when it is used without another try.
#[derive(Clone)]
struct Held<T> {
    value: T,
    until: Instant,
}

impl<T> Held<T> {
    fn is_fresh(&self) -> bool {
        Instant::now() < self.until
    }
}

/// A dataset with its version.
pub type Versioned = (String, Arc<Dataset>);

/// Keeps the version in force in memory and notices a new one within a minute.
///
/// While DynamoDB does not answer, what is in memory goes on being used.
pub struct CurrentDataset {
    store: Store,
    manifest: RwLock<Option<Held<Arc<Manifest>>>>,
    dataset: RwLock<Option<Held<Versioned>>>,
    /// The last version asked for that is no longer in force: walks of its pages may go on.
    earlier: RwLock<Option<Versioned>>,
    /// Held by the one request that reads DynamoDB; the others go on with what is in memory.
    reading_manifest: tokio::sync::Mutex<()>,
    reading_dataset: tokio::sync::Mutex<()>,
}

impl CurrentDataset {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            manifest: RwLock::default(),
            dataset: RwLock::default(),
            earlier: RwLock::default(),
            reading_manifest: tokio::sync::Mutex::default(),
            reading_dataset: tokio::sync::Mutex::default(),
        }
    }

    /// The manifest in force, read at most once a minute.
    ///
    /// # Errors
    /// Where nothing was imported yet, or none is in memory and none can be read.
    pub async fn manifest(&self) -> Result<Arc<Manifest>, DatasetError> {
        let stale = match peek(&self.manifest) {
            Some(held) if held.is_fresh() => return Ok(held.value),
            stale => stale,
        };
        let _reading = match (self.reading_manifest.try_lock(), stale) {
            (Ok(turn), _) => turn,
            (Err(_), Some(stale)) => return Ok(stale.value),
            (Err(_), None) => self.reading_manifest.lock().await,
        };
        match peek(&self.manifest) {
            Some(held) if held.is_fresh() => return Ok(held.value),
            _ => (),
        }
        match self.read_manifest().await {
            ManifestReading::Fresh(manifest) => manifest.ok_or(DatasetError::Empty),
            ManifestReading::Remembered(Some(manifest)) => {
                hold(&self.manifest, Arc::clone(&manifest), RECHECK_AFTER_FAILURE);
                Ok(manifest)
            }
            ManifestReading::Remembered(None) => Err(StoreError::Unanswered.into()),
        }
    }

    /// Reads the manifest anew, or recalls the last one read.
    pub async fn read_manifest(&self) -> ManifestReading {
        match self.store.manifest().await {
            Ok(None) => ManifestReading::Fresh(None),
            Ok(Some(manifest)) => {
                let manifest = Arc::new(manifest);
                hold(&self.manifest, Arc::clone(&manifest), RECHECK_AFTER);
                ManifestReading::Fresh(Some(manifest))
            }
            Err(error) => {
                tracing::error!(%error, "the manifest cannot be read");
                ManifestReading::Remembered(peek(&self.manifest).map(|held| held.value))
            }
        }
    }

    /// The dataset in force. Where a new version cannot be loaded, the one in memory goes on.
    ///
    /// # Errors
    /// Where no version is in memory and none can be loaded.
    pub async fn get(&self) -> Result<Versioned, DatasetError> {
        let manifest = self.manifest().await?;
        let version = &manifest.current.version;
        let in_use = |held: &Held<Versioned>| held.value.0 == *version || held.is_fresh();
        let stale = match peek(&self.dataset) {
            Some(held) if in_use(&held) => return Ok(held.value),
            stale => stale,
        };
        let _reading = match (self.reading_dataset.try_lock(), stale) {
            (Ok(turn), _) => turn,
            (Err(_), Some(stale)) => return Ok(stale.value),
            (Err(_), None) => self.reading_dataset.lock().await,
        };
        let stale = match peek(&self.dataset) {
            Some(held) if in_use(&held) => return Ok(held.value),
            stale => stale,
        };
        match (self.load_in_force(manifest).await, stale) {
            (Ok(loaded), stale) => {
                hold(&self.dataset, loaded.clone(), Duration::ZERO);
                if let Some(stale) = stale {
                    *self.earlier.write().unwrap_or_else(PoisonError::into_inner) =
                        Some(stale.value);
                }
                Ok(loaded)
            }
            (Err(error), Some(Held { value, .. })) => {
                tracing::error!(%error, version = value.0, "going on with the version in memory");
                hold(&self.dataset, value.clone(), RECHECK_AFTER_FAILURE);
                Ok(value)
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The dataset of one version, in force or retained, for a walk that began with it; `None`
    /// where it is neither.
    ///
    /// # Errors
    /// Where it is to be had and cannot be loaded.
    pub async fn of_version(&self, version: &str) -> Result<Option<Versioned>, DatasetError> {
        let in_force = peek(&self.dataset).map(|held| held.value);
        let earlier = self.earlier.read().unwrap_or_else(PoisonError::into_inner).clone();
        let in_memory = [in_force, earlier].into_iter().flatten();
        if let Some(found) = in_memory.into_iter().find(|(loaded, _)| loaded == version) {
            return Ok(Some(found));
        }
        let manifest = match self.manifest().await? {
            manifest if manifest.names(version) => manifest,
            // another container may be ahead of this one
            _ => match self.read_manifest().await {
                ManifestReading::Fresh(Some(manifest)) if manifest.names(version) => manifest,
                _ => return Ok(None),
            },
        };
        if manifest.current.version == version {
            return self.get().await.map(Some);
        }
        let Some(retained) = manifest.retained.iter().find(|retained| retained.version == version)
        else {
            return Ok(None);
        };
        let dataset = load_version(&self.store, version, retained.chunks, &retained.sha256).await?;
        let loaded = (version.to_owned(), Arc::new(dataset));
        *self.earlier.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded.clone());
        Ok(Some(loaded))
    }

    /// The version in memory, if one has been loaded, whatever its age.
    pub fn in_memory(&self) -> Option<Arc<Dataset>> {
        peek(&self.dataset).map(|held| held.value.1)
    }

    /// Loads what `manifest` names, or where that has been dropped meanwhile, what is now in force.
    async fn load_in_force(&self, manifest: Arc<Manifest>) -> Result<Versioned, DatasetError> {
        let error = match load(&self.store, &manifest).await {
            Ok(dataset) => return Ok((manifest.current.version.clone(), Arc::new(dataset))),
            Err(error) => error,
        };
        match self.read_manifest().await {
            ManifestReading::Fresh(Some(newer))
                if newer.current.version != manifest.current.version =>
            {
                let dataset = load(&self.store, &newer).await?;
                Ok((newer.current.version.clone(), Arc::new(dataset)))
            }
            _ => Err(error),
        }
    }
}

fn peek<T: Clone>(held: &RwLock<Option<Held<T>>>) -> Option<Held<T>> {
    held.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn hold<T>(held: &RwLock<Option<Held<T>>>, value: T, time: Duration) {
    let until = Instant::now() + time;
    *held.write().unwrap_or_else(PoisonError::into_inner) = Some(Held { value, until });
}

/// Reads and unpacks the snapshot that `manifest` puts in force.
///
/// # Errors
/// Where it cannot be read whole, or is damaged.
pub async fn load(store: &Store, manifest: &Manifest) -> Result<Dataset, DatasetError> {
    let current = &manifest.current;
    load_version(store, &current.version, current.chunks, &current.sha256).await
}

/// Reads and unpacks any snapshot.
///
/// # Errors
/// Where it cannot be read whole, or is damaged.
pub async fn load_version(
    store: &Store,
    version: &str,
    chunks: u32,
    sha256: &str,
) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(version, chunks, sha256).await?;
    Dataset::unpack(&bytes)
        .map_err(|source| DatasetError::Damaged { version: version.to_owned(), source })
}
