//! Keys with quotas, and their counted requests.

use std::collections::HashMap;

use shared::auth::{ApiKey, KeyKind};
use store::{KeyRecord, Store, Table};
use tnr::keys::{random, register};

pub async fn key_with_quotas(
    store: &Store,
    per_minute: Option<u32>,
    per_day: Option<u32>,
) -> ApiKey {
    let key = random(KeyKind::Live).unwrap();
    register(store, &key, "a client").await.unwrap();
    let record = store.api_key(&key.hash()).await.unwrap().unwrap();
    store.put_api_key(&KeyRecord { per_minute, per_day, ..record }).await.unwrap();
    key
}

/// The number of requests that all containers have counted in the table, by quota id.
pub async fn counted_requests(store: &Store) -> HashMap<String, u64> {
    let (client, tables) = store.parts();
    let scan = client.scan().table_name(tables.name(Table::Usage)).send().await.unwrap();
    let mut counted = HashMap::new();
    for item in scan.items() {
        let hours = item.iter().filter(|(name, _)| name.starts_with('h'));
        let sum: u64 = hours.map(|(_, count)| count.as_n().unwrap().parse::<u64>().unwrap()).sum();
        counted.insert(item["id"].as_s().unwrap().clone(), sum);
    }
    counted
}
