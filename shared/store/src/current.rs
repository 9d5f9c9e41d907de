//! The current version of the dataset, loaded once per container and refreshed.

use std::{sync::Arc, time::Instant};

use arc_swap::ArcSwapOption;
use logging::with_causes;

use crate::{
    Manifest, Snapshot, Store,
    loaded_versions::{Fallback, LoadedVersions, fallback},
    loading::{DatasetError, LoadedVersion, load},
};

/// Keeps the current version in memory, and takes up a new one within a minute.
///
/// A new version is used only once its snapshot is in memory. Until then, and while DynamoDB does
/// not answer, lookups and lists go on with the version in memory.
pub struct CurrentDataset {
    store: Store,
    versions: LoadedVersions,
    /// The manifest as it was last read, for health and statistics.
    manifest: ArcSwapOption<Manifest>,
    /// Locked by the one request that looks for a new version. Others go on with the one in use.
    refreshing: tokio::sync::Mutex<()>,
}

/// The manifest after an attempt to read it.
#[derive(Debug)]
pub enum ManifestReading {
    /// The manifest as DynamoDB has it now; `None` before the first import.
    Fresh(Option<Arc<Manifest>>),
    /// The manifest as it was last read, because DynamoDB did not answer; `None` if it has never
    /// been read.
    Remembered(Option<Arc<Manifest>>),
}

impl ManifestReading {
    /// The manifest, fresh or remembered.
    pub fn manifest(&self) -> Option<&Manifest> {
        let (Self::Fresh(manifest) | Self::Remembered(manifest)) = self;
        manifest.as_deref()
    }
}

