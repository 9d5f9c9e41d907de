//! Lookup items: one per record, with the record's code as its partition key.
//!
//! An item states the version that last changed its record. If the in-memory dataset has a different version for the
//! record, readers use the dataset instead.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use logging::with_causes;
use numbering::records::{Carrier, Exchange, NpaNxx, Ocn, Record, RecordKey, Version};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Store, StoreError, Table,
    checksum::{self, CHECKSUM, Item, primary_key, text},
    client::{item_from_record, record_from_item},
};

/// An item in the carrier or exchange table, without its partition key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookupItem<R> {
    /// The version that last changed the record and wrote the item.
    pub version: Version,
    pub record: R,
}

/// An item's table and partition key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemKey {
    pub(crate) table: Table,
    /// The key's value, such as `6010` for a carrier, `415#555` for an exchange, and `415` for an area code.
    pub(crate) value: String,
}

impl From<RecordKey> for ItemKey {
    fn from(key: RecordKey) -> Self {
        let (table, value) = match key {
            RecordKey::Carrier(ocn) => (Table::Carriers, ocn.to_string()),
            RecordKey::AreaCode(npa) => (Table::Exchanges, npa.to_string()),
            RecordKey::Exchange(NpaNxx { npa, nxx }) => (Table::Exchanges, format!("{npa}#{nxx}")),
        };
        Self { table, value }
    }
}

impl ItemKey {
    /// Parses the record key; `None` if no record can have this item key.
    pub(crate) fn record_key(&self) -> Option<RecordKey> {
        let key = match (self.table, self.value.split_once('#')) {
            (Table::Carriers, _) => RecordKey::Carrier(self.value.parse().ok()?),
            (_, None) => RecordKey::AreaCode(self.value.parse().ok()?),
            (_, Some((npa, nxx))) => {
                RecordKey::Exchange(NpaNxx { npa: npa.parse().ok()?, nxx: nxx.parse().ok()? })
            }
        };
        // Lookups never use other spellings of a code, such as `073h`.
        (Self::from(key) == *self).then_some(key)
    }

    /// The partition key's name and value.
    pub(crate) fn attribute(&self) -> (&'static str, AttributeValue) {
        (self.table.key_attribute(), AttributeValue::S(self.value.clone()))
    }
}

impl Store {
    pub async fn carrier(&self, ocn: Ocn) -> Result<Option<LookupItem<Carrier>>, StoreError> {
        self.lookup_item(RecordKey::Carrier(ocn)).await
    }

    pub async fn exchange(
        &self,
        npa_nxx: NpaNxx,
    ) -> Result<Option<LookupItem<Exchange>>, StoreError> {
        self.lookup_item(RecordKey::Exchange(npa_nxx)).await
    }

    /// Reads the items of up to [`crate::READS_PER_BATCH`] exchanges, with eventual consistency. Leaves out
    /// unreadable items.
    pub async fn exchanges(
        &self,
        npa_nxxs: &[NpaNxx],
    ) -> Result<HashMap<NpaNxx, LookupItem<Exchange>>, StoreError> {
        let table = self.tables.name(Table::Exchanges);
        let keys = npa_nxxs.iter().map(|&npa_nxx| ItemKey::from(RecordKey::Exchange(npa_nxx)));
        let keys = keys.map(|key| primary_key([(key.table.key_attribute(), key.value)]));
        let items = self.batch_lookup(Table::Exchanges, false, keys.collect()).await?;
        let mut found = HashMap::new();
        for item in items {
            let Some(npa_nxx) = npa_nxx_from_item(&item) else { continue };
            match record_from_item(table, item) {
                Ok(record) => _ = found.insert(npa_nxx, record),
                // The other items are still usable.
                Err(error) => {
                    tracing::warn!(error = with_causes(&error), %npa_nxx, "an item cannot be read");
                }
            }
        }
        Ok(found)
    }

    /// Reads an item with eventual consistency, at half the cost. Callers ignore an outdated item, because its
    /// version differs from the one in the dataset.
    async fn lookup_item<R: DeserializeOwned>(
        &self,
        key: RecordKey,
    ) -> Result<Option<LookupItem<R>>, StoreError> {
        let ItemKey { table, value } = key.into();
        self.get(table, value, false).await
    }
}

fn npa_nxx_from_item(item: &Item) -> Option<NpaNxx> {
    let table = Table::Exchanges;
    let value = text(item, table.key_attribute())?.to_owned();
    match (ItemKey { table, value }).record_key()? {
        RecordKey::Exchange(npa_nxx) => Some(npa_nxx),
        _ => None,
    }
}

/// An item found by a scan.
#[derive(Debug)]
pub struct StoredItem {
    pub key: ItemKey,
    /// `None` if no record can have this key.
    pub record_key: Option<RecordKey>,
    table_name: String,
    attributes: Item,
}

impl StoredItem {
    pub fn is_intact(&self) -> bool {
        checksum::verify(&self.attributes).is_ok()
    }

    /// Returns `true` if the item is intact and was written from `expected`. Compares only the checksums.
    pub fn matches(&self, expected: &LookupItem<Record>) -> bool {
        let expected = item_from_record(&self.table_name, Some(self.key.attribute()), expected);
        expected.is_ok_and(|item| item.get(CHECKSUM) == self.attributes.get(CHECKSUM))
    }

    /// Returns `true` if the item states that `version` wrote it.
    pub fn has_version(&self, version: &Version) -> bool {
        text(&self.attributes, "version").is_some_and(|name| *version == *name)
    }
}

impl Store {
    /// Calls `inspect` with each item in one of [`Table::LOOKUPS`]. The scan is strongly consistent.
    pub async fn for_each_item(
        &self,
        table: Table,
        mut inspect: impl FnMut(StoredItem),
    ) -> Result<(), StoreError> {
        let name = self.tables.name(table);
        let inspect = |attributes: Item| {
            let Some(value) = text(&attributes, table.key_attribute()).map(str::to_owned) else {
                let problem = format!("its attribute {} is not a string", table.key_attribute());
                return Err(StoreError::item(name)(problem));
            };
            let key = ItemKey { table, value };
            let record_key = key.record_key();
            inspect(StoredItem { key, record_key, table_name: name.to_owned(), attributes });
            Ok(())
        };
        self.scan(table, inspect).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_malformed_keys_are_rejected() {
        let keys = [
            RecordKey::Carrier("073H".parse().unwrap()),
            RecordKey::AreaCode("415".parse().unwrap()),
            RecordKey::Exchange("415-007".parse().unwrap()),
        ];
        for key in keys {
            assert_eq!(ItemKey::from(key).record_key(), Some(key));
        }
        for value in ["", "073h", "415#55", "415#555#1", "hold"] {
            for table in Table::LOOKUPS {
                let key = ItemKey { table, value: value.to_owned() };
                assert_eq!(key.record_key(), None, "{value}");
            }
        }
    }
}
