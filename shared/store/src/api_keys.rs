//! Stored API keys. A record contains the key's hash, and a prefix that operators recognize, but never the key.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Store, StoreError, Table,
    checksum::{self, CHECKSUM, Item, text},
    client::{item_from_record, record_from_item},
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeyRecord {
    /// SHA-256 of the key in hex; the item's partition key.
    pub key_hash: String,
    /// The first characters of the key, by which operators recognize it.
    pub prefix: String,
    /// The client that uses the key.
    pub name: String,
    #[serde(default)]
    pub note: Option<String>,
    pub created_at: Timestamp,
    /// `None` if it never expires.
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// The maximum number of requests in any minute; `None` if unlimited.
    #[serde(default)]
    pub per_minute: Option<u32>,
    /// The maximum number of requests in any 24 hours; `None` if unlimited.
    #[serde(default)]
    pub per_day: Option<u32>,
    /// The id of the key's quota, if it is not the key's own hash. A replacement key shares the quota of the key it
    /// replaces.
    #[serde(default)]
    pub quota_id: Option<String>,
}

#[derive(Debug)]
pub struct StoredKeys {
    /// Oldest first, then by name.
    pub readable: Vec<KeyRecord>,
    /// Keys with unreadable items. Requests with these keys are rejected.
    pub damaged: Vec<DamagedKey>,
}

#[derive(Debug)]
pub struct DamagedKey {
    pub key_hash: String,
    /// The prefix, or the hash if the prefix is also unreadable.
    pub name: String,
}

impl DamagedKey {
    fn from_item(item: &Item) -> Self {
        let key_hash = text(item, "key_hash").unwrap_or_default();
        let name = text(item, "prefix").unwrap_or(key_hash);
        Self { key_hash: key_hash.to_owned(), name: name.to_owned() }
    }
}

impl KeyRecord {
    /// The record of a key that never expires and has no quotas.
    pub fn new(key_hash: String, prefix: &str, name: &str, created_at: Timestamp) -> Self {
        Self {
            key_hash,
            prefix: prefix.to_owned(),
            name: name.to_owned(),
            note: None,
            created_at,
            expires_at: None,
            revoked_at: None,
            per_minute: None,
            per_day: None,
            quota_id: None,
        }
    }

    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }

    /// The id of the quota that the key's requests count against.
    pub fn quota_id(&self) -> &str {
        self.quota_id.as_deref().unwrap_or(&self.key_hash)
    }
}

impl Store {
    pub async fn api_key(&self, key_hash: &str) -> Result<Option<KeyRecord>, StoreError> {
        self.get(Table::ApiKeys, key_hash.to_owned(), true).await
    }

    pub async fn put_api_key(&self, key: &KeyRecord) -> Result<(), StoreError> {
        let item = item_from_record(self.tables.name(Table::ApiKeys), None, key)?;
        self.put(Table::ApiKeys, item).await
    }

    /// Reads all keys, including revoked, expired and unreadable ones. Requests must not call this, since it scans the
    /// table.
    pub async fn all_api_keys(&self) -> Result<StoredKeys, StoreError> {
        let table = self.tables.name(Table::ApiKeys);
        let (mut readable, mut damaged) = (Vec::new(), Vec::new());
        let inspect = |item| {
            let fallback = DamagedKey::from_item(&item);
            match record_from_item::<KeyRecord>(table, item) {
                Ok(key) => readable.push(key),
                Err(_) => damaged.push(fallback),
            }
            Ok(())
        };
        self.scan(Table::ApiKeys, inspect).await?;
        readable.sort_by(|a, b| (a.created_at, &a.name).cmp(&(b.created_at, &b.name)));
        Ok(StoredKeys { readable, damaged })
    }

    /// Makes a key expire at `end`, unless it expires earlier. Returns whether its record changed.
    pub async fn expire_api_key(&self, key_hash: &str, end: Timestamp) -> Result<bool, StoreError> {
        self.set_earlier_time(key_hash, end, |key| &mut key.expires_at).await
    }

    /// Revokes a key, unless it is already revoked. Returns whether its record changed. The API rejects the key
    /// once cached records have expired.
    pub async fn revoke_api_key(&self, key_hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.set_earlier_time(key_hash, now, |key| &mut key.revoked_at).await
    }

    pub async fn delete_api_key(&self, key_hash: &str) -> Result<(), StoreError> {
        self.delete(Table::ApiKeys, key_hash).await
    }

    /// Sets a time unless an earlier one is set. Replaces the item only if it has not changed since it was
    /// read, so concurrent commands can only make a key end earlier.
    async fn set_earlier_time(
        &self,
        key_hash: &str,
        time: Timestamp,
        field: fn(&mut KeyRecord) -> &mut Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let table = self.tables.name(Table::ApiKeys);
        loop {
            let found = self.api_key(key_hash).await?;
            let before = found.ok_or_else(|| StoreError::NoKey(key_hash.to_owned()))?;
            let mut after = before.clone();
            let current = field(&mut after);
            if current.is_some_and(|current| current <= time) {
                return Ok(false);
            }
            *current = Some(time);
            let checksum = checksum::compute(&item_from_record(table, None, &before)?);
            let item = item_from_record(table, None, &after)?;
            // If another command changed the key, read it again.
            if self.replace_if_unchanged(Table::ApiKeys, item, CHECKSUM, Some(checksum)).await? {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_live_until_it_expires_unless_it_is_revoked() {
        let end = Timestamp::UNIX_EPOCH;
        let second = jiff::SignedDuration::from_secs(1);
        let key = KeyRecord::new(String::new(), "", "", end);
        for (expires_at, revoked_at, now, is_live) in [
            (None, None, end, true),
            (Some(end), None, end - second, true),
            (Some(end), None, end, false),
            (None, Some(end), end - second, false),
        ] {
            let key = KeyRecord { expires_at, revoked_at, ..key.clone() };
            assert_eq!(key.is_live(now), is_live, "{key:?} {now}");
        }
    }
}
