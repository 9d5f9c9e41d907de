//! Scans of lookup tables, so an import can compare them with the current version.

use aws_sdk_dynamodb::types::AttributeValue;
use numbering::records::{Record, RecordKey, Version};

use crate::{
    ItemKey, LookupItem, LookupTable, Store, StoreError,
    client::item_from_record,
    item_check::{self, CHECK, Item},
};

/// An item found by scanning a table.
#[derive(Debug)]
pub struct StoredItem {
    /// The table and partition key.
    pub key: ItemKey,
    /// The key of its record; `None` if no record can have it.
    pub record_key: Option<RecordKey>,
    table_name: String,
    attributes: Item,
}

impl StoredItem {
    /// Returns `true` if the item is undamaged. Readers ignore damaged ones.
    pub fn is_whole(&self) -> bool {
        item_check::verify(&self.attributes).is_ok()
    }

    /// Returns `true` if the item, which must be undamaged, was written from `expected`. Compares the checks.
    pub fn is_same_as(&self, expected: &LookupItem<Record>) -> bool {
        let expected = item_from_record(&self.table_name, Some(self.key.attribute()), expected);
        expected.is_ok_and(|item| item.get(CHECK) == self.attributes.get(CHECK))
    }

    /// Returns `true` if the item names `version`, so a reader that expects this version uses it.
    pub fn has_version(&self, version: &Version) -> bool {
        match self.attributes.get("version") {
            Some(AttributeValue::S(name)) => *version == **name,
            _ => false,
        }
    }
}

impl Store {
    /// Scans a table strongly consistently, and calls `inspect` with each item.
    pub async fn for_each_item(
        &self,
        table: LookupTable,
        mut inspect: impl FnMut(StoredItem),
    ) -> Result<(), StoreError> {
        let name = table.name(&self.tables);
        let scan = self.client.scan().table_name(name).consistent_read(true);
        let mut items = scan.into_paginator().items().send();
        while let Some(attributes) = items.next().await {
            let attributes: Item = attributes.map_err(StoreError::call("Scan", name))?;
            let Some(AttributeValue::S(value)) = attributes.get(table.key_attribute()) else {
                let problem = format!("its attribute {} is not a text", table.key_attribute());
                return Err(StoreError::item(name)(problem));
            };
            let key = ItemKey { table, value: value.clone() };
            let record_key = key.record_key();
            inspect(StoredItem { key, record_key, table_name: name.to_owned(), attributes });
        }
        Ok(())
    }
}
