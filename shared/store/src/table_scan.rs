//! Reads whole tables of lookup items, to compare them with what they should hold.

use aws_sdk_dynamodb::types::AttributeValue;
use numbering::records::{Record, RecordKey, Version};
use serde::de::DeserializeOwned;

use crate::{
    ItemKey, LookupItem, LookupTable, Store, StoreError,
    client::{Item, read},
};

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
                let lack = format!("it has no text as {}", table.key_attribute());
                return Err(StoreError::item(name)(lack));
            };
            let key = ItemKey { table, value: value.clone() };
            let record_key = key.record_key();
            each(StoredItem { key, record_key, table_name: name.to_owned(), attributes });
        }
        Ok(())
    }
}
