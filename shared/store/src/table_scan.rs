//! Scans lookup tables, so an import can compare them with the current version.

use numbering::records::{Record, RecordKey, Version};

use crate::{
    ItemKey, LookupItem, Store, StoreError, Table,
    checksum::{self, CHECKSUM, Item, text},
    client::item_from_record,
};

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

    /// Returns `true` if the intact item was written from `expected`. Compares only the checksums.
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
        self.scan(name, inspect).await
    }
}
