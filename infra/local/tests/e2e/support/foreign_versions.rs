//! Versions in layouts that this release does not read.

use jiff::Timestamp;
use numbering::{dataset::LAYOUT, records::Version};
use store::{Manifest, Snapshot, Store};

/// The layouts of an earlier release and of a later one.
pub const FOREIGN_LAYOUTS: [u8; 2] = [LAYOUT - 1, LAYOUT + 1];

/// Whether the release that publishes a version states its layout in the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    Stated,
    Unstated,
}

/// Publishes the current data once more, in this layout, and gives its snapshot.
pub async fn publish_in_layout(store: &Store, layout: u8, statement: Statement) -> Snapshot {
    let replaced = store.manifest().await.unwrap().unwrap();
    let mut bytes = store.snapshot(&replaced.current).await.unwrap();
    bytes[0] = layout;
    let Snapshot { statistics, file_dates, ingested_at, .. } = replaced.current.clone();
    let version = Version::new(Timestamp::now());
    let mut snapshot = Snapshot::of(version, &bytes, statistics, file_dates, ingested_at);
    if statement == Statement::Unstated {
        snapshot.layout = None;
    }
    let manifest = Manifest::following(Some(&replaced), snapshot.clone(), |_| false);
    store.write_snapshot(&snapshot.version, &bytes, &replaced.revision).await.unwrap();
    store.publish(&manifest, &replaced.revision).await.unwrap();
    snapshot
}
