//! Loads versions of the data into memory, skipping unreadable ones.

use std::sync::Arc;

use logging::with_causes;
use numbering::{dataset::Dataset, records::Version};

use crate::{Cause, Manifest, Snapshot, Store, StoreError};

/// A version of the data in memory. All lists and lookups in a request use the same one.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The version is damaged, or in an unsupported layout.
    #[error("version {version} cannot be read")]
    Unreadable { version: Version, source: Cause },
    /// Every version is unreadable. This is the newest one.
    #[error(
        "no version can be read, including the newest one, {version}; 'tnr import --fetch' imports the \
         published reports again"
    )]
    NoneReadable { version: Version, source: Cause },
    #[error("no version was readable a few seconds ago")]
    StillUnreadable,
}

impl DatasetError {
    /// Wraps the reason why a version cannot be read, for `map_err`.
    pub(crate) fn unreadable<E: Into<Cause>>(version: &Version) -> impl FnOnce(E) -> Self {
        |reason| Self::Unreadable { version: version.clone(), source: reason.into() }
    }

    /// Returns `true` if the manifest or every version in it is unreadable.
    pub fn affects_every_version(&self) -> bool {
        let is_manifest_unreadable = matches!(self, Self::Store(StoreError::Manifest { .. }));
        is_manifest_unreadable || matches!(self, Self::NoneReadable { .. } | Self::StillUnreadable)
    }
}

/// An unreadable version that was skipped in favor of an older one.
#[derive(Debug)]
pub struct SkippedVersion {
    pub version: Version,
    pub reason: Cause,
}

impl SkippedVersion {
    /// Describes the version and why it is unreadable.
    pub fn line(&self) -> String {
        format!("version {} cannot be read: {}", self.version, with_causes(self.reason.as_ref()))
    }
}

/// The newest readable version, and the unreadable ones that are newer.
#[derive(Debug)]
pub struct NewestVersion<T> {
    pub loaded: T,
    pub snapshot: Snapshot,
    /// Newest first.
    pub skipped: Vec<SkippedVersion>,
}

/// Loads the newest readable version in `manifest`, as [`first_readable`] does.
pub async fn load_newest(
    store: &Store,
    manifest: &Manifest,
) -> Result<NewestVersion<Dataset>, DatasetError> {
    first_readable(manifest.snapshots(), |snapshot| async move { load(store, &snapshot).await })
        .await
}

/// Returns the first of `snapshots`, ordered newest first, that `load` can read. If all are unreadable, returns
/// [`DatasetError::NoneReadable`].
pub async fn first_readable<'a, T, L: Future<Output = Result<T, DatasetError>>>(
    snapshots: impl Iterator<Item = &'a Snapshot>,
    load: impl Fn(Snapshot) -> L,
) -> Result<NewestVersion<T>, DatasetError> {
    let mut skipped = Vec::new();
    for snapshot in snapshots {
        match load(snapshot.clone()).await {
            Ok(loaded) => {
                return Ok(NewestVersion { loaded, snapshot: snapshot.clone(), skipped });
            }
            Err(DatasetError::Unreadable { version, source: reason }) => {
                skipped.push(SkippedVersion { version, reason });
            }
            Err(error) => return Err(error),
        }
    }
    let newest = skipped.into_iter().next().ok_or(DatasetError::Empty)?;
    Err(DatasetError::NoneReadable { version: newest.version, source: newest.reason })
}

pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes).map_err(DatasetError::unreadable(&snapshot.version))
}
