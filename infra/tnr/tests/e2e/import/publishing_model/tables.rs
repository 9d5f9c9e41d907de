//! Emptying tables and restoring them to an earlier state.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use store::Store;

type Item = HashMap<String, AttributeValue>;

/// The lookup tables and their keys.
const LOOKUP_TABLES: [(&str, &str); 2] = [("carriers", "ocn"), ("exchanges", "npa_nxx")];

/// All items in the lookup tables at one point in time.
#[derive(Default)]
pub struct LookupTables([Vec<Item>; 2]);

impl LookupTables {
    pub async fn read(store: &Store) -> Self {
        let [(carriers, _), (exchanges, _)] = LOOKUP_TABLES;
        Self([items(store, carriers).await, items(store, exchanges).await])
    }

    /// Restores the tables to this state.
    pub async fn restore(&self, store: &Store) {
        for ((table, key), copied) in LOOKUP_TABLES.into_iter().zip(&self.0) {
            empty(store, table, key).await;
            for item in copied {
                let put = store.parts().0.put_item().table_name(table);
                put.set_item(Some(item.clone())).send().await.unwrap();
            }
        }
    }
}

/// Deletes every item in a table.
pub async fn empty(store: &Store, table: &str, key: &str) {
    for item in items(store, table).await {
        let delete = store.parts().0.delete_item().table_name(table);
        delete.key(key, item[key].clone()).send().await.unwrap();
    }
}

async fn items(store: &Store, table: &str) -> Vec<Item> {
    let scan = store.parts().0.scan().table_name(table);
    scan.send().await.unwrap().items.unwrap_or_default()
}
