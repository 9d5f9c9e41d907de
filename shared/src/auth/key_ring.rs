//! The keys that were looked up lately.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use logging::with_causes;
use moka::future::Cache;
use store::{KeyRecord, Store, StoreError};

use super::api_key::ApiKey;
use crate::errors::ApiError;

const INVALID: &str = "Invalid API key";

/// How long a key is believed without asking again; a revoked one stops working within it.
const BELIEVED_FOR: Duration = Duration::from_secs(60);
/// How long a key that was live is believed while its table does not answer, so that lists and
/// lookups from memory outlast a failure of DynamoDB.
const BELIEVED_IN_AN_OUTAGE_FOR: Duration = Duration::from_secs(15 * 60);
/// How long a well-formed key that is not in the table is refused without asking again. The checksum
/// is public, so anybody can make such keys; one that is created works as soon.
const REFUSED_FOR: Duration = Duration::from_secs(10);
const MOST_KEYS_IN_MEMORY: u64 = 10_000;

fn remembering_for<V: Clone + Send + Sync + 'static>(time: Duration) -> Cache<String, V> {
    Cache::builder().max_capacity(MOST_KEYS_IN_MEMORY).time_to_live(time).build()
}

/// The keys that were looked up lately.
pub struct KeyRing {
    store: Store,
    /// What a key is taken for without a read.
    known: Cache<String, KeyRecord>,
    /// What the table last said of a key.
    read: Cache<String, KeyRecord>,
    /// Keys that the table did not have a moment ago.
    unknown: Cache<String, ()>,
}

#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("no such key")]
    Unknown,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KeyRing {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            known: remembering_for(BELIEVED_FOR),
            read: remembering_for(BELIEVED_IN_AN_OUTAGE_FOR),
            unknown: remembering_for(REFUSED_FOR),
        }
    }

    /// Checks the key a client sent: its form, then its record, read once a minute at most.
    pub(crate) async fn admit(&self, key: &str) -> Result<KeyRecord, ApiError> {
        let key: ApiKey = key.parse().map_err(|_| ApiError::Unauthorized(INVALID))?;
        let hash = key.hash();
        if self.unknown.contains_key(&hash) {
            return Err(ApiError::Unauthorized(INVALID));
        }
        let record = self.known.try_get_with_by_ref(&hash, self.look_up(&hash)).await;
        match record.as_ref().map_err(Arc::as_ref) {
            Ok(record) if record.is_live(Timestamp::now()) => Ok(record.clone()),
            Ok(_) | Err(Refusal::Unknown) => Err(ApiError::Unauthorized(INVALID)),
            Err(Refusal::Store(error)) => {
                tracing::error!(error = with_causes(error), "a key cannot be checked");
                Err(ApiError::Unavailable)
            }
        }
    }

    async fn look_up(&self, hash: &str) -> Result<KeyRecord, Refusal> {
        match (self.store.api_key(hash).await, self.read.get(hash).await) {
            (Ok(Some(record)), _) => {
                self.read.insert(hash.to_owned(), record.clone()).await;
                Ok(record)
            }
            (Ok(None), _) => {
                self.read.invalidate(hash).await;
                self.unknown.insert(hash.to_owned(), ()).await;
                Err(Refusal::Unknown)
            }
            (Err(error), Some(record)) => {
                tracing::error!(
                    error = with_causes(&error),
                    key = record.prefix,
                    "a key is believed unchecked"
                );
                Ok(record)
            }
            (Err(error), None) => Err(error.into()),
        }
    }
}
