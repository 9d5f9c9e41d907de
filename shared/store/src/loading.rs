//! Loads data versions into memory, passing over unreadable ones.

use std::sync::Arc;

use logging::with_causes;
use numbering::{dataset::Dataset, records::Version};

use crate::{Manifest, Snapshot, Store, StoreError, UnreadableSnapshot};

/// A data version in memory. All lists and lookups of a request use the same one.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

/// A failure to load any dataset.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(StoreError),
    /// The stored version is damaged, or another release wrote it.
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
    /// Returns `true` if this only follows from a failure that has been logged.
    pub fn is_left_alone(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_left_alone())
    }

    /// Returns `true` if versions have been published, but all are unreadable or unknown.
    pub fn is_of_every_version(&self) -> bool {
        let is_of_manifest = matches!(self, Self::Store(StoreError::Manifest { .. }));
        is_of_manifest || matches!(self, Self::NoneReadable { .. } | Self::StillUnreadable)
    }
}

/// An unreadable version that an older one replaces.
#[derive(Debug)]
pub struct PassedOver {
    pub version: Version,
    pub reason: UnreadableSnapshot,
}

impl PassedOver {
    /// A line with the version and why it is unreadable.
    pub fn line(&self) -> String {
        format!("version {} cannot be read: {}", self.version, with_causes(&self.reason))
    }
}

/// The newest readable version, and the newer ones.
#[derive(Debug)]
pub struct Newest<T> {
    pub loaded: T,
    pub snapshot: Snapshot,
    /// Newer versions, newest first.
    pub passed_over: Vec<PassedOver>,
}

/// Loads the newest readable version in `manifest`.
///
/// # Errors
/// Returns [`DatasetError::NoneReadable`] if none is readable, and another error if DynamoDB does not answer.
pub async fn load_newest(
    store: &Store,
    manifest: &Manifest,
) -> Result<Newest<Dataset>, DatasetError> {
    newest_by(manifest.snapshots(), |snapshot| async move { load(store, &snapshot).await }).await
}

/// The first of `snapshots`, ordered newest first, that `load` can read.
///
/// # Errors
/// Returns [`DatasetError::NoneReadable`] if none is readable, [`DatasetError::Empty`] if `snapshots` is empty, and
/// another error if DynamoDB does not answer.
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
/// Returns [`DatasetError::Unreadable`] if it is damaged or has an unsupported layout, and another error if
/// DynamoDB does not answer.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes).map_err(|source| DatasetError::Unreadable {
        version: snapshot.version.clone(),
        source: UnreadableSnapshot(source.into()),
    })
}
