//! Holds the current version of the data in memory, and refreshes it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use logging::with_causes;
use numbering::records::Version;
use parking_lot::Mutex;

use crate::{
    Manifest, Snapshot, Store, StoreError, Table,
    snapshots::{DatasetError, LoadedVersion, NewestVersion, SkippedVersion, first_readable, load},
};

/// The interval between reads of the manifest.
const RECHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The interval after a failed read.
const FAILURE_RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Holds the current version in memory, and switches to a new one within a minute.
///
/// A new version is used only once its snapshot is in memory. Until then, or while DynamoDB is down, lookups
/// and lists continue to use the version in memory.
pub struct CurrentDataset {
    store: Store,
    state: Mutex<State>,
    /// Locked by the request that checks for a new version. Other requests use the one in memory.
    refreshing: tokio::sync::Mutex<()>,
}

/// The versions and the manifest in memory.
#[derive(Default)]
struct State {
    latest: Option<LoadedVersion>,
    /// The most recently requested older version, cached for clients that are paging through a list.
    earlier: Option<LoadedVersion>,
    /// The time of the next manifest read; `None` if it is due. Also set if no version was readable.
    recheck_at: Option<Instant>,
    /// The manifest from the last read.
    manifest: Option<Arc<Manifest>>,
    /// The versions that were unreadable when the one in use was loaded.
    skipped: Arc<Vec<SkippedVersion>>,
}

impl State {
    fn is_due(&self, now: Instant) -> bool {
        self.recheck_at.is_none_or(|recheck_at| now >= recheck_at)
    }

    /// The version in use, unless a manifest read is due at `now`.
    fn fresh(&self, now: Instant) -> Option<LoadedVersion> {
        self.latest.clone().filter(|_| !self.is_due(now))
    }

    /// The version with this name, if it is in memory.
    fn find(&self, version: &str) -> Option<LoadedVersion> {
        self.latest.iter().chain(&self.earlier).find(|loaded| loaded.version == *version).cloned()
    }

    /// Switches to this version. The previous one stays in memory, because clients may be reading its pages.
    fn switch_to(&mut self, loaded: LoadedVersion, recheck_in: Duration) {
        let replaced = self.latest.take().filter(|latest| latest.version != loaded.version);
        self.earlier = replaced.or(self.earlier.take());
        self.latest = Some(loaded);
        self.recheck_in(recheck_in);
    }

    fn recheck_in(&mut self, interval: Duration) {
        self.recheck_at = Some(Instant::now() + interval);
    }

    fn is_skipped(&self, version: &Version) -> bool {
        self.skipped.iter().any(|unreadable| unreadable.version == *version)
    }
}

/// The version that responses come from, as described in the manifest.
#[derive(Debug)]
pub enum ServedVersion {
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

impl ServedVersion {
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
        Self { store, state: Mutex::default(), refreshing: tokio::sync::Mutex::default() }
    }

    /// Creates a dataset that is already loaded, for tests without a database.
    pub fn with_loaded(store: Store, loaded: LoadedVersion, manifest: Manifest) -> Self {
        let dataset = Self::new(store);
        dataset.state.lock().switch_to(loaded, RECHECK_INTERVAL);
        dataset.set_manifest(manifest);
        dataset
    }

    /// Reads the manifest, and finds the version that responses come from.
    pub async fn serving(&self) -> ServedVersion {
        let serving = match self.read_manifest_patiently().await {
            Ok(Some(manifest)) => self.find_serving(&self.set_manifest(manifest)).await,
            Ok(None) => ServedVersion::Empty,
            Err(error) => match self.in_memory() {
                Some((loaded, manifest)) => {
                    tracing::error!(error = with_causes(&error), "the manifest cannot be read");
                    ServedVersion::Memory(describe(&manifest, &loaded))
                }
                None => ServedVersion::Unavailable(error.into()),
            },
        };
        if let ServedVersion::Unavailable(error) = &serving {
            tracing::error!(error = with_causes(error), "no dataset could be loaded");
        }
        serving
    }

    async fn find_serving(&self, manifest: &Manifest) -> ServedVersion {
        match self.get().await {
            Ok(loaded) if self.state.lock().is_skipped(&manifest.current.version) => {
                ServedVersion::Older(describe(manifest, &loaded))
            }
            Ok(_) => ServedVersion::Current(manifest.current.clone()),
            Err(error) => ServedVersion::Unavailable(error),
        }
    }

    /// Returns the current version, or the one in memory if the current one cannot be loaded.
    pub async fn get(&self) -> Result<LoadedVersion, DatasetError> {
        if let Some(fresh) = self.state.lock().fresh(Instant::now()) {
            return Ok(fresh);
        }
        let in_memory = self.state.lock().latest.clone();
        let _refreshing = match (self.refreshing.try_lock(), in_memory) {
            (Ok(lock), _) => lock,
            (Err(_), Some(stale)) => return Ok(stale),
            (Err(_), None) => self.refreshing.lock().await,
        };
        // Another request may have refreshed the dataset in the meantime.
        let now = Instant::now();
        if let Some(fresh) = self.state.lock().fresh(now) {
            return Ok(fresh);
        }
        let is_due = self.state.lock().is_due(now);
        if is_due { self.refresh().await } else { Err(DatasetError::StillUnreadable) }
    }

