//! The data versions in a container's memory. Decides which one to answer from, and never calls DynamoDB.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;

use crate::loading::LoadedVersion;

/// Interval between reads of the manifest.
const RECHECK_AFTER: Duration = Duration::from_secs(60);
/// The same after a failure: short, but not every request rereads the manifest.
const RECHECK_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// The data versions in a container's memory.
#[derive(Default)]
pub(crate) struct LoadedVersions {
    in_use: ArcSwapOption<InUse>,
    /// The time at which neither the current version nor a retained one could be read.
    unreadable_at: ArcSwapOption<Instant>,
    /// The last requested version that was no longer current, for further pages of the same list.
    earlier: ArcSwapOption<LoadedVersion>,
}

/// The version that requests are answered from, and the time of the next manifest read.
struct InUse {
    loaded: LoadedVersion,
    until: Instant,
}

impl LoadedVersions {
    /// The version in use, if the manifest need not be reread at `now`.
    pub(crate) fn fresh(&self, now: Instant) -> Option<LoadedVersion> {
        match self.in_use.load().as_deref() {
            Some(in_use) if now < in_use.until => Some(in_use.loaded.clone()),
            _ => None,
        }
    }

    /// The version in use, no matter when it was last known to be current.
    pub(crate) fn latest(&self) -> Option<LoadedVersion> {
        self.in_use.load().as_deref().map(|in_use| in_use.loaded.clone())
    }

    /// The version with this name, if it is in memory.
    pub(crate) fn find(&self, version: &str) -> Option<LoadedVersion> {
        let earlier = self.earlier.load().as_deref().cloned();
        self.latest().into_iter().chain(earlier).find(|loaded| loaded.version == *version)
    }

    /// Uses `newest` from `now` on. The replaced version stays in memory, since clients may be reading its
    /// pages.
    pub(crate) fn replace(&self, newest: LoadedVersion, now: Instant) {
        if let Some(replaced) = self.latest().filter(|latest| latest.version != newest.version) {
            self.keep_earlier(replaced);
        }
        self.use_until(newest, now + RECHECK_AFTER);
    }

    /// Extends the version in use a little, because no newer one can be loaded; `None` if there is none.
    pub(crate) fn keep_using(&self, now: Instant) -> Option<LoadedVersion> {
        let latest = self.latest()?;
        self.use_until(latest.clone(), now + RECHECK_AFTER_FAILURE);
        Some(latest)
    }

    /// Remembers that no version is readable, so that not every request rereads them all.
    pub(crate) fn remember_unreadable(&self, now: Instant) {
        self.unreadable_at.store(Some(Arc::new(now)));
    }

    /// Returns `true` if no version was readable a short time ago.
    pub(crate) fn were_unreadable_recently(&self, now: Instant) -> bool {
        let unreadable_at = self.unreadable_at.load();
        unreadable_at.as_deref().is_some_and(|&then| now < then + RECHECK_AFTER_FAILURE)
    }

    /// Keeps a version in memory that is not current.
    pub(crate) fn keep_earlier(&self, loaded: LoadedVersion) {
        self.earlier.store(Some(Arc::new(loaded)));
    }

    /// Uses this version, and rereads the manifest at `until`.
    pub(crate) fn use_until(&self, loaded: LoadedVersion, until: Instant) {
        self.in_use.store(Some(Arc::new(InUse { loaded, until })));
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use numbering::records::Version;

    use super::*;

    fn version() -> LoadedVersion {
        LoadedVersion { version: Version::new(Timestamp::UNIX_EPOCH), dataset: Arc::default() }
    }

    fn name(loaded: Option<LoadedVersion>) -> Option<Version> {
        loaded.map(|loaded| loaded.version)
    }

    #[test]
    fn nothing_is_in_memory_before_the_first_load() {
        let versions = LoadedVersions::default();
        let now = Instant::now();
        assert!(versions.fresh(now).is_none() && versions.latest().is_none());
        assert!(versions.keep_using(now).is_none(), "there is nothing to go on with");
        assert!(versions.find("any").is_none());
    }

    #[test]
    fn a_version_is_fresh_for_a_minute_or_five_seconds_after_a_failure() {
        let versions = LoadedVersions::default();
        let (first, now) = (version(), Instant::now());
        versions.replace(first.clone(), now);
        let is_fresh_after = |seconds| versions.fresh(now + Duration::from_secs(seconds)).is_some();
        assert_eq!([0, 59, 60].map(is_fresh_after), [true, true, false]);
        assert_eq!(name(versions.keep_using(now + RECHECK_AFTER)), Some(first.version.clone()));
        assert_eq!([64, 65].map(is_fresh_after), [true, false]);
        assert_eq!(name(versions.latest()), Some(first.version));
    }

    #[test]
    fn the_replaced_version_is_kept_until_the_next_replacement() {
        let versions = LoadedVersions::default();
        let (first, second, now) = (version(), version(), Instant::now());
        versions.replace(first.clone(), now);
        versions.replace(second.clone(), now);
        // A refresh without a new version.
        versions.replace(second.clone(), now + RECHECK_AFTER);
        for known in [first.version, second.version] {
            assert_eq!(name(versions.find(known.as_str())), Some(known));
        }
    }

    #[test]
    fn unreadable_versions_are_remembered_for_five_seconds() {
        let versions = LoadedVersions::default();
        let now = Instant::now();
        assert!(!versions.were_unreadable_recently(now));
        versions.remember_unreadable(now);
        assert!(versions.were_unreadable_recently(now + Duration::from_secs(4)));
        assert!(!versions.were_unreadable_recently(now + Duration::from_secs(5)));
    }
}
