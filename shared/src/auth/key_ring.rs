//! Validates keys, and caches their records.

use std::time::Duration;

use futures_util::FutureExt;
use jiff::Timestamp;
use logging::with_causes;
use moka::future::Cache;
use store::{KeyRecord, Store, StoreError, Table, count_wait};

use super::api_key::{ApiKey, MalformedKey};
use crate::errors::ApiError;

/// The lifetime of cached records. A revoked key stops working within this time.
const RECORD_CACHE_TTL: Duration = Duration::from_secs(60);
/// The lifetime of records that are used while the key table is down.
const OUTAGE_CACHE_TTL: Duration = Duration::from_mins(15);
/// The period during which an unknown key is rejected without another read. A new key starts working within it.
const UNKNOWN_KEY_CACHE_TTL: Duration = Duration::from_secs(10);
const CACHE_SIZE: u64 = 10_000;
/// A hash that no key has, for checking whether the table responds.
const NONEXISTENT_KEY_HASH: &str = "none";

pub struct KeyRing {
    store: Store,
    /// By key hash, like the other caches.
    records: Cache<String, KeyRecord>,
    /// Used only while the table is down.
    outage_records: Cache<String, KeyRecord>,
    /// Recently requested keys without a record.
    unknown: Cache<String, ()>,
    /// Non-empty if the table responded recently.
    responses: Cache<String, ()>,
}

impl KeyRing {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            records: cache(RECORD_CACHE_TTL),
            outage_records: cache(OUTAGE_CACHE_TTL),
            unknown: cache(UNKNOWN_KEY_CACHE_TTL),
            responses: cache(RECORD_CACHE_TTL),
        }
    }

    /// Validates a key, and returns its record, which is read at most once a minute.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidKey`] if the key is not live, and [`ApiError::KeyUnchecked`] if its record cannot
    /// be read.
    pub(crate) async fn validate(&self, key: &str) -> Result<KeyRecord, ApiError> {
        let hash = match key.parse::<ApiKey>() {
            Ok(key) => key.hash(),
            Err(MalformedKey) => return Err(ApiError::InvalidKey),
        };
        if self.unknown.contains_key(&hash) {
            return Err(ApiError::InvalidKey);
        }
        let record = match self.records.get(&hash).await {
            Some(record) => record,
            // Boxed, because every request would otherwise move the large future of a read.
            None => self.read(&hash).boxed().await?,
        };
        if record.is_live(Timestamp::now()) { Ok(record) } else { Err(ApiError::InvalidKey) }
    }

    /// Reads and caches a record. Concurrent requests with the same key share one read.
    async fn read(&self, hash: &str) -> Result<KeyRecord, ApiError> {
        let record = self.records.try_get_with_by_ref(hash, self.look_up(hash));
        count_wait(record).await.map_err(|error| match *error {
            ApiError::KeyUnchecked => ApiError::KeyUnchecked,
            _ => ApiError::InvalidKey,
        })
    }

    /// Caches a key's record as if it had been read; `None` for an unknown key.
    #[cfg(test)]
    pub(crate) async fn record_read(&self, key: &ApiKey, record: Option<KeyRecord>) {
        match record {
            Some(record) => self.records.insert(key.hash(), record).await,
            None => self.unknown.insert(key.hash(), ()).await,
        }
    }

    /// Returns an error if keys cannot be validated: no records are cached, and the key table is not responding.
    pub async fn check_usable(&self) -> Result<(), StoreError> {
        let now = Timestamp::now();
        if self.outage_records.iter().any(|(_, record)| record.is_live(now)) {
            return Ok(());
        }
        self.read_missing_record().await
    }

    /// Returns `true` if the key table is responding. Reads the table at most once a minute while it responds.
    pub async fn is_table_responding(&self) -> bool {
        let read =
            self.responses.try_get_with_by_ref(NONEXISTENT_KEY_HASH, self.read_missing_record());
        let result = read.await;
        if let Err(error) = &result {
            tracing::warn!(error = with_causes(error), "the key table is not responding");
        }
        result.is_ok()
    }

    async fn read_missing_record(&self) -> Result<(), StoreError> {
        let read = self.store.api_key(NONEXISTENT_KEY_HASH);
        self.store.read_patiently(Table::ApiKeys, read).await.map(drop)
    }

    async fn look_up(&self, hash: &str) -> Result<KeyRecord, ApiError> {
        let last_record = self.outage_records.get(hash).await;
        let read = self.store.api_key(hash);
        let result = if last_record.is_some() {
            self.store.read_briefly(Table::ApiKeys, read).await
        } else {
            self.store.read_patiently(Table::ApiKeys, read).await
        };
        match (result, last_record) {
            (Ok(Some(record)), _) => {
                self.outage_records.insert(hash.to_owned(), record.clone()).await;
                Ok(record)
            }
            (Ok(None), _) => {
                self.outage_records.invalidate(hash).await;
                self.unknown.insert(hash.to_owned(), ()).await;
                Err(ApiError::InvalidKey)
            }
            (Err(error), Some(record)) => {
                tracing::warn!(
                    error = with_causes(&error),
                    key = record.prefix,
                    "failed to validate a key; using its last known record"
                );
                Ok(record)
            }
            // The client needs a new key, so a retry would not help.
            (Err(error @ StoreError::Item { .. }), None) => {
                tracing::error!(
                    error = with_causes(&error),
                    "a key record is damaged; rejecting the key"
                );
                self.unknown.insert(hash.to_owned(), ()).await;
                Err(ApiError::InvalidKey)
            }
            (Err(error), None) => {
                tracing::error!(error = with_causes(&error), "failed to validate a key");
                Err(ApiError::KeyUnchecked)
            }
        }
    }
}

