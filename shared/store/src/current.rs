//! Keeps the current version of the data in memory, and refreshes it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use logging::with_causes;
use numbering::records::Version;

use crate::{
    Manifest, Snapshot, Store, StoreError, Table,
    loading::{DatasetError, LoadedVersion, NewestVersion, SkippedVersion, first_readable, load},
};

/// The interval between reads of the manifest.
const RECHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The interval after a failed read.
const FAILURE_RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Keeps the current version in memory, and switches to a new one within a minute.
///
/// A new version is used only once its snapshot is in memory. Until then, or while DynamoDB is down, lookups
/// and lists keep using the version in memory.
pub struct CurrentDataset {
    store: Store,
    latest: ArcSwapOption<LoadedVersion>,
    /// The last requested older version, since clients request more pages from the same list.
    earlier: ArcSwapOption<LoadedVersion>,
    /// The time of the next read of the manifest; `None` if it is due. It also applies if no version was readable.
    recheck_at: ArcSwapOption<Instant>,
    /// The manifest as of the last read.
    manifest: ArcSwapOption<Manifest>,
    /// The versions that were unreadable when the one in use was loaded.
    skipped: ArcSwap<Vec<SkippedVersion>>,
    /// Locked by the request that checks for a new version. Other requests keep using the one in memory.
    refreshing: tokio::sync::Mutex<()>,
}

/// The version that responses come from, as the manifest describes it.
#[derive(Debug)]
pub enum Serving {
    Current(Snapshot),
    /// An older version, because the current one is unreadable.
    Older(Snapshot),
    /// The version in memory, because the manifest cannot be read.
    Memory(Snapshot),
    /// No version, because nothing has been imported yet.
    Empty,
    /// No version, because every version is unreadable or DynamoDB is not responding.
    Unavailable(DatasetError),
}

impl Serving {
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            Self::Current(snapshot) | Self::Older(snapshot) | Self::Memory(snapshot) => {
                Some(snapshot)
            }
            Self::Empty | Self::Unavailable(_) => None,
        }
    }
}

impl CurrentDataset {
    /// Creates a dataset that is loaded from `store` on first use.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            latest: ArcSwapOption::empty(),
            earlier: ArcSwapOption::empty(),
            recheck_at: ArcSwapOption::empty(),
            manifest: ArcSwapOption::empty(),
            skipped: ArcSwap::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Creates a dataset that is already loaded, for tests without a database.
    pub fn with_loaded(store: Store, loaded: LoadedVersion, manifest: Manifest) -> Self {
        let dataset = Self::new(store);
        dataset.switch_to(loaded, RECHECK_INTERVAL);
        dataset.set_manifest(manifest);
        dataset
    }

    /// Reads the manifest, and determines the version that responses come from.
    pub async fn serving(&self) -> Serving {
        let serving = match self.read_manifest_patiently().await {
            Ok(Some(manifest)) => self.find_serving(&self.set_manifest(manifest)).await,
            Ok(None) => Serving::Empty,
            Err(error) => match self.in_memory() {
                Some((loaded, manifest)) => {
                    tracing::error!(error = with_causes(&error), "the manifest cannot be read");
                    Serving::Memory(describe(&manifest, &loaded))
                }
                None => Serving::Unavailable(error.into()),
            },
        };
        if let Serving::Unavailable(error) = &serving {
            tracing::error!(error = with_causes(error), "no dataset could be loaded");
        }
        serving
    }

    async fn find_serving(&self, manifest: &Manifest) -> Serving {
        match self.get().await {
            Ok(loaded) if self.is_skipped(&manifest.current.version) => {
                Serving::Older(describe(manifest, &loaded))
            }
            Ok(_) => Serving::Current(manifest.current.clone()),
            Err(error) => Serving::Unavailable(error),
        }
    }

