//! Emptying tables, and restoring them to an earlier state.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use store::Store;

type Item = HashMap<String, AttributeValue>;

/// All items of the lookup tables at one moment.
pub struct LookupTables {
    carriers: Vec<Item>,
    exchanges: Vec<Item>,
}

impl LookupTables {
    pub fn empty() -> Self {
        Self { carriers: Vec::new(), exchanges: Vec::new() }
    }

    /// Reads the tables.
    pub async fn read(store: &Store) -> Self {
        let (_, tables) = store.parts();
        Self {
            carriers: items(store, &tables.carriers).await,
            exchanges: items(store, &tables.exchanges).await,
        }
    }

    /// Restores the tables to this state.
    pub async fn restore(&self, store: &Store) {
        let (client, tables) = store.parts();
        for (table, key, copied) in [
            (&tables.carriers, "ocn", &self.carriers),
            (&tables.exchanges, "npa_nxx", &self.exchanges),
        ] {
            empty(store, table, key).await;
            for item in copied {
                let put = client.put_item().table_name(table).set_item(Some(item.clone()));
                put.send().await.unwrap();
            }
        }
    }
}

/// Deletes every item in a table.
pub async fn empty(store: &Store, table: &str, key: &str) {
    let (client, _) = store.parts();
    for item in items(store, table).await {
        let delete = client.delete_item().table_name(table).key(key, item[key].clone());
        delete.send().await.unwrap();
    }
}

async fn items(store: &Store, table: &str) -> Vec<Item> {
    let (client, _) = store.parts();
    client.scan().table_name(table).send().await.unwrap().items.unwrap_or_default()
}
