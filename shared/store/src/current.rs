//! The current version of the dataset: loaded once per container and refreshed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use numbering::records::Version;

use crate::{Manifest, Snapshot, Store, StoreError};
use arc_swap::ArcSwapOption;
use logging::with_causes;
use numbering::dataset::{DamagedSnapshot, Dataset};

/// How long the current version is believed to be current before the manifest is read again.
const RECHECK_AFTER: Duration = Duration::from_secs(60);
/// The same after a failure: soon, but not with every request.
const RECHECK_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Why there is no dataset to answer from.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the snapshot {version} is damaged")]
    Damaged { version: Version, source: DamagedSnapshot },
}

impl DatasetError {
    /// Whether the snapshot itself is at fault, so that reading it again is of no use.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Store(StoreError::Snapshot { .. }))
    }
}

/// What is known of the manifest after an attempt to read it.
#[derive(Debug)]
pub enum ManifestReading {
    /// As DynamoDB has it now; `None` before the first import.
    Fresh(Option<Arc<Manifest>>),
    /// DynamoDB did not answer; this is what it last said, if it ever did.
    Remembered(Option<Arc<Manifest>>),
}

/// A version of the data in memory. Lists and lookups of one request use one of these.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

/// The version a container answers from, and until when it is used without another look.
struct InUse {
    loaded: LoadedVersion,
    until: Instant,
}

/// Keeps the current version in memory and notices a new one within a minute.
///
/// A new version is taken up only once its snapshot is in memory. Until then, and while DynamoDB
/// does not answer, the one in memory goes on being used, for lookups as for lists.
pub struct CurrentDataset {
    store: Store,
    in_use: ArcSwapOption<InUse>,
    /// The last version asked for that is no longer current: walks of its pages may go on.
    earlier: ArcSwapOption<LoadedVersion>,
    /// As it was last read, for health and statistics.
    manifest: ArcSwapOption<Manifest>,
    /// Locked by the one request that looks for a new version; others go on with what is in use.
    refreshing: tokio::sync::Mutex<()>,
}

