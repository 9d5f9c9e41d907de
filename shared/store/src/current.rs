//! The current dataset version, loaded once per container and refreshed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use logging::with_causes;
use numbering::records::Version;

use crate::{
    Manifest, Snapshot, Store, StoreError, Table,
    loading::{DatasetError, LoadedVersion, Newest, PassedOver, load, newest_by},
};

/// Interval between reads of the manifest.
const RECHECK_AFTER: Duration = Duration::from_secs(60);
/// The same after a failure: short, but not every request rereads the manifest.
const RECHECK_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Keeps the current version in memory, and switches to a new one within a minute.
///
/// A new version is used only once its snapshot is in memory. Until then, or while DynamoDB is down, lookups
/// and lists keep using the version in memory.
pub struct CurrentDataset {
    store: Store,
    in_use: ArcSwapOption<InUse>,
    /// The last requested version that was no longer current, for further pages of the same list.
    earlier: ArcSwapOption<LoadedVersion>,
    /// The time until which no version is read again, because none was readable.
    unreadable_until: ArcSwapOption<Instant>,
    /// The manifest as of the last read, for health and statistics.
    manifest: ArcSwapOption<Manifest>,
    /// The versions that were unreadable when the one in use was loaded.
    passed_over: ArcSwap<Vec<PassedOver>>,
    /// Locked by the one request that checks for a new version. Others keep using the one in memory.
    refreshing: tokio::sync::Mutex<()>,
}

/// The version that requests are answered from, and the time of the next manifest read.
struct InUse {
    loaded: LoadedVersion,
    until: Instant,
}

/// The version that requests are answered from, as described in the manifest.
#[derive(Debug)]
pub enum Serving {
    /// The current version.
    Current(Snapshot),
    /// An older version, because the current one is unreadable.
    Older(Snapshot),
    /// The version in memory, because the manifest cannot be read.
    Memory(Snapshot),
    /// None, because nothing has been imported yet.
    Empty,
    /// None, because every version is unreadable or DynamoDB does not answer.
    Nothing(DatasetError),
}

impl Serving {
    /// The version that requests are answered from.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        match self {
            Self::Current(snapshot) | Self::Older(snapshot) | Self::Memory(snapshot) => {
                Some(snapshot)
            }
            Self::Empty | Self::Nothing(_) => None,
        }
    }
}

impl CurrentDataset {
    /// Creates a dataset that is loaded from `store` on first use.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            in_use: ArcSwapOption::empty(),
            earlier: ArcSwapOption::empty(),
            unreadable_until: ArcSwapOption::empty(),
            manifest: ArcSwapOption::empty(),
            passed_over: ArcSwap::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// A dataset that is in memory from the beginning, for tests without a database.
    pub fn in_memory_already(store: Store, loaded: LoadedVersion, manifest: Manifest) -> Self {
        let dataset = Self::new(store);
        dataset.use_until(loaded, Instant::now() + RECHECK_AFTER);
        dataset.remember(manifest);
        dataset
    }

    /// Reads the manifest, and determines the version that requests are answered from.
    pub async fn serving(&self) -> Serving {
        let serving = match self.checked_manifest().await {
            Ok(Some(manifest)) => self.serving_beside(&self.remember(manifest)).await,
            Ok(None) => Serving::Empty,
            Err(error) => match self.in_memory() {
                Some((loaded, manifest)) => {
                    if !error.is_left_alone() {
                        tracing::error!(error = with_causes(&error), "the manifest cannot be read");
                    }
                    Serving::Memory(described_by(&manifest, &loaded))
                }
                None => Serving::Nothing(error.into()),
            },
        };
        if let Serving::Nothing(error) = &serving
            && !error.is_left_alone()
        {
            tracing::error!(error = with_causes(error), "no dataset could be loaded");
        }
        serving
    }

    async fn serving_beside(&self, manifest: &Manifest) -> Serving {
        match self.get().await {
            Ok(loaded) if self.has_passed_over(&manifest.current.version) => {
                Serving::Older(described_by(manifest, &loaded))
            }
            Ok(_) => Serving::Current(manifest.current.clone()),
            Err(error) => Serving::Nothing(error),
        }
    }

    /// The version to answer from: the current one, or the one in memory if that cannot be loaded.
    pub async fn get(&self) -> Result<LoadedVersion, DatasetError> {
        if let Some(fresh) = self.fresh(Instant::now()) {
            return Ok(fresh);
        }
        let _refreshing = match (self.refreshing.try_lock(), self.latest()) {
            (Ok(lock), _) => lock,
            (Err(_), Some(stale)) => return Ok(stale),
            (Err(_), None) => self.refreshing.lock().await,
        };
        // Another request may have refreshed the dataset while this one waited for the lock.
        let now = Instant::now();
        match self.fresh(now) {
            Some(fresh) => Ok(fresh),
            None if self.unreadable_until.load().as_deref().is_some_and(|until| now < *until) => {
                Err(DatasetError::StillUnreadable)
            }
            None => self.refresh().await,
        }
    }

