//! Reads whole tables of lookup items, so that an import can compare them with the current version.

use aws_sdk_dynamodb::types::AttributeValue;
use numbering::records::{Record, RecordKey, Version};

use crate::{
    ItemKey, LookupItem, LookupTable, Store, StoreError,
    client::item_from_record,
    item_check::{self, CHECK, Item},
};

/// An item that was found when a whole table was read.
#[derive(Debug)]
pub struct StoredItem {
    /// The table and the partition key.
    pub key: ItemKey,
    /// The key of its record; `None` if no record can have it.
    pub record_key: Option<RecordKey>,
    table_name: String,
    attributes: Item,
}

impl StoredItem {
    /// `true` if the item is what was written. Readers pass over one that is not.
    pub fn is_whole(&self) -> bool {
        item_check::verify(&self.attributes).is_ok()
    }

    /// `true` if the item, which is whole, was written from `expected`: its check tells.
    pub fn is_same_as(&self, expected: &LookupItem<Record>) -> bool {
        let expected = item_from_record(&self.table_name, Some(self.key.attribute()), expected);
        expected.is_ok_and(|item| item.get(CHECK) == self.attributes.get(CHECK))
    }

    /// `true` if the item names `version`, so that a reader who expects this version uses the item.
    pub fn has_version(&self, version: &Version) -> bool {
        match self.attributes.get("version") {
            Some(AttributeValue::S(name)) => *version == **name,
            _ => false,
        }
    }
}

impl Store {
    /// Reads a whole table strongly consistently, and calls `inspect` with each item.
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
