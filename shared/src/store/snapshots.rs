//! Snapshots: immutable chunks, and the manifest that says which version is current.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{
    operation::put_item::PutItemError,
    primitives::Blob,
    types::{AttributeValue, KeysAndAttributes},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use super::{Item, Store, StoreError, item};
use crate::records::Statistics;

/// A chunk with its key stays below DynamoDB's 400 KB for an item.
const CHUNK_BYTES: usize = 390_000;
/// Most keys one BatchGetItem takes.
const BATCH: usize = 100;
const TRIES: u32 = 8;
const CURRENT: &str = "current";

/// Which version of the data is current, and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Time of the import and the first digits of the content's hash; sorts by age.
    pub version: String,
    pub ingested_at: Timestamp,
    pub last_updated: LastUpdated,
    pub chunks: u32,
    /// SHA-256 of the whole snapshot, in hex.
    pub sha256: String,
    pub statistics: Statistics,
    /// Older versions whose chunks are still there, the newest first.
    pub retained: Vec<Snapshot>,
}

/// A snapshot by the keys of its chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    pub version: String,
    pub chunks: u32,
}

/// Older snapshots kept beside the current one: readers may be loading the last, and an operator
/// may want to go back.
const RETAINED: usize = 2;

/// When each source was last ingested (spec 2.7).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LastUpdated {
    /// Time of the last US data ingestion.
    #[serde(rename = "NANPA")]
    #[schema(value_type = String, format = DateTime)]
    pub nanpa: Timestamp,
    /// Time of the last Canadian data ingestion.
    #[serde(rename = "CNAC")]
    #[schema(value_type = String, format = DateTime)]
    pub cnac: Timestamp,
}

/// SHA-256 of `bytes` in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Manifest {
    /// Describes the snapshot `bytes`, taken in at `ingested_at` to follow `replaced`; also gives
    /// the snapshots that are no longer retained then.
    pub fn of(
        bytes: &[u8],
        statistics: Statistics,
        ingested_at: Timestamp,
        replaced: Option<&Self>,
    ) -> (Self, Vec<Snapshot>) {
        let mut retained = replaced.map_or(Vec::new(), |replaced| {
            let last = Snapshot { version: replaced.version.clone(), chunks: replaced.chunks };
            [vec![last], replaced.retained.clone()].concat()
        });
        let dropped = retained.split_off(retained.len().min(RETAINED));
        let sha256 = sha256(bytes);
        let manifest = Self {
            version: format!("{}-{}", ingested_at.strftime("%Y%m%dT%H%M%SZ"), &sha256[..8]),
            ingested_at,
            last_updated: LastUpdated { nanpa: ingested_at, cnac: ingested_at },
            chunks: bytes.chunks(CHUNK_BYTES).len() as u32,
            sha256,
            statistics,
            retained,
        };
        (manifest, dropped)
    }
}