impl CurrentDataset {
    /// A dataset that is loaded from `store` when it is first needed.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            versions: LoadedVersions::default(),
            manifest: ArcSwapOption::empty(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Reads the manifest, or remembers the last one that was read.
    pub async fn read_manifest(&self) -> ManifestReading {
        match self.store.manifest().await {
            Ok(manifest) => {
                ManifestReading::Fresh(manifest.map(|manifest| self.remember(manifest)))
            }
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
        if let Some(fresh) = self.versions.fresh(Instant::now()) {
            return Ok(fresh);
        }
        let _refreshing = match (self.refreshing.try_lock(), self.versions.latest()) {
            (Ok(lock), _) => lock,
            (Err(_), Some(stale)) => return Ok(stale),
            (Err(_), None) => self.refreshing.lock().await,
        };
        // Another request may have refreshed the dataset while this one waited for the lock.
        match self.versions.fresh(Instant::now()) {
            Some(fresh) => Ok(fresh),
            None if self.versions.were_unreadable_recently(Instant::now()) => {
                Err(DatasetError::StillUnreadable)
            }
            None => self.refresh().await,
        }
    }

    /// The version in memory, and the manifest as it was last read. Makes no call.
    pub fn in_memory(&self) -> Option<(LoadedVersion, Arc<Manifest>)> {
        self.versions.latest().zip(self.manifest.load_full())
    }

    /// A version of the dataset by its name, for a client that reads the pages of this version;
    /// `None` if it is neither current nor retained, or foreign.
    ///
    /// # Errors
    /// Returns an error if the version is current or retained, but cannot be loaded.
    pub async fn of_version(&self, version: &str) -> Result<Option<LoadedVersion>, DatasetError> {
        if let Some(found) = self.versions.find(version) {
            return Ok(Some(found));
        }
        // The version may be newer than the one of this container, so the manifest is read again.
        let manifest = match self.store.manifest().await {
            Ok(Some(manifest)) => self.remember(manifest),
            Ok(None) => return Err(DatasetError::Empty),
            Err(error) => self.manifest.load_full().ok_or(error)?,
        };
        let Some(snapshot) = manifest.snapshot(version) else { return Ok(None) };
        let loaded = match self.load_or_reuse(snapshot).await {
            Err(error) if error.is_foreign() => return Ok(None),
            loaded => loaded?,
        };
        self.versions.keep_earlier(loaded.clone());
        Ok(Some(loaded))
    }

    async fn refresh(&self) -> Result<LoadedVersion, DatasetError> {
        let error = match self.newest().await {
            Ok(newest) => {
                self.versions.replace(newest.clone(), Instant::now());
                return Ok(newest);
            }
            Err(error) => error,
        };
        let Some(in_memory) = self.versions.keep_using(Instant::now()) else {
            if error.is_unreadable() {
                self.versions.remember_unreadable(Instant::now());
            }
            return Err(error);
        };
        tracing::warn!(
            error = with_causes(&error),
            version = in_memory.version.as_str(),
            "no newer version can be loaded; going on with the version in memory"
        );
        Ok(in_memory)
    }

    /// Loads the current version. If that is damaged or foreign, it loads the one that has been
    /// published meanwhile, or the newest retained one that can be read.
    async fn newest(&self) -> Result<LoadedVersion, DatasetError> {
        let current = self.require_manifest().await?.current.clone();
        let error = match self.load_or_reuse(&current).await {
            Err(error) if error.is_unreadable() => error,
            loaded => return loaded,
        };
        let manifest = self.require_manifest().await?;
        let retained = match fallback(&current.version, &manifest) {
            Fallback::NewCurrent(snapshot) => return self.load_or_reuse(snapshot).await,
            Fallback::Retained(snapshots) => snapshots,
        };
        for snapshot in retained {
            if let Ok(loaded) = self.load_or_reuse(snapshot).await {
                log_fallback(&error, &loaded);
                return Ok(loaded);
            }
        }
        Err(error)
    }

    async fn require_manifest(&self) -> Result<Arc<Manifest>, DatasetError> {
        let manifest = self.store.manifest().await?.ok_or(DatasetError::Empty)?;
        Ok(self.remember(manifest))
    }

    /// The version of this snapshot from memory, or else from DynamoDB.
    async fn load_or_reuse(&self, snapshot: &Snapshot) -> Result<LoadedVersion, DatasetError> {
        if let Some(in_memory) = self.versions.find(snapshot.version.as_str()) {
            return Ok(in_memory);
        }
        let dataset = load(&self.store, snapshot).await?;
        Ok(LoadedVersion { version: snapshot.version.clone(), dataset: Arc::new(dataset) })
    }

    fn remember(&self, manifest: Manifest) -> Arc<Manifest> {
        let manifest = Arc::new(manifest);
        self.manifest.store(Some(Arc::clone(&manifest)));
        manifest
    }
}

/// Logs that requests are answered from `older` because of `error`. A foreign version is expected
/// while one release takes over from another, so nobody has to act.
fn log_fallback(error: &DatasetError, older: &LoadedVersion) {
    let (error_text, version) = (with_causes(error), older.version.as_str());
    if error.is_foreign() {
        let message = "the current version has another layout; answering from a retained one";
        tracing::warn!(error = error_text, version, "{message}");
    } else {
        let message = "the current version is damaged; answering from an older one";
        tracing::error!(error = error_text, version, "{message}");
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use numbering::{dataset::Dataset, records::Version};

    use super::*;
    use crate::{FileDates, TimeoutProfile};

    /// A port on which nothing listens, so that each call fails at once.
    const UNREACHABLE: &str = "http://127.0.0.1:1";

    async fn without_dynamodb() -> CurrentDataset {
        CurrentDataset::new(Store::at_emulator(UNREACHABLE, TimeoutProfile::Request))
    }

    fn version() -> LoadedVersion {
        LoadedVersion { version: Version::new(Timestamp::UNIX_EPOCH), dataset: Arc::default() }
    }

    #[tokio::test]
    async fn without_dynamodb_the_first_load_fails() {
        let dataset = without_dynamodb().await;
        assert!(matches!(dataset.get().await, Err(DatasetError::Store(_))));
        assert!(matches!(dataset.read_manifest().await, ManifestReading::Remembered(None)));
    }

    #[tokio::test]
    async fn without_dynamodb_the_version_in_memory_is_used() {
        let dataset = without_dynamodb().await;
        let in_memory = version();
        dataset.versions.use_until(in_memory.clone(), Instant::now());
        assert!(dataset.versions.fresh(Instant::now()).is_none());
        assert_eq!(dataset.get().await.unwrap().version, in_memory.version);
        assert!(dataset.versions.fresh(Instant::now()).is_some(), "it is not tried at once again");
    }

    #[tokio::test]
    async fn a_version_in_memory_is_found_without_a_read_and_another_by_the_manifest() {
        let dataset = without_dynamodb().await;
        let (current, earlier) = (version(), version());
        dataset.versions.replace(current.clone(), Instant::now());
        dataset.versions.keep_earlier(earlier.clone());
        for known in [&current, &earlier] {
            let found = dataset.of_version(known.version.as_str()).await.unwrap().unwrap();
            assert_eq!(found.version, known.version);
        }
        assert!(matches!(dataset.of_version("old").await, Err(DatasetError::Store(_))));

        let snapshot = Snapshot::of(
            current.version,
            b"",
            Dataset::default().statistics(),
            FileDates::default(),
            Timestamp::UNIX_EPOCH,
        );
        dataset.remember(Manifest::following(None, snapshot, |_| false));
        assert!(dataset.of_version("old").await.unwrap().is_none(), "the manifest has no such one");
    }
}