    /// The version in use, if the manifest need not be reread at `now`.
    fn fresh(&self, now: Instant) -> Option<LoadedVersion> {
        match self.in_use.load().as_deref() {
            Some(in_use) if now < in_use.until => Some(in_use.loaded.clone()),
            _ => None,
        }
    }

    /// The version in use, no matter when it was last known to be current.
    fn latest(&self) -> Option<LoadedVersion> {
        self.in_use.load().as_deref().map(|in_use| in_use.loaded.clone())
    }

    /// The version with this name, if it is in memory.
    fn find(&self, version: &str) -> Option<LoadedVersion> {
        let earlier = self.earlier.load().as_deref().cloned();
        self.latest().into_iter().chain(earlier).find(|loaded| loaded.version == *version)
    }

    /// Uses this version, and rereads the manifest at `until`. A replaced version stays in memory, since clients
    /// may be reading its pages.
    fn use_until(&self, loaded: LoadedVersion, until: Instant) {
        if let Some(replaced) = self.latest().filter(|latest| latest.version != loaded.version) {
            self.earlier.store(Some(Arc::new(replaced)));
        }
        self.in_use.store(Some(Arc::new(InUse { loaded, until })));
    }

    /// The version in memory, and the manifest as of the last read. Makes no call.
    pub fn in_memory(&self) -> Option<(LoadedVersion, Arc<Manifest>)> {
        self.latest().zip(self.manifest.load_full())
    }

    /// A version by name, for a client reading its pages; `None` if it is neither current nor retained, or is
    /// unreadable.
    pub async fn version(&self, version: &str) -> Result<Option<LoadedVersion>, DatasetError> {
        if let Some(found) = self.find(version) {
            return Ok(Some(found));
        }
        // The version may be newer than this container's, so reread the manifest.
        let manifest = match self.stored_manifest().await {
            Ok(Some(manifest)) => self.remember(manifest),
            Ok(None) => return Err(DatasetError::Empty),
            Err(error) => self.manifest.load_full().ok_or(error)?,
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
            Ok(Newest { loaded, passed_over, .. }) => {
                self.pass_over(passed_over, &loaded);
                self.use_until(loaded.clone(), Instant::now() + RECHECK_AFTER);
                return Ok(loaded);
            }
            Err(error) => error,
        };
        let until = Instant::now() + RECHECK_AFTER_FAILURE;
        let Some(in_memory) = self.latest() else {
            // Otherwise every request would reread all versions.
            if error.is_of_every_version() {
                self.unreadable_until.store(Some(Arc::new(until)));
            }
            return Err(error);
        };
        self.use_until(in_memory.clone(), until);
        if !error.is_left_alone() {
            tracing::warn!(
                error = with_causes(&error),
                version = in_memory.version.as_str(),
                "no newer version can be loaded; going on with the version in memory"
            );
        }
        if let DatasetError::NoneReadable { version, source: reason } = error {
            self.passed_over.store(Arc::new(vec![PassedOver { version, reason }]));
        }
        Ok(in_memory)
    }

    /// Loads the newest readable version. If that is not the current one, another may have been published
    /// meanwhile, and the earlier one's chunks deleted.
    async fn newest(&self) -> Result<Newest<LoadedVersion>, DatasetError> {
        let manifest = self.require_manifest().await?;
        let newest = self.newest_of(&manifest).await;
        let is_settled = match &newest {
            Ok(newest) => newest.passed_over.is_empty(),
            Err(error) => !error.is_of_every_version(),
        };
        if is_settled {
            return newest;
        }
        let again = self.require_manifest().await?;
        if again.current.version == manifest.current.version {
            return newest;
        }
        self.newest_of(&again).await
    }

    async fn newest_of(&self, manifest: &Manifest) -> Result<Newest<LoadedVersion>, DatasetError> {
        newest_by(
            manifest.snapshots(),
            |snapshot| async move { self.load_or_reuse(&snapshot).await },
        )
        .await
    }

    /// The unreadable versions that were passed over when the one in use was loaded.
    pub fn passed_over(&self) -> Arc<Vec<PassedOver>> {
        self.passed_over.load_full()
    }

    fn has_passed_over(&self, version: &Version) -> bool {
        self.passed_over.load().iter().any(|unreadable| unreadable.version == *version)
    }

