//! Loads a version of the data into memory.

use std::sync::Arc;

use numbering::{
    dataset::{DamagedSnapshot, Dataset},
    records::Version,
};

use crate::{Snapshot, Store, StoreError};

/// A version of the data in memory. All lists and lookups of a request use the same one.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

/// Why no dataset could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("no version could be read some seconds ago, since all were damaged")]
    StillDamaged,
    #[error("the snapshot {version} is damaged")]
    Damaged { version: Version, source: DamagedSnapshot },
}

impl DatasetError {
    /// Whether the snapshot itself is damaged, so that reading it again is useless.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Store(StoreError::Snapshot { .. }))
    }
}

/// Reads and unpacks a snapshot.
///
/// # Errors
/// Returns an error if the snapshot cannot be read as a whole, or is damaged.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes)
        .map_err(|source| DatasetError::Damaged { version: snapshot.version.clone(), source })
}
