//! Loads a version of the data into memory.

use std::sync::Arc;

use numbering::{
    dataset::{DamagedSnapshot, Dataset, LAYOUT},
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
    #[error("no version could be read some seconds ago")]
    StillUnreadable,
    #[error("the snapshot {version} is damaged")]
    Damaged { version: Version, source: DamagedSnapshot },
    /// The snapshot is whole, and a release that reads its layout answers from it.
    #[error(
        "the snapshot {version} has the layout {layout}, and this release reads {LAYOUT}; \
         use the release that made it, or import with this one"
    )]
    Foreign { version: Version, layout: u8 },
}

impl DatasetError {
    /// Whether the snapshot itself is damaged, so that no release can read it.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Store(StoreError::Snapshot { .. }))
    }

    /// Whether the snapshot has another layout than this release reads.
    pub fn is_foreign(&self) -> bool {
        matches!(self, Self::Foreign { .. })
    }

    /// Whether it is useless that this release reads the snapshot again.
    pub fn is_unreadable(&self) -> bool {
        self.is_damage() || self.is_foreign()
    }
}

/// Reads and unpacks a snapshot. The chunks of one that is foreign by its manifest are not read.
///
/// # Errors
/// Returns an error if the snapshot cannot be read as a whole, is damaged or is foreign.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let version = || snapshot.version.clone();
    if let Some(layout) = snapshot.foreign_layout() {
        return Err(DatasetError::Foreign { version: version(), layout });
    }
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes).map_err(|source| match source {
        DamagedSnapshot::Layout(layout) => DatasetError::Foreign { version: version(), layout },
        source => DatasetError::Damaged { version: version(), source },
    })
}