fn cache<V: Clone + Send + Sync + 'static>(time_to_live: Duration) -> Cache<String, V> {
    Cache::builder().max_capacity(CACHE_SIZE).time_to_live(time_to_live).build()
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use axum::Router;
    use futures_util::future::join_all;
    use store::TimeoutProfile;
    use tokio::net::TcpListener;

    use super::*;
    use crate::auth::key_record;

    const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

    fn record(revoked_at: Option<Timestamp>) -> KeyRecord {
        let key_hash = KEY.parse::<ApiKey>().unwrap().hash();
        KeyRecord { revoked_at, ..key_record(&key_hash) }
    }

    /// Keys in a database that accepts connections but never responds.
    async fn keys_with_hanging_database() -> (TcpListener, KeyRing) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        (listener, KeyRing::new(Store::connect_to_emulator(&endpoint, TimeoutProfile::Request)))
    }

    async fn count_connections(listener: &TcpListener) -> usize {
        let mut count = 0;
        let wait = Duration::from_millis(50);
        while tokio::time::timeout(wait, listener.accept()).await.is_ok() {
            count += 1;
        }
        count
    }

    #[tokio::test]
    async fn deleted_key_is_evicted_from_outage_records() {
        let (listener, keys) = keys_with_hanging_database().await;
        let live = record(None);
        keys.outage_records.insert(live.key_hash.clone(), live.clone()).await;
        // DynamoDB's response for a missing item.
        tokio::spawn(axum::serve(listener, Router::new().fallback(async || "{}")).into_future());
        assert!(matches!(keys.validate(KEY).await, Err(ApiError::InvalidKey)));
        assert!(!keys.outage_records.contains_key(&live.key_hash));
    }

    #[tokio::test]
    async fn a_live_key_is_admitted_while_the_database_hangs() {
        let (listener, keys) = keys_with_hanging_database().await;
        let live = record(None);
        keys.outage_records.insert(live.key_hash.clone(), live.clone()).await;
        let admitted = join_all((0..50).map(|_| keys.validate(KEY))).await;
        assert!(admitted.into_iter().all(|admitted| admitted.unwrap() == live));
        assert_eq!(count_connections(&listener).await, 1, "all share one read");

        keys.records.invalidate_all();
        assert_eq!(keys.validate(KEY).await.unwrap(), live);
        assert_eq!(count_connections(&listener).await, 0, "the breaker is open");
    }

    #[tokio::test]
    async fn revoked_expired_and_unknown_keys_are_rejected_during_an_outage() {
        let (_listener, keys) = keys_with_hanging_database().await;
        assert!(matches!(keys.validate(KEY).await, Err(ApiError::KeyUnchecked)));
        let past = Some(Timestamp::UNIX_EPOCH);
        let expired = KeyRecord { expires_at: past, ..record(None) };
        for invalid in [record(past), expired] {
            keys.outage_records.insert(invalid.key_hash.clone(), invalid).await;
            assert!(matches!(keys.validate(KEY).await, Err(ApiError::InvalidKey)));
            keys.records.invalidate_all();
        }
    }
}
