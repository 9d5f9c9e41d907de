//! Two releases of the service on one database, each of which reads its own layout of snapshots.

use numbering::dataset::LAYOUT;
use store::{Manifest, Store, TimeoutProfile};

use crate::support::other_release::{OTHER_LAYOUT, endpoint_of_other_release};

/// A release of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    This,
    Other,
}

impl Release {
    pub const ALL: [Self; 2] = [Self::This, Self::Other];

    /// The layout that it writes and reads, as this release finds it in the database.
    pub fn layout(self) -> u8 {
        match self {
            Self::This => LAYOUT,
            Self::Other => OTHER_LAYOUT,
        }
    }

    /// Whether the manifest, as this release finds it, names a version that the release reads.
    pub fn has_version_in(self, manifest: &Manifest) -> bool {
        manifest.snapshots().any(|snapshot| snapshot.layout == Some(self.layout()))
    }
}

/// The stores of the two releases.
#[derive(Clone)]
pub struct Stores {
    this: Store,
    other: Store,
}

impl Stores {
    /// Both at `endpoint`.
    pub async fn at(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        let endpoint_of_other = endpoint_of_other_release(endpoint).await;
        Self {
            this: Store::at_emulator(endpoint, timeouts),
            other: Store::at_emulator(&endpoint_of_other, timeouts),
        }
    }

    pub fn of(&self, release: Release) -> &Store {
        match release {
            Release::This => &self.this,
            Release::Other => &self.other,
        }
    }
}
