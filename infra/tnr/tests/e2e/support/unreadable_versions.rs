//! Makes versions unreadable in every possible way.

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use jiff::Timestamp;
use numbering::records::{LAYOUT, Version};
use store::{Manifest, Snapshot, Store};

/// The reason a version is unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    MissingChunk,
    FlippedBit,
    NoBytes,
    OtherLayout,
}

impl Reason {
    pub const ALL: [Self; 4] =
        [Self::MissingChunk, Self::FlippedBit, Self::NoBytes, Self::OtherLayout];

    /// Text that messages contain.
    pub fn text(self) -> &'static str {
        match self {
            Self::MissingChunk | Self::NoBytes => "#0000 is missing",
            Self::FlippedBit => "its hash is ",
            Self::OtherLayout => "its layout is ",
        }
    }
}

/// Publishes the current data again as an unreadable version, and returns its snapshot.
pub async fn publish_unreadable(store: &Store, reason: Reason) -> Snapshot {
    let replaced = store.manifest().await.unwrap().unwrap();
    let mut bytes = store.snapshot(&replaced.current).await.unwrap();
    if reason == Reason::OtherLayout {
        bytes[0] = LAYOUT + 1;
    }
    let Snapshot { statistics, reports, ingested_at, .. } = replaced.current.clone();
    let version = Version::new(Timestamp::now());
    let snapshot = Snapshot::new(version, &bytes, statistics, reports, ingested_at);
    let manifest = Manifest::new(Some(&replaced), snapshot.clone(), |_| false);
    store.write_snapshot(&snapshot.version, &bytes, &replaced.revision).await.unwrap();
    store.publish(&manifest, &replaced.revision).await.unwrap();
    if reason != Reason::OtherLayout {
        make_unreadable(store, &snapshot, reason).await;
    }
    snapshot
}

pub async fn make_unreadable(store: &Store, snapshot: &Snapshot, reason: Reason) {
    let (client, tables) = store.parts();
    let id = AttributeValue::S(format!("{}#0000", snapshot.version));
    let put = client.put_item().table_name(&tables.dataset).item("id", id.clone());
    match reason {
        Reason::FlippedBit => {
            let mut bytes = store.snapshot(snapshot).await.unwrap();
            bytes.truncate(store::CHUNK_BYTES);
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            let put = put.item("data", AttributeValue::B(Blob::new(bytes)));
            put.send().await.unwrap();
        }
        Reason::NoBytes => {
            let put = put.item("data", AttributeValue::S("not bytes".to_owned()));
            put.send().await.unwrap();
        }
        Reason::MissingChunk | Reason::OtherLayout => {
            let delete = client.delete_item().table_name(&tables.dataset).key("id", id);
            delete.send().await.unwrap();
        }
    }
}
