//! DynamoDB: lookup items, snapshots, the manifest, the current version, countries, the history, API keys, and usage.
//!
//! This crate is independent of HTTP. `template.yaml` defines the tables.

mod api_keys;
mod batches;
mod call_spans;
mod checksum;
mod client;
mod countries;
mod current;
mod error;
mod history;
mod history_cache;
mod history_items;
mod imported_reports;
mod lookup_items;
mod manifest;
mod metering;
mod reachability;
mod snapshots;
mod tables;
mod timeouts;
mod usage;

pub use api_keys::{DamagedKey, KeyRecord, StoredKeys};
pub use batches::{ItemWrite, WRITES_PER_BATCH};
pub use client::{
    READS_PER_BATCH, Store, TrustedRoots, credentials_from_env, https_client, https_connector,
    is_plain_http,
};
pub use countries::{Countries, CountryData, LoadedCountry};
pub use current::{CurrentDataset, ServedVersion};
pub use error::{Cause, StoreError};
pub use history::{Gap, History, Publication, PublishedDifference, UnrecordedPublication};
pub use history_cache::HistoryCache;
pub use imported_reports::{
    FileDates, ImportedReport, ImportedReports, ReportDescription, ReportName, SAMPLE_DATE,
};
pub use lookup_items::{ItemKey, LookupItem, StoredItem};
pub use manifest::{CHUNK_BYTES, Manifest, Piece, Revision, Snapshot};
pub use metering::{Consumption, count_wait, measure_reads};
pub use reachability::FailureKind;
pub use snapshots::{
    DatasetError, LoadedVersion, NewestVersion, SkippedVersion, first_readable, load, load_newest,
};
pub use tables::{Table, Tables};
pub use timeouts::TimeoutProfile;
pub use usage::{Counts, Usage, UsageWrite};