    /// Returns the current version, or the one in memory if the current one cannot be loaded.
    pub async fn get(&self) -> Result<LoadedVersion, DatasetError> {
        if let Some(fresh) = self.fresh(Instant::now()) {
            return Ok(fresh);
        }
        let _refreshing = match (self.refreshing.try_lock(), self.latest()) {
            (Ok(lock), _) => lock,
            (Err(_), Some(stale)) => return Ok(stale),
            (Err(_), None) => self.refreshing.lock().await,
        };
        // Another request may have refreshed the dataset while this one waited.
        let now = Instant::now();
        match self.fresh(now) {
            Some(fresh) => Ok(fresh),
            None if self.is_due(now) => self.refresh().await,
            None => Err(DatasetError::StillUnreadable),
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        self.recheck_at.load().as_deref().is_none_or(|recheck_at| now >= *recheck_at)
    }

    /// The version in use, unless the next read of the manifest is due at `now`.
    fn fresh(&self, now: Instant) -> Option<LoadedVersion> {
        if self.is_due(now) { None } else { self.latest() }
    }

    /// The version in use, even if the next read of the manifest is due.
    fn latest(&self) -> Option<LoadedVersion> {
        self.latest.load().as_deref().cloned()
    }

    /// The version with this name, if it is in memory.
    fn find(&self, version: &str) -> Option<LoadedVersion> {
        let earlier = self.earlier.load().as_deref().cloned();
        self.latest().into_iter().chain(earlier).find(|loaded| loaded.version == *version)
    }

    /// Switches to this version. The replaced one stays in memory, since clients may be reading its pages.
    fn switch_to(&self, loaded: LoadedVersion, recheck_in: Duration) {
        if let Some(replaced) = self.latest().filter(|latest| latest.version != loaded.version) {
            self.earlier.store(Some(Arc::new(replaced)));
        }
        self.latest.store(Some(Arc::new(loaded)));
        self.recheck_in(recheck_in);
    }

    fn recheck_in(&self, interval: Duration) {
        self.recheck_at.store(Some(Arc::new(Instant::now() + interval)));
    }

    /// The version in memory, and the manifest as of the last read. Does not call DynamoDB.
    pub fn in_memory(&self) -> Option<(LoadedVersion, Arc<Manifest>)> {
        self.latest().zip(self.manifest.load_full())
    }

    /// Finds a version by name, for a client reading its pages; `None` if it is unreadable, or neither current
    /// nor retained.
    pub async fn version(&self, version: &str) -> Result<Option<LoadedVersion>, DatasetError> {
        if let Some(found) = self.find(version) {
            return Ok(Some(found));
        }
        // The version may be newer than the one in memory.
        let manifest = match self.stored_manifest().await {
            Ok(Some(manifest)) => self.set_manifest(manifest),
            Ok(None) => return Err(DatasetError::Empty),
            Err(error) => match self.manifest.load_full() {
                Some(manifest) if manifest.snapshot(version).is_some() => manifest,
                // A newer manifest may list the version.
                _ => return Err(error.into()),
            },
        };
        let Some(snapshot) = manifest.snapshot(version) else { return Ok(None) };
        let loaded = match self.load_or_reuse(snapshot).await {
            Err(DatasetError::Unreadable { .. }) => return Ok(None),
            loaded => loaded?,
        };
        self.earlier.store(Some(Arc::new(loaded.clone())));
        Ok(Some(loaded))
    }

    async fn refresh(&self) -> Result<LoadedVersion, DatasetError> {
        let error = match self.newest().await {
            Ok(NewestVersion { loaded, skipped, .. }) => {
                self.record_skipped(skipped, &loaded);
                self.switch_to(loaded.clone(), RECHECK_INTERVAL);
                return Ok(loaded);
            }
            Err(error) => error,
        };
        let in_memory = self.latest();
        // Without a version, every request would read all versions again.
        if in_memory.is_some() || error.affects_every_version() {
            self.recheck_in(FAILURE_RECHECK_INTERVAL);
        }
        let Some(in_memory) = in_memory else { return Err(error) };
        tracing::warn!(
            error = with_causes(&error),
            version = in_memory.version.as_str(),
            "the current version cannot be loaded; using the version in memory"
        );
        if let DatasetError::NoneReadable { version, source: reason } = error {
            self.skipped.store(Arc::new(vec![SkippedVersion { version, reason }]));
        }
        Ok(in_memory)
    }

    /// Loads the newest readable version. If the current one is unreadable, rereads the manifest: an import may
    /// have just replaced that version and deleted its chunks.
    async fn newest(&self) -> Result<NewestVersion<LoadedVersion>, DatasetError> {
        let manifest = self.require_manifest().await?;
        let newest = self.load_newest_in(&manifest).await;
        let is_current_unreadable = match &newest {
            Ok(newest) => !newest.skipped.is_empty(),
            Err(error) => error.affects_every_version(),
        };
        if !is_current_unreadable {
            return newest;
        }
        let reread = self.require_manifest().await?;
        if reread.current.version == manifest.current.version {
            return newest;
        }
        self.load_newest_in(&reread).await
    }

    async fn load_newest_in(
        &self,
        manifest: &Manifest,
    ) -> Result<NewestVersion<LoadedVersion>, DatasetError> {
        first_readable(manifest.snapshots(), |snapshot| async move {
            self.load_or_reuse(&snapshot).await
        })
        .await
    }

    /// The unreadable versions that were skipped when the one in use was loaded.
    pub fn skipped(&self) -> Arc<Vec<SkippedVersion>> {
        self.skipped.load_full()
    }

    fn is_skipped(&self, version: &Version) -> bool {
        self.skipped.load().iter().any(|unreadable| unreadable.version == *version)
    }

    /// Stores the versions that were skipped in favor of `loaded`, and logs each once.
    fn record_skipped(&self, skipped: Vec<SkippedVersion>, loaded: &LoadedVersion) {
        for unreadable in &skipped {
            if !self.is_skipped(&unreadable.version) {
                tracing::error!(
                    error = with_causes(unreadable.reason.as_ref()),
                    version = unreadable.version.as_str(),
                    answering = loaded.version.as_str(),
                    "a version cannot be read; using an older one"
                );
            }
        }
        self.skipped.store(Arc::new(skipped));
    }

    /// Reads the manifest from DynamoDB, with a short timeout if one is in memory.
    async fn stored_manifest(&self) -> Result<Option<Manifest>, StoreError> {
        if self.manifest.load().is_none() {
            return self.read_manifest_patiently().await;
        }
        self.store.read_briefly(Table::Dataset, self.store.manifest()).await
    }

    /// Reads the manifest with the full timeout, since a slow database has not failed.
    async fn read_manifest_patiently(&self) -> Result<Option<Manifest>, StoreError> {
        self.store.read_patiently(Table::Dataset, self.store.manifest()).await
    }

    async fn require_manifest(&self) -> Result<Arc<Manifest>, DatasetError> {
        let manifest = self.stored_manifest().await?.ok_or(DatasetError::Empty)?;
        Ok(self.set_manifest(manifest))
    }

    /// Returns this snapshot's version from memory if it is there, or loads it from DynamoDB.
    async fn load_or_reuse(&self, snapshot: &Snapshot) -> Result<LoadedVersion, DatasetError> {
        if let Some(in_memory) = self.find(snapshot.version.as_str()) {
            return Ok(in_memory);
        }
        let dataset = load(&self.store, snapshot).await?;
        Ok(LoadedVersion { version: snapshot.version.clone(), dataset: Arc::new(dataset) })
    }

    /// If it names a new version, the next lookup switches to it, since other responses already come from this manifest.
    fn set_manifest(&self, manifest: Manifest) -> Arc<Manifest> {
        let manifest = Arc::new(manifest);
        let replaced = self.manifest.swap(Some(Arc::clone(&manifest)));
        if replaced.is_some_and(|it| it.current.version != manifest.current.version) {
            self.recheck_at.store(None);
        }
        manifest
    }
}

/// The manifest's entry for a version, or for the current version if the manifest no longer lists it.
fn describe(manifest: &Manifest, loaded: &LoadedVersion) -> Snapshot {
    manifest.snapshot(loaded.version.as_str()).unwrap_or(&manifest.current).clone()
}

#[cfg(test)]
mod tests;
