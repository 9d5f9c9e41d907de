//! Keys with quotas, and their counted requests.

use std::collections::HashMap;

use shared::auth::{ApiKey, KeyKind};
use store::{KeyRecord, Store};
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
    let items = client.scan().table_name(&tables.usage).send().await.unwrap().items.unwrap();
    let mut counted = HashMap::new();
    for item in items {
        let (quota_id, _hour) = item["id"].as_s().unwrap().split_once('#').unwrap();
        let tallies = item.values().filter_map(|value| value.as_l().ok());
        let sum: u64 = tallies.map(|tally| tally[0].as_n().unwrap().parse::<u64>().unwrap()).sum();
        *counted.entry(quota_id.to_owned()).or_default() += sum;
    }
    counted
}
