//! DynamoDB: lookup items, snapshots, the manifest and the current version, keys and their usage.
//!
//! This crate is independent of HTTP. The tables themselves are defined in `template.yaml`.

mod api_keys;
mod batch_get;
mod client;
mod current;
mod error;
mod https;
mod item_check;
mod item_writes;
mod loading;
mod lookup_items;
mod manifest;
mod metering;
mod reachability;
mod snapshots;
mod table_scan;
mod tables;
mod timeouts;
mod usage;

pub use api_keys::{DamagedKey, KeyRecord, StoredKeys};
pub use batch_get::READS_PER_BATCH;
pub use client::{Store, is_plain_http};
pub use current::{CurrentDataset, Serving};
pub use error::{StoreError, UnreadableSnapshot};
pub use https::{TrustedRoots, https_client};
pub use item_writes::{ItemWrite, WRITES_PER_BATCH};
pub use loading::{DatasetError, LoadedVersion, Newest, PassedOver, load, load_newest, newest_by};
pub use lookup_items::{ItemKey, LookupItem, LookupTable};
pub use manifest::{CHUNK_BYTES, FileDates, Manifest, Revision, SAMPLE_DATE, Snapshot};
pub use metering::{Consumption, counted as counted_wait, metered};
pub use reachability::{FailureKind, Table};
pub use table_scan::StoredItem;
pub use tables::Tables;
pub use timeouts::TimeoutProfile;
pub use usage::{HourOfUsage, Tally};