impl Store {
    /// The current manifest; `None` before the first import.
    ///
    /// # Errors
    /// Where DynamoDB does not answer, or the item cannot be read.
    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        self.get(&self.tables.dataset, "id", CURRENT.to_owned()).await
    }

    /// The snapshot `manifest` names, whole and checked against its hash.
    ///
    /// # Errors
    /// Where DynamoDB does not answer, or a chunk is missing or damaged.
    pub async fn snapshot(&self, manifest: &Manifest) -> Result<Vec<u8>, StoreError> {
        let damaged =
            |detail: String| StoreError::Snapshot { version: manifest.version.clone(), detail };
        let ids: Vec<String> =
            (0..manifest.chunks).map(|n| chunk_id(&manifest.version, n)).collect();
        let mut chunks = BTreeMap::new();
        for ids in ids.chunks(BATCH) {
            self.collect_chunks(ids, &mut chunks).await?;
        }
        if let Some(missing) = ids.iter().find(|id| !chunks.contains_key(*id)) {
            return Err(damaged(format!("chunk {missing} is missing")));
        }
        let bytes: Vec<u8> = ids.iter().filter_map(|id| chunks.remove(id)).flatten().collect();
        match sha256(&bytes) == manifest.sha256 {
            true => Ok(bytes),
            false => Err(damaged("its hash does not match".to_owned())),
        }
    }

    /// One BatchGetItem, repeated for the keys it leaves over: a call answers 16 MB at most.
    async fn collect_chunks(
        &self,
        ids: &[String],
        chunks: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<(), StoreError> {
        let table = self.tables.dataset.as_str();
        let keys =
            ids.iter().map(|id| Item::from([("id".to_owned(), AttributeValue::S(id.clone()))]));
        let mut wanted = KeysAndAttributes::builder().set_keys(Some(keys.collect())).build().ok();
        for _ in 0..TRIES {
            let Some(keys) = wanted.take() else { break };
            let answer = self.client.batch_get_item().request_items(table, keys).send().await;
            let answer = answer.map_err(StoreError::call("BatchGetItem", table))?;
            let items = answer.responses.and_then(|mut tables| tables.remove(table));
            chunks.extend(items.into_iter().flatten().filter_map(chunk));
            wanted = answer.unprocessed_keys.and_then(|mut tables| tables.remove(table));
        }
        Ok(())
    }

    /// Writes the chunks of a snapshot; no reader sees them before [`Store::publish`].
    ///
    /// # Errors
    /// Where DynamoDB refuses a chunk.
    pub async fn write_snapshot(
        &self,
        manifest: &Manifest,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for (n, data) in (0..).zip(bytes.chunks(CHUNK_BYTES)) {
            let put = self.client.put_item().table_name(table);
            let put = put.item("id", AttributeValue::S(chunk_id(&manifest.version, n)));
            let put = put.item("data", AttributeValue::B(Blob::new(data)));
            put.send().await.map_err(StoreError::call("PutItem", table))?;
        }
        Ok(())
    }

    /// Makes `manifest` the current one, if `replaced` still is.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] where another import came first; nothing has changed then.
    pub async fn publish(
        &self,
        manifest: &Manifest,
        replaced: Option<&Manifest>,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let mut pointer = item(table, manifest)?;
        pointer.insert("id".to_owned(), AttributeValue::S(CURRENT.to_owned()));
        let put = self.client.put_item().table_name(table).set_item(Some(pointer));
        let put = match replaced {
            None => put.condition_expression("attribute_not_exists(id)"),
            Some(replaced) => {
                put.condition_expression("version = :replaced").expression_attribute_values(
                    ":replaced",
                    AttributeValue::S(replaced.version.clone()),
                )
            }
        };
        match put.send().await {
            Ok(_) => Ok(()),
            Err(error)
                if error
                    .as_service_error()
                    .is_some_and(PutItemError::is_conditional_check_failed_exception) =>
            {
                let found = self.manifest().await?.map_or("none".to_owned(), |found| found.version);
                Err(StoreError::Overtaken { found })
            }
            Err(error) => Err(StoreError::call("PutItem", table)(error)),
        }
    }

    /// Removes the chunks of a version that no manifest names any longer.
    ///
    /// # Errors
    /// Where DynamoDB refuses a deletion.
    pub async fn delete_snapshot(&self, snapshot: &Snapshot) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for n in 0..snapshot.chunks {
            let id = AttributeValue::S(chunk_id(&snapshot.version, n));
            let delete = self.client.delete_item().table_name(table).key("id", id);
            delete.send().await.map_err(StoreError::call("DeleteItem", table))?;
        }
        Ok(())
    }
}

fn chunk_id(version: &str, n: u32) -> String {
    format!("{version}#{n:04}")
}

fn chunk(mut item: Item) -> Option<(String, Vec<u8>)> {
    match (item.remove("id")?, item.remove("data")?) {
        (AttributeValue::S(id), AttributeValue::B(data)) => Some((id, data.into_inner())),
        _ => None,
    }
}
