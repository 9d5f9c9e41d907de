//! An app with a history. Its DynamoDB stub supports the few calls that reading and writing the history makes.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
};
use jiff::{SignedDuration, Timestamp};
use numbering::{
    changes::{Difference, RecordPair, record_pairs},
    dataset::Dataset,
    records::Version,
};
use serde_json::{Value, json};
use shared::state::App;
use store::{
    CurrentDataset, ItemWrite, LoadedVersion, Manifest, PublishedDifference, Snapshot, Store,
    TimeoutProfile, WRITES_PER_BATCH,
};
use tokio::net::TcpListener;

/// The history and the manifest by their keys, and the calls to them.
#[derive(Clone, Default)]
pub struct HistoryTable(Arc<Mutex<Items>>);

#[derive(Default)]
struct Items {
    items: BTreeMap<(String, String), Value>,
    calls: Vec<String>,
}

/// Consecutive versions, published a day apart.
pub struct AppWithHistory {
    pub app: App,
    pub table: HistoryTable,
    pub manifest: Manifest,
}

impl HistoryTable {
    async fn serve(&self) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(respond).with_state(self.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        endpoint
    }

    /// The history operations since the last call, and whether each was strongly consistent.
    pub fn take_calls(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().calls)
    }

    /// Removes an item, as a manual deletion would.
    pub fn remove(&self, code: &str, entry_prefix: &str) {
        let mut table = self.0.lock().unwrap();
        let before = table.items.len();
        table.items.retain(|(known, entry), _| known != code || !entry.starts_with(entry_prefix));
        assert!(table.items.len() < before, "{code} {entry_prefix}");
    }
}

/// The partition and sort key, or the manifest's ID.
fn key(item: &Value) -> (String, String) {
    let text = |name: &str| item[name]["S"].as_str().unwrap_or_default().to_owned();
    (text("code"), text("entry") + &text("id"))
}

async fn respond(
    State(table): State<HistoryTable>,
    headers: HeaderMap,
    body: String,
) -> impl IntoResponse {
    let call: Value = serde_json::from_str(&body).unwrap();
    let operation = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap();
    let is_consistent = body.contains("\"ConsistentRead\":true");
    let mut table = table.0.lock().unwrap();
    let suffix = if is_consistent { ", consistent" } else { "" };
    if body.contains("\"history\"") {
        table.calls.push(format!("{operation}{suffix}"));
    }
    let mut status = StatusCode::OK;
    let response = match operation {
        "PutItem" => {
            _ = table.items.insert(key(&call["Item"]), call["Item"].clone());
            json!({})
        }
        "BatchWriteItem" => {
            for write in call["RequestItems"]["history"].as_array().unwrap() {
                let item = &write["PutRequest"]["Item"];
                table.items.insert(key(item), item.clone());
            }
            json!({})
        }
        "GetItem" => match table.items.get(&key(&call["Key"])) {
            Some(item) => json!({ "Item": item }),
            None => json!({}),
        },
        "Query" => {
            let code = call["ExpressionAttributeValues"][":code"]["S"].as_str().unwrap();
            let found = table.items.iter().filter(|((known, _), _)| known == code);
            json!({ "Items": found.map(|(_, item)| item).collect::<Vec<_>>() })
        }
        "BatchGetItem" => {
            let keys = call["RequestItems"]["history"]["Keys"].as_array();
            let found =
                keys.into_iter().flatten().filter_map(|wanted| table.items.get(&key(wanted)));
            json!({ "Responses": { "history": found.collect::<Vec<_>>() } })
        }
        "Scan" => json!({ "Items": table.items.values().collect::<Vec<_>>() }),
        // The process counts quotas on its own without this call.
        "UpdateItem" => {
            status = StatusCode::BAD_REQUEST;
            json!({ "__type": "com.amazon.coral.validate#ValidationException" })
        }
        other => panic!("unexpected call {other}"),
    };
    (status, [(CONTENT_TYPE, "application/x-amz-json-1.0")], Json(response))
}

/// Publishes the versions, oldest first. The last one is current and in memory. `start` is the time of the first.
pub async fn app_with_history(start: Timestamp, versions: Vec<Dataset>) -> AppWithHistory {
    let table = HistoryTable::default();
    let store = Store::connect_to_emulator(&table.serve().await, TimeoutProfile::Request);
    let mut current: Option<(Manifest, Arc<Dataset>)> = None;
    for (night, dataset) in versions.into_iter().enumerate() {
        let at = start + SignedDuration::from_hours(24 * night as i64);
        let snapshot = Snapshot::of(&dataset, Version::new(at), at);
        let before = current.as_ref().map(|(manifest, _)| manifest);
        let mut manifest = Manifest::new(before, snapshot, |_| false);
        if let Some((replaced, before)) = &current {
            manifest.publication.ends_at = Some(at.as_second() + 1_000_000_000);
            record(&store, &manifest, replaced, (before, &dataset)).await;
        }
        current = Some((manifest, Arc::new(dataset)));
    }
    let (manifest, dataset) = current.unwrap();
    store.publish(&manifest, &manifest.revision).await.unwrap();
    let mut app = App::with_store(store.clone());
    let loaded = LoadedVersion { version: manifest.current.version.clone(), dataset };
    app.dataset = CurrentDataset::with_loaded(store, loaded, manifest.clone()).into();
    table.take_calls();
    AppWithHistory { app, table, manifest }
}

async fn record(
    store: &Store,
    manifest: &Manifest,
    replaced: &Manifest,
    (before, after): (&Dataset, &Dataset),
) {
    let pairs = record_pairs(before, after).filter(|pair| pair.change().is_some());
    let pairs: Vec<RecordPair> = pairs.collect();
    let difference = Difference::new(&pairs);
    let (publication, predecessor) = (&manifest.publication, &replaced.publication);
    let (published, packed) =
        PublishedDifference::pack(publication, predecessor, &difference).unwrap();
    store.write_difference(&published, &packed).await.unwrap();
    for pairs in pairs.chunks(WRITES_PER_BATCH) {
        let add = |pair: &RecordPair| ItemWrite::AddChange(publication.clone(), pair.clone());
        store.write(&pairs.iter().map(add).collect::<Vec<_>>()).await.unwrap();
    }
}