    /// Remembers the versions that `loaded` is used in place of, and logs each once.
    fn pass_over(&self, passed_over: Vec<PassedOver>, loaded: &LoadedVersion) {
        for unreadable in &passed_over {
            if !self.has_passed_over(&unreadable.version) {
                tracing::error!(
                    error = with_causes(&unreadable.reason),
                    version = unreadable.version.as_str(),
                    answering = loaded.version.as_str(),
                    "a version cannot be read; answering from an older one"
                );
            }
        }
        self.passed_over.store(Arc::new(passed_over));
    }

    /// Reads the manifest from DynamoDB. Callers do not wait long for it if one is in memory.
    async fn stored_manifest(&self) -> Result<Option<Manifest>, StoreError> {
        if self.manifest.load().is_none() {
            return self.checked_manifest().await;
        }
        self.store.briefly(Table::Dataset, self.store.manifest()).await
    }

    /// Reads the manifest for health checks: a database that is merely slow has not failed.
    async fn checked_manifest(&self) -> Result<Option<Manifest>, StoreError> {
        self.store.patiently(Table::Dataset, self.store.manifest()).await
    }

    async fn require_manifest(&self) -> Result<Arc<Manifest>, DatasetError> {
        let manifest = self.stored_manifest().await?.ok_or(DatasetError::Empty)?;
        Ok(self.remember(manifest))
    }

    /// The version of this snapshot, from memory or else from DynamoDB.
    async fn load_or_reuse(&self, snapshot: &Snapshot) -> Result<LoadedVersion, DatasetError> {
        if let Some(in_memory) = self.find(snapshot.version.as_str()) {
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

/// The manifest's description of a version, or of the current one if the manifest no longer names it.
fn described_by(manifest: &Manifest, loaded: &LoadedVersion) -> Snapshot {
    manifest.snapshot(loaded.version.as_str()).unwrap_or(&manifest.current).clone()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use numbering::dataset::Dataset;

    use super::*;
    use crate::{FileDates, TimeoutProfile};

    /// A port that nothing listens on, so each call fails immediately.
    const UNREACHABLE: &str = "http://127.0.0.1:1";

    async fn without_dynamodb() -> CurrentDataset {
        CurrentDataset::new(Store::at_emulator(UNREACHABLE, TimeoutProfile::Request))
    }

    fn version() -> LoadedVersion {
        LoadedVersion { version: Version::new(Timestamp::UNIX_EPOCH), dataset: Arc::default() }
    }

    #[tokio::test]
    async fn nothing_is_in_memory_before_the_first_load() {
        let dataset = without_dynamodb().await;
        assert!(dataset.fresh(Instant::now()).is_none() && dataset.find("any").is_none());
        assert!(matches!(dataset.get().await, Err(DatasetError::Store(_))));
        assert!(matches!(dataset.serving().await, Serving::Nothing(_)));
    }

    #[tokio::test]
    async fn the_version_in_memory_is_used_without_dynamodb_and_retried_in_five_seconds() {
        let dataset = without_dynamodb().await;
        let in_memory = version();
        dataset.use_until(in_memory.clone(), Instant::now());
        assert!(dataset.fresh(Instant::now()).is_none());
        assert_eq!(dataset.get().await.unwrap().version, in_memory.version);
        let is_fresh_after =
            |seconds| dataset.fresh(Instant::now() + Duration::from_secs(seconds)).is_some();
        assert_eq!([0, 3, 5].map(is_fresh_after), [true, true, false]);
    }

    #[tokio::test]
    async fn unreadable_versions_are_not_read_again_for_a_while() {
        let dataset = without_dynamodb().await;
        dataset.unreadable_until.store(Some(Arc::new(Instant::now() + RECHECK_AFTER)));
        assert!(matches!(dataset.get().await, Err(DatasetError::StillUnreadable)));
        dataset.unreadable_until.store(Some(Arc::new(Instant::now())));
        assert!(matches!(dataset.get().await, Err(DatasetError::Store(_))));
    }

    #[tokio::test]
    async fn the_replaced_version_is_kept_and_others_are_found_through_the_manifest() {
        let dataset = without_dynamodb().await;
        let (first, current) = (version(), version());
        // The last one is a refresh without a new version.
        for loaded in [&first, &current, &current] {
            dataset.use_until(loaded.clone(), Instant::now());
        }
        for known in [first.version, current.version.clone()] {
            let found = dataset.version(known.as_str()).await.unwrap().unwrap();
            assert_eq!(found.version, known);
        }
        assert!(matches!(dataset.version("old").await, Err(DatasetError::Store(_))));

        let (statistics, now) = (Dataset::default().statistics(), Timestamp::UNIX_EPOCH);
        let snapshot = Snapshot::new(current.version, b"", statistics, FileDates::default(), now);
        dataset.remember(Manifest::following(None, snapshot, |_| false));
        assert!(dataset.version("old").await.unwrap().is_none(), "the manifest has no such one");
    }
}
