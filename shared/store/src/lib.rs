//! DynamoDB: lookup items, snapshots, the manifest and the current version, keys and their usage.
//!
//! This crate knows nothing of HTTP. The tables themselves are defined in `template.yaml`.

mod api_keys;
mod breaker;
mod capacity;
mod client;
mod current;
mod error;
mod failed_calls;
mod https;
mod item_check;
mod item_writes;
mod loaded_versions;
mod loading;
mod lookup_batches;
mod lookup_items;
mod manifest;
mod quality;
mod reachability;
mod snapshots;
mod table_scan;
mod tables;
mod timeouts;
mod usage;
mod waiting;

pub use api_keys::{DamagedKey, KeyRecord, StoredKeys};
pub use capacity::{Consumption, metered};
pub use client::{Store, is_plain_http};
pub use current::{CurrentDataset, Serving};
pub use error::{DamagedChunks, StoreError};
pub use failed_calls::FailureKind;
pub use https::{TrustedRoots, https_client};
pub use item_writes::{ItemWrite, WRITES_PER_BATCH};
pub use loading::{
    DatasetError, LoadedVersion, Newest, PassedOver, UnreadableSnapshot, load, load_newest,
    newest_by,
};
pub use lookup_batches::READS_PER_BATCH;
pub use lookup_items::{ItemKey, LookupItem, LookupTable};
pub use manifest::{CHUNK_BYTES, FileDates, Manifest, Revision, SAMPLE_DATE, Snapshot};
pub use reachability::Table;
pub use table_scan::StoredItem;
pub use tables::Tables;
pub use timeouts::TimeoutProfile;
pub use usage::{HourOfUsage, Tally};
pub use waiting::counted as counted_wait;
