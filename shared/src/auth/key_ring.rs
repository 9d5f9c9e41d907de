//! Checks keys, and caches those that were checked recently.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use logging::with_causes;
use moka::future::Cache;
use store::{KeyRecord, Store, StoreError};

use super::api_key::{ApiKey, MalformedKey};
use crate::errors::ApiError;

/// How long the record of a key is used without another read. A key that is revoked stops working
/// within this time.
const RECORD_CACHE_TIME: Duration = Duration::from_secs(60);
/// How long the record of a key is used while the table of keys does not answer, so that lists and
/// lookups from memory go on working.
const OUTAGE_CACHE_TIME: Duration = Duration::from_secs(15 * 60);
/// How long a well-formed key without a record is refused without another read. Anybody can make
/// such keys, since the checksum is public. A key that is created starts to work within this time.
const UNKNOWN_KEY_CACHE_TIME: Duration = Duration::from_secs(10);
const CACHE_SIZE: u64 = 10_000;

/// Checks keys, and caches those that were checked recently.
pub struct KeyRing {
    store: Store,
    /// The records that are used without another read, by the hash of their key.
    records: Cache<String, KeyRecord>,
    /// The last record that was read of each key, for an outage of the table.
    outage_records: Cache<String, KeyRecord>,
    /// The hashes of keys that recently had no record.
    unknown: Cache<String, ()>,
}

/// Why a key has no record.
#[derive(Debug, thiserror::Error)]
enum LookupError {
    #[error("no such key")]
    Unknown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KeyRing {
    /// A key ring that reads records from `store`.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            records: cache(RECORD_CACHE_TIME),
            outage_records: cache(OUTAGE_CACHE_TIME),
            unknown: cache(UNKNOWN_KEY_CACHE_TIME),
        }
    }

    /// Checks the form of a key, then its record, which is read once a minute at most.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidKey`] if the key is not live, and [`ApiError::Unavailable`] if
    /// its record cannot be read.
    pub(crate) async fn admit(&self, key: &str) -> Result<KeyRecord, ApiError> {
        let hash = match key.parse::<ApiKey>() {
            Ok(key) => key.hash(),
            Err(MalformedKey) => return Err(ApiError::InvalidKey),
        };
        if self.unknown.contains_key(&hash) {
            return Err(ApiError::InvalidKey);
        }
        let record = self.records.try_get_with_by_ref(&hash, self.look_up(&hash)).await;
        match record.as_ref().map_err(Arc::as_ref) {
            Ok(record) if record.is_live(Timestamp::now()) => Ok(record.clone()),
            Ok(_) | Err(LookupError::Unknown) => Err(ApiError::InvalidKey),
            Err(LookupError::Store(error)) => {
                tracing::error!(error = with_causes(error), "a key cannot be checked");
                Err(ApiError::Unavailable)
            }
        }
    }

    async fn look_up(&self, hash: &str) -> Result<KeyRecord, LookupError> {
        let error = match self.store.api_key(hash).await {
            Ok(Some(record)) => {
                self.outage_records.insert(hash.to_owned(), record.clone()).await;
                return Ok(record);
            }
            Ok(None) => {
                self.outage_records.invalidate(hash).await;
                self.unknown.insert(hash.to_owned(), ()).await;
                return Err(LookupError::Unknown);
            }
            Err(error) => error,
        };
        let Some(record) = self.outage_records.get(hash).await else { return Err(error.into()) };
        tracing::warn!(
            error = with_causes(&error),
            key = record.prefix,
            "a key cannot be checked; using its last record"
        );
        Ok(record)
    }
}

fn cache<V: Clone + Send + Sync + 'static>(time_to_live: Duration) -> Cache<String, V> {
    Cache::builder().max_capacity(CACHE_SIZE).time_to_live(time_to_live).build()
}
