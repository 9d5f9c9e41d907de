//! Loads versions of the data into memory, and passes over those that cannot be read.

use std::sync::Arc;

use logging::with_causes;
use numbering::{dataset::Dataset, records::Version};

use crate::{Manifest, Snapshot, Store, StoreError, UnreadableSnapshot};

/// A version of the data in memory. All lists and lookups of a request use the same one.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

/// The reason why no dataset could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(StoreError),
    /// The stored version is not what was written, or another release wrote it.
    #[error("version {version} cannot be read")]
    Unreadable { version: Version, source: UnreadableSnapshot },
    /// The version is the newest one.
    #[error(
        "no version can be read, and the newest one is {version}; 'tnr import --fetch' imports the \
         published reports again"
    )]
    NoneReadable { version: Version, source: UnreadableSnapshot },
    #[error("no version could be read some seconds ago")]
    StillUnreadable,
}

impl From<StoreError> for DatasetError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Snapshot { version, source } => Self::Unreadable { version, source },
            other => Self::Store(other),
        }
    }
}

impl DatasetError {
    /// `true` if this is only a consequence of a failure that has been logged.
    pub fn is_left_alone(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_left_alone())
    }

    /// `true` if versions have been published, and none of them can be read, or none is known.
    pub fn is_of_every_version(&self) -> bool {
        let is_of_manifest = matches!(self, Self::Store(StoreError::Manifest { .. }));
        is_of_manifest || matches!(self, Self::NoneReadable { .. } | Self::StillUnreadable)
    }
}

/// A version that cannot be read, so that an older one takes its place.
#[derive(Debug)]
pub struct PassedOver {
    pub version: Version,
    pub reason: UnreadableSnapshot,
}

impl PassedOver {
    /// The line that names the version and says why it cannot be read.
    pub fn line(&self) -> String {
        format!("version {} cannot be read: {}", self.version, with_causes(&self.reason))
    }
}

/// The newest version that can be read, and those that are newer.
#[derive(Debug)]
pub struct Newest<T> {
    pub loaded: T,
    pub snapshot: Snapshot,
    /// Newer versions, the newest first.
    pub passed_over: Vec<PassedOver>,
}

/// Loads the newest version that `manifest` names and that can be read.
///
/// # Errors
/// Returns [`DatasetError::NoneReadable`] if none can be read, and another error if DynamoDB does
/// not answer.
pub async fn load_newest(
    store: &Store,
    manifest: &Manifest,
) -> Result<Newest<Dataset>, DatasetError> {
    newest_by(manifest.snapshots(), |snapshot| async move { load(store, &snapshot).await }).await
}

/// The first of `snapshots`, the newest first, that `load` can read.
///
/// # Errors
/// Returns [`DatasetError::NoneReadable`] if none can be read, [`DatasetError::Empty`] if there is
/// none, and another error if DynamoDB does not answer.
pub async fn newest_by<'a, T, L: Future<Output = Result<T, DatasetError>>>(
    snapshots: impl Iterator<Item = &'a Snapshot>,
    load: impl Fn(Snapshot) -> L,
) -> Result<Newest<T>, DatasetError> {
    let mut passed_over = Vec::new();
    for snapshot in snapshots {
        match load(snapshot.clone()).await {
            Ok(loaded) => {
                return Ok(Newest { loaded, snapshot: snapshot.clone(), passed_over });
            }
            Err(DatasetError::Unreadable { version, source: reason }) => {
                passed_over.push(PassedOver { version, reason });
            }
            Err(error) => return Err(error),
        }
    }
    Err(match passed_over.into_iter().next() {
        Some(PassedOver { version, reason }) => {
            DatasetError::NoneReadable { version, source: reason }
        }
        None => DatasetError::Empty,
    })
}

/// Reads and unpacks a snapshot.
///
/// # Errors
/// Returns [`DatasetError::Unreadable`] if it is not what was written or has another layout than this
/// release reads, and another error if DynamoDB does not answer.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes).map_err(|source| DatasetError::Unreadable {
        version: snapshot.version.clone(),
        source: UnreadableSnapshot(source.into()),
    })
}
