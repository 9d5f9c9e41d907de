//! Earlier states: versions that were published, and items in tables.

use std::{collections::HashMap, sync::Arc};

use aws_sdk_dynamodb::types::AttributeValue;
use jiff::Timestamp;
use numbering::{dataset::Dataset, records::Version};
use proptest::{prop_assert, prop_assert_eq, test_runner::TestCaseError};
use store::{Gap, Manifest, Store};

/// The datasets of publications that were current after a step.
#[derive(Default)]
pub struct Past(HashMap<Version, Arc<Dataset>>);

impl Past {
    pub fn add(&mut self, manifest: &Manifest, dataset: &Arc<Dataset>) {
        self.0.insert(manifest.publication.id.clone(), Arc::clone(dataset));
    }

    /// Asserts that the history leads back to every version since the first.
    pub async fn check(&self, store: &Store, manifest: &Manifest) -> Result<(), TestCaseError> {
        let Some(current) = self.0.get(&manifest.publication.id) else { return Ok(()) };
        let history = store.history(manifest, Timestamp::now()).await.unwrap();
        // Every version can be compared with the previous one, so only a failed write may leave a difference missing.
        match history.gap() {
            None => prop_assert_eq!(history.start().number, 0, "{:?}", history),
            gap => prop_assert_eq!(gap, Some(Gap::Unrecorded), "{:?}", history),
        }
        let mut newer: Option<Dataset> = None;
        for (position, difference) in history.differences_after(0).iter().enumerate().rev() {
            let difference = store.difference(difference).await.unwrap();
            let older = difference.undo(newer.as_ref().unwrap_or(current));
            let publication = history.publication(position).unwrap();
            if let Some(expected) = self.0.get(&publication.id) {
                prop_assert!(older.records().eq(expected.records()), "{:?}", publication);
            }
            newer = Some(older);
        }
        Ok(())
    }
}

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
