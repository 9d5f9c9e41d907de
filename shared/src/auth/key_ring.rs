//! Validates keys, and caches recent results.

use std::time::Duration;

use jiff::Timestamp;
use logging::with_causes;
use moka::future::Cache;
use store::{KeyRecord, Store, StoreError, Table, counted_wait};

use super::api_key::{ApiKey, MalformedKey};
use crate::errors::ApiError;

/// Lifetime of a cached key record. A revoked key stops working within this time.
const RECORD_CACHE_TIME: Duration = Duration::from_secs(60);
/// Lifetime of a cached key record while the key table is down, so that lists and lookups from memory keep
/// working.
const OUTAGE_CACHE_TIME: Duration = Duration::from_secs(15 * 60);
/// Time for which an unknown key is refused without another read. The checksum is public, so anyone can make such
/// keys. A new key starts to work within this time.
const UNKNOWN_KEY_CACHE_TIME: Duration = Duration::from_secs(10);
const CACHE_SIZE: u64 = 10_000;
/// A hash that no key has, used to find out whether the table answers.
const MISSING_HASH: &str = "none";

/// Recently checked keys.
pub struct KeyRing {
    store: Store,
    /// Records used without another read, by key hash.
    records: Cache<String, KeyRecord>,
    /// The last record read for each key, for table outages.
    outage_records: Cache<String, KeyRecord>,
    /// Hashes of keys recently found to have no record.
    unknown: Cache<String, ()>,
}

impl KeyRing {
    /// Creates a key ring that reads from `store`.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            records: cache(RECORD_CACHE_TIME),
            outage_records: cache(OUTAGE_CACHE_TIME),
            unknown: cache(UNKNOWN_KEY_CACHE_TIME),
        }
    }

    /// Validates a key's form, then its record, which is read at most once a minute.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidKey`] if the key is not live, and [`ApiError::KeyUnchecked`]
    /// if its record cannot be read.
    pub(crate) async fn admit(&self, key: &str) -> Result<KeyRecord, ApiError> {
        let hash = match key.parse::<ApiKey>() {
            Ok(key) => key.hash(),
            Err(MalformedKey) => return Err(ApiError::InvalidKey),
        };
        if self.unknown.contains_key(&hash) {
            return Err(ApiError::InvalidKey);
        }
        // Concurrent requests with the same key share this read.
        let record = self.records.try_get_with_by_ref(&hash, self.look_up(&hash));
        match counted_wait(record).await {
            Ok(record) if record.is_live(Timestamp::now()) => Ok(record),
            Err(error) if matches!(*error, ApiError::KeyUnchecked) => Err(ApiError::KeyUnchecked),
            _ => Err(ApiError::InvalidKey),
        }
    }

    /// Returns `true` if keys can be checked: a live one is in memory, or the key table answers.
    pub async fn is_usable(&self) -> Result<(), StoreError> {
        let now = Timestamp::now();
        if self.outage_records.iter().any(|(_, record)| record.is_live(now)) {
            return Ok(());
        }
        let read = self.store.api_key(MISSING_HASH);
        self.store.patiently(Table::ApiKeys, read).await.map(drop)
    }

    async fn look_up(&self, hash: &str) -> Result<KeyRecord, ApiError> {
        let believed = self.outage_records.get(hash).await;
        let read = self.store.api_key(hash);
        let answer = if believed.is_some() {
            self.store.briefly(Table::ApiKeys, read).await
        } else {
            self.store.patiently(Table::ApiKeys, read).await
        };
        match (answer, believed) {
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
                if !error.is_left_alone() {
                    tracing::warn!(
                        error = with_causes(&error),
                        key = record.prefix,
                        "a key cannot be checked; using its last record"
                    );
                }
                Ok(record)
            }
            // A retry does not help the client; only another key does.
            (Err(error @ StoreError::Item { .. }), None) => {
                tracing::error!(error = with_causes(&error), "a key is damaged and is refused");
                self.unknown.insert(hash.to_owned(), ()).await;
                Err(ApiError::InvalidKey)
            }
            (Err(error), None) => {
                tracing::error!(error = with_causes(&error), "a key cannot be checked");
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
    use crate::auth::record_of;

    const KEY: &str = "tnr_live_SampleKeyForTheEventsAndTheTests2eIfJn";

    fn record(revoked_at: Option<Timestamp>) -> KeyRecord {
        let key_hash = KEY.parse::<ApiKey>().unwrap().hash();
        KeyRecord { revoked_at, ..record_of(&key_hash) }
    }

    /// A database that accepts connections and never answers.
    async fn hanging() -> (TcpListener, KeyRing) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        (listener, KeyRing::new(Store::at_emulator(&endpoint, TimeoutProfile::Request)))
    }

    /// Connections made to the database.
    async fn connections(listener: &TcpListener) -> usize {
        let mut count = 0;
        let wait = Duration::from_millis(50);
        while tokio::time::timeout(wait, listener.accept()).await.is_ok() {
            count += 1;
        }
        count
    }

    #[tokio::test]
    async fn a_deleted_key_is_not_revived_by_an_outage() {
        let (listener, keys) = hanging().await;
        let live = record(None);
        keys.outage_records.insert(live.key_hash.clone(), live.clone()).await;
        // DynamoDB's answer if the item does not exist.
        tokio::spawn(axum::serve(listener, Router::new().fallback(async || "{}")).into_future());
        assert!(matches!(keys.admit(KEY).await, Err(ApiError::InvalidKey)));
        assert!(!keys.outage_records.contains_key(&live.key_hash));
    }

    #[tokio::test]
    async fn a_live_key_is_admitted_while_the_database_hangs() {
        let (listener, keys) = hanging().await;
        let live = record(None);
        keys.outage_records.insert(live.key_hash.clone(), live.clone()).await;
        let admitted = join_all((0..50).map(|_| keys.admit(KEY))).await;
        assert!(admitted.into_iter().all(|admitted| admitted.unwrap() == live));
        assert_eq!(connections(&listener).await, 1, "one read for all of them");

        keys.records.invalidate_all();
        assert_eq!(keys.admit(KEY).await.unwrap(), live);
        assert_eq!(connections(&listener).await, 0, "the table is left alone");
    }

    #[tokio::test]
    async fn revoked_expired_and_unknown_keys_are_refused_during_an_outage() {
        let (_listener, keys) = hanging().await;
        assert!(matches!(keys.admit(KEY).await, Err(ApiError::KeyUnchecked)));
        let past = Some(Timestamp::UNIX_EPOCH);
        let expired = KeyRecord { expires_at: past, ..record(None) };
        for ended in [record(past), expired] {
            keys.outage_records.insert(ended.key_hash.clone(), ended).await;
            assert!(matches!(keys.admit(KEY).await, Err(ApiError::InvalidKey)));
            keys.records.invalidate_all();
        }
    }
}