    /// The version in memory, and the manifest from the last read. Does not call DynamoDB.
    pub fn in_memory(&self) -> Option<(LoadedVersion, Arc<Manifest>)> {
        let state = self.state.lock();
        state.latest.clone().zip(state.manifest.clone())
    }

    /// Finds a version by name, for a client that is reading its pages. `None` if it is unreadable, or neither current
    /// nor retained.
    pub async fn version(&self, version: &str) -> Result<Option<LoadedVersion>, DatasetError> {
        if let Some(found) = self.state.lock().find(version) {
            return Ok(Some(found));
        }
        // The version may be newer than the one in memory.
        let manifest = match self.stored_manifest().await {
            Ok(Some(manifest)) => self.set_manifest(manifest),
            Ok(None) => return Err(DatasetError::Empty),
            Err(error) => match self.state.lock().manifest.clone() {
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
        self.state.lock().earlier = Some(loaded.clone());
        Ok(Some(loaded))
    }

    async fn refresh(&self) -> Result<LoadedVersion, DatasetError> {
        let error = match self.newest().await {
            Ok(NewestVersion { loaded, skipped, .. }) => {
                self.record_skipped(skipped, &loaded);
                self.state.lock().switch_to(loaded.clone(), RECHECK_INTERVAL);
                return Ok(loaded);
            }
            Err(error) => error,
        };
        let mut state = self.state.lock();
        // Without a delay, every request would read all versions again.
        if state.latest.is_some() || error.affects_every_version() {
            state.recheck_in(FAILURE_RECHECK_INTERVAL);
        }
        let Some(in_memory) = state.latest.clone() else { return Err(error) };
        tracing::warn!(
            error = with_causes(&error),
            version = in_memory.version.as_str(),
            "the current version cannot be loaded; using the version in memory"
        );
        if let DatasetError::NoneReadable { version, source: reason } = error {
            state.skipped = Arc::new(vec![SkippedVersion { version, reason }]);
        }
        Ok(in_memory)
    }

    /// Loads the newest readable version. If the current one is unreadable, reads the manifest again: an import may
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

    /// The unreadable versions that were skipped before loading the one in use.
    pub fn skipped(&self) -> Arc<Vec<SkippedVersion>> {
        Arc::clone(&self.state.lock().skipped)
    }

    /// Stores the versions that were skipped in favor of `loaded`, and logs each of them once.
    fn record_skipped(&self, skipped: Vec<SkippedVersion>, loaded: &LoadedVersion) {
        let mut state = self.state.lock();
        for unreadable in &skipped {
            if !state.is_skipped(&unreadable.version) {
                tracing::error!(
                    error = with_causes(unreadable.reason.as_ref()),
                    version = unreadable.version.as_str(),
                    serving = loaded.version.as_str(),
                    "a version cannot be read; using an older one"
                );
            }
        }
        state.skipped = Arc::new(skipped);
    }

    /// Reads the manifest from DynamoDB. If one is already in memory, the timeout is short.
    async fn stored_manifest(&self) -> Result<Option<Manifest>, StoreError> {
        let is_known = self.state.lock().manifest.is_some();
        if !is_known {
            return self.read_manifest_patiently().await;
        }
        self.store.read_briefly(Table::Dataset, self.store.manifest()).await
    }

    /// Reads the manifest with the full timeout, because a slow database is not a failed one.
    async fn read_manifest_patiently(&self) -> Result<Option<Manifest>, StoreError> {
        self.store.read_patiently(Table::Dataset, self.store.manifest()).await
    }

    async fn require_manifest(&self) -> Result<Arc<Manifest>, DatasetError> {
        let manifest = self.stored_manifest().await?.ok_or(DatasetError::Empty)?;
        Ok(self.set_manifest(manifest))
    }

    /// Returns this snapshot's version from memory if possible, and otherwise loads it from DynamoDB.
    async fn load_or_reuse(&self, snapshot: &Snapshot) -> Result<LoadedVersion, DatasetError> {
        if let Some(in_memory) = self.state.lock().find(snapshot.version.as_str()) {
            return Ok(in_memory);
        }
        let dataset = load(&self.store, snapshot).await?;
        Ok(LoadedVersion { version: snapshot.version.clone(), dataset: Arc::new(dataset) })
    }

    /// Stores a newly read manifest. If it names a new version, the next lookup switches to that version.
    fn set_manifest(&self, manifest: Manifest) -> Arc<Manifest> {
        let manifest = Arc::new(manifest);
        let mut state = self.state.lock();
        let replaced = state.manifest.replace(Arc::clone(&manifest));
        if replaced.is_some_and(|it| it.current.version != manifest.current.version) {
            state.recheck_at = None;
        }
        manifest
    }
}

/// The manifest's entry for this version, or for the current version if it is no longer listed.
fn describe(manifest: &Manifest, loaded: &LoadedVersion) -> Snapshot {
    manifest.snapshot(loaded.version.as_str()).unwrap_or(&manifest.current).clone()
}

#[cfg(test)]
mod tests;