impl CurrentDataset {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            in_use: ArcSwapOption::empty(),
            earlier: ArcSwapOption::empty(),
            manifest: ArcSwapOption::empty(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Reads the manifest anew, or recalls the last one read.
    pub async fn read_manifest(&self) -> ManifestReading {
        match self.store.manifest().await {
            Ok(manifest) => ManifestReading::Fresh(manifest.map(|manifest| self.note(manifest))),
            Err(error) => {
                tracing::error!(error = with_causes(&error), "the manifest cannot be read");
                ManifestReading::Remembered(self.manifest.load_full())
            }
        }
    }

    /// The version to answer from: the current one, or the one in memory if that cannot be loaded.
    ///
    /// # Errors
    /// Returns an error if no version is in memory and none can be loaded.
    pub async fn get(&self) -> Result<LoadedVersion, DatasetError> {
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let _refreshing = match (self.refreshing.try_lock(), self.loaded()) {
            (Ok(turn), _) => turn,
            (Err(_), Some(stale)) => return Ok(stale),
            (Err(_), None) => self.refreshing.lock().await,
        };
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        self.refresh().await
    }

    /// One version of the dataset, current or retained, for a walk that began with it; `None` if it
    /// is neither.
    ///
    /// # Errors
    /// Returns an error if the version is kept but cannot be loaded.
    pub async fn of_version(&self, version: &str) -> Result<Option<LoadedVersion>, DatasetError> {
        let earlier = self.earlier.load().as_deref().cloned();
        let mut in_memory = self.loaded().into_iter().chain(earlier);
        if let Some(found) = in_memory.find(|loaded| loaded.version == *version) {
            return Ok(Some(found));
        }
        // Another container may be ahead of this one, so the manifest is read anew.
        let manifest = match self.read_manifest().await {
            ManifestReading::Fresh(manifest) | ManifestReading::Remembered(manifest) => manifest,
        };
        let manifest = manifest.ok_or(DatasetError::Empty)?;
        let Some(snapshot) = manifest.snapshot(version) else { return Ok(None) };
        let loaded = self.load(snapshot).await?;
        self.earlier.store(Some(Arc::new(loaded.clone())));
        Ok(Some(loaded))
    }

    fn fresh(&self) -> Option<LoadedVersion> {
        let in_use = self.in_use.load();
        let in_use = in_use.as_deref().filter(|in_use| Instant::now() < in_use.until)?;
        Some(in_use.loaded.clone())
    }

    /// The version in memory, however long ago it was known to be current.
    fn loaded(&self) -> Option<LoadedVersion> {
        self.in_use.load().as_deref().map(|in_use| in_use.loaded.clone())
    }

    async fn refresh(&self) -> Result<LoadedVersion, DatasetError> {
        let before = self.loaded();
        match (self.newest(before.as_ref()).await, before) {
            (Ok(newest), before) => {
                let replaced = before.filter(|before| before.version != newest.version);
                if let Some(replaced) = replaced {
                    self.earlier.store(Some(Arc::new(replaced)));
                }
                self.use_for(RECHECK_AFTER, &newest);
                Ok(newest)
            }
            (Err(error), Some(before)) => {
                let version = before.version.as_str();
                tracing::error!(
                    error = with_causes(&error),
                    version,
                    "going on with the version in memory"
                );
                self.use_for(RECHECK_AFTER_FAILURE, &before);
                Ok(before)
            }
            (Err(error), None) => Err(error),
        }
    }

    fn use_for(&self, time: Duration, loaded: &LoadedVersion) {
        let until = Instant::now() + time;
        self.in_use.store(Some(Arc::new(InUse { loaded: loaded.clone(), until })));
    }

    /// The current version. If it has been replaced while it was being loaded, the one after it; if
    /// its snapshot is damaged, the newest one that can be read.
    async fn newest(
        &self,
        in_memory: Option<&LoadedVersion>,
    ) -> Result<LoadedVersion, DatasetError> {
        let manifest = self.store.manifest().await?.ok_or(DatasetError::Empty)?;
        let manifest = self.note(manifest);
        let error = match self.load_or_keep(&manifest.current, in_memory).await {
            Err(error) if error.is_damage() => error,
            loaded => return loaded,
        };
        let again = self.store.manifest().await?.ok_or(DatasetError::Empty)?;
        let again = self.note(again);
        if again.current.version != manifest.current.version {
            return self.load_or_keep(&again.current, in_memory).await;
        }
        for retained in &again.retained {
            if let Ok(loaded) = self.load_or_keep(retained, in_memory).await {
                let version = loaded.version.as_str();
                tracing::error!(
                    error = with_causes(&error),
                    version,
                    "the current version is damaged; answering from an older one"
                );
                return Ok(loaded);
            }
        }
        Err(error)
    }

    async fn load_or_keep(
        &self,
        snapshot: &Snapshot,
        in_memory: Option<&LoadedVersion>,
    ) -> Result<LoadedVersion, DatasetError> {
        match in_memory.filter(|loaded| loaded.version == snapshot.version) {
            Some(same) => Ok(same.clone()),
            None => self.load(snapshot).await,
        }
    }

    async fn load(&self, snapshot: &Snapshot) -> Result<LoadedVersion, DatasetError> {
        let dataset = Arc::new(load(&self.store, snapshot).await?);
        Ok(LoadedVersion { version: snapshot.version.clone(), dataset })
    }

    fn note(&self, manifest: Manifest) -> Arc<Manifest> {
        let manifest = Arc::new(manifest);
        self.manifest.store(Some(Arc::clone(&manifest)));
        manifest
    }
}

/// Reads and unpacks a snapshot.
///
/// # Errors
/// Returns an error if the snapshot cannot be read whole, or is damaged.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    let version = &snapshot.version;
    Dataset::unpack(&bytes)
        .map_err(|source| DatasetError::Damaged { version: version.clone(), source })
}
