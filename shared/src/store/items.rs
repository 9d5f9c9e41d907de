//! Lookup items: one for each record, written in bulk and read through.
//!
//! An item names the version that last changed its record. Whoever reads it compares that with
//! the version the dataset names for the record, and believes the dataset if they differ.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    error::ProvideErrorMetadata,
    operation::batch_write_item::BatchWriteItemError,
    types::{AttributeValue, DeleteRequest, PutRequest, WriteRequest},
};
use backon::{BackoffBuilder, ExponentialBuilder};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Item, SdkError, Store, StoreError, Tables, item, read};
use crate::records::{NpaNxx, Record, RecordKey, Version};

/// Most writes one BatchWriteItem call takes (DynamoDB's limit).
pub const BATCH: usize = 25;

/// An item of the tables of carriers and exchanges, but for its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookupItem<R> {
    /// The version that last changed the record, and wrote the item.
    pub version: Version,
    pub record: R,
}

/// The two tables of lookup items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LookupTable {
    Carriers,
    /// Exchanges, and area codes.
    Exchanges,
}

impl LookupTable {
    pub const ALL: [Self; 2] = [Self::Carriers, Self::Exchanges];

    fn name(self, tables: &Tables) -> &str {
        match self {
            Self::Carriers => &tables.carriers,
            Self::Exchanges => &tables.exchanges,
        }
    }

    /// The attribute that is its partition key.
    fn key_attribute(self) -> &'static str {
        match self {
            Self::Carriers => "ocn",
            Self::Exchanges => "npa_nxx",
        }
    }
}

/// Where an item lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemKey {
    table: LookupTable,
    /// `6010` of a carrier, `415#555` of an exchange, `415` of an area code.
    value: String,
}

impl From<RecordKey> for ItemKey {
    fn from(key: RecordKey) -> Self {
        let (table, value) = match key {
            RecordKey::Carrier(ocn) => (LookupTable::Carriers, ocn.to_string()),
            RecordKey::AreaCode(npa) => (LookupTable::Exchanges, npa.to_string()),
            RecordKey::Exchange(NpaNxx { npa, nxx }) => {
                (LookupTable::Exchanges, format!("{npa}#{nxx}"))
            }
        };
        Self { table, value }
    }
}

impl ItemKey {
    /// The key of the record that the item is of; `None` if no record can have it.
    fn record_key(&self) -> Option<RecordKey> {
        let key = match (self.table, self.value.split_once('#')) {
            (LookupTable::Carriers, _) => RecordKey::Carrier(self.value.parse().ok()?),
            (LookupTable::Exchanges, None) => RecordKey::AreaCode(self.value.parse().ok()?),
            (LookupTable::Exchanges, Some((npa, nxx))) => {
                RecordKey::Exchange(NpaNxx { npa: npa.parse().ok()?, nxx: nxx.parse().ok()? })
            }
        };
        // Text that reads as a code but is written otherwise, such as `073h`, is never looked up.
        (Self::from(key) == *self).then_some(key)
    }

    pub(super) fn table_name<'a>(&self, tables: &'a Tables) -> &'a str {
        self.table.name(tables)
    }

    pub(super) fn attribute(&self) -> (&'static str, AttributeValue) {
        (self.table.key_attribute(), AttributeValue::S(self.value.clone()))
    }
}

/// What becomes of one item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemWrite {
    Put(LookupItem<Record>),
    Delete(ItemKey),
}

impl ItemWrite {
    fn key(&self) -> ItemKey {
        match self {
            Self::Put(item) => item.record.key().into(),
            Self::Delete(key) => key.clone(),
        }
    }

    fn request(&self, table: &str) -> Result<WriteRequest, StoreError> {
        let key = self.key();
        let (name, value) = key.attribute();
        let refused = StoreError::unbuildable("BatchWriteItem", table);
        let request = WriteRequest::builder();
        Ok(match self {
            Self::Put(lookup_item) => {
                let mut attributes = item(table, lookup_item)?;
                attributes.insert(name.to_owned(), value);
                let put = PutRequest::builder().set_item(Some(attributes)).build();
                request.put_request(put.map_err(refused)?).build()
            }
            Self::Delete(_) => {
                let delete = DeleteRequest::builder().key(name, value).build();
                request.delete_request(delete.map_err(refused)?).build()
            }
        })
    }
}

/// An item as it was found when a table was read through.
#[derive(Debug)]
pub struct StoredItem {
    pub key: ItemKey,
    /// `None` if no record can have its key.
    pub record_key: Option<RecordKey>,
    table_name: String,
    attributes: Item,
}

impl StoredItem {
    /// Whether it is exactly `expected`; an item that cannot be read is not.
    pub fn is(&self, expected: &LookupItem<Record>) -> bool {
        match &expected.record {
            Record::Carrier(record) => self.holds(&expected.version, record),
            Record::AreaCode(record) => self.holds(&expected.version, record),
            Record::Exchange(record) => self.holds(&expected.version, record),
        }
    }

    fn holds<R: DeserializeOwned + PartialEq>(&self, version: &Version, record: &R) -> bool {
        let found: Result<LookupItem<R>, StoreError> =
            read(&self.table_name, self.attributes.clone());
        found.is_ok_and(|item| item.version == *version && item.record == *record)
    }

    /// Whether a reader that expects `version` here believes the item.
    pub fn names(&self, version: &Version) -> bool {
        match self.attributes.get("version") {
            Some(AttributeValue::S(name)) => *version == **name,
            _ => false,
        }
    }
}

impl Store {
    /// Makes up to 25 `writes` in one call. What DynamoDB is too busy for is tried again after
    /// growing waits, for about a minute and a half.
    ///
    /// # Errors
    /// Returns an error if DynamoDB refuses the call or stays too busy. Some of the writes may
    /// have been made then.
    pub async fn write(&self, writes: &[ItemWrite]) -> Result<(), StoreError> {
        let mut left: HashMap<String, Vec<WriteRequest>> = HashMap::new();
        for write in writes {
            let table = write.key().table.name(&self.tables);
            left.entry(table.to_owned()).or_default().push(write.request(table)?);
        }
        let mut waits = WAITS.build();
        loop {
            let call = self.client.batch_write_item().set_request_items(Some(left.clone()));
            left = match call.send().await {
                Ok(answer) => answer.unprocessed_items.unwrap_or_default(),
                Err(error) if is_too_busy(&error) => left,
                Err(error) => {
                    let tables = left.into_keys().collect::<Vec<_>>().join(", ");
                    return Err(StoreError::call("BatchWriteItem", &tables)(error));
                }
            };
            let count: usize = left.values().map(Vec::len).sum();
            if count == 0 {
                return Ok(());
            }
            let wait = waits.next().ok_or(StoreError::Busy { left: count })?;
            tokio::time::sleep(wait).await;
        }
    }

    /// Reads a whole table, as it was last written, and hands each item to `each`.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer, or an item has no key.
    pub async fn read_through(
        &self,
        table: LookupTable,
        mut each: impl FnMut(StoredItem),
    ) -> Result<(), StoreError> {
        let name = table.name(&self.tables);
        let scan = self.client.scan().table_name(name).consistent_read(true);
        let mut items = scan.into_paginator().items().send();
        while let Some(attributes) = items.next().await {
            let attributes = attributes.map_err(StoreError::call("Scan", name))?;
            let Some(AttributeValue::S(value)) = attributes.get(table.key_attribute()) else {
                let detail = format!("it has no text as {}", table.key_attribute());
                return Err(StoreError::Item { table: name.to_owned(), detail });
            };
            let key = ItemKey { table, value: value.clone() };
            let record_key = key.record_key();
            each(StoredItem { key, record_key, table_name: name.to_owned(), attributes });
        }
        Ok(())
    }
}

/// Thirteen tries. Half of each wait is left to chance, so that callers do not come back together.
pub(super) const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_secs(15))
    .with_max_times(12)
    .with_jitter();

/// Whether DynamoDB may well take later what it did not take now; the client has tried a few times.
fn is_too_busy<R>(error: &SdkError<BatchWriteItemError, R>) -> bool {
    if has_no_disk(error) {
        return false;
    }
    let throttled = matches!(
        error.code(),
        Some(
            "ProvisionedThroughputExceededException"
                | "ThrottlingException"
                | "RequestLimitExceeded"
                | "InternalServerError"
        )
    );
    throttled
        || matches!(
            error,
            SdkError::TimeoutError(_) | SdkError::ResponseError(_) | SdkError::DispatchFailure(_)
        )
}

/// Whether the embedded database cannot write into its file. It answers that as an internal error,
/// too, but waiting does not help, and the operator has to be told.
fn has_no_disk<R>(error: &SdkError<BatchWriteItemError, R>) -> bool {
    let of_sqlite = ["database or disk is full", "disk I/O error"];
    error.message().is_some_and(|message| of_sqlite.iter().any(|text| message.contains(text)))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::ErrorMetadata;

    use super::*;
    use crate::errors::with_causes;

    #[test]
    fn a_full_disk_is_told_at_once_and_not_taken_for_a_busy_database() {
        let internal = |message: &str| {
            let metadata = ErrorMetadata::builder().code("InternalServerError").message(message);
            SdkError::service_error(BatchWriteItemError::generic(metadata.build()), ())
        };
        let full = internal("backend: database or disk is full");
        assert!(!is_too_busy(&full));
        assert!(with_causes(&full).contains("disk is full"), "{}", with_causes(&full));
        assert!(is_too_busy(&internal("try again")));
    }

    #[test]
    fn a_key_reads_back_and_one_of_another_form_is_no_records() {
        let keys = [
            RecordKey::Carrier("073H".parse().unwrap()),
            RecordKey::AreaCode("415".parse().unwrap()),
            RecordKey::Exchange("415-007".parse().unwrap()),
        ];
        for key in keys {
            assert_eq!(ItemKey::from(key).record_key(), Some(key));
        }
        for value in ["", "073h", "415#55", "415#555#1", "hold"] {
            for table in LookupTable::ALL {
                let key = ItemKey { table, value: value.to_owned() };
                assert_eq!(key.record_key(), None, "{value}");
            }
        }
    }
}
