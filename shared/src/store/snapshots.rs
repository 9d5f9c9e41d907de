//! Snapshots: immutable chunks, and the manifest that says which version is current.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, KeysAndAttributes, Put, ReturnConsumedCapacity, TransactWriteItem},
};
use backon::BackoffBuilder;
use jiff::{Timestamp, civil::Date};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Hold, Item, Store, StoreError, Written, batch::WAITS, item, note_capacity};
use crate::records::Statistics;

/// A chunk with its key stays below DynamoDB's 400 KB for an item.
const CHUNK_BYTES: usize = 390_000;
/// Most keys one BatchGetItem takes.
const BATCH: usize = 100;
const CURRENT: &str = "current";

/// Which version of the data is in force, and which came before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Counts what was made current, imports and rollbacks: items say by it when they hold.
    pub sequence: u64,
    pub current: Snapshot,
    /// Older versions whose chunks are still there, the newest first.
    pub retained: Vec<Snapshot>,
}

/// A version of the data: what it holds, and where it lies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Time of the import and the first digits of the content's hash; sorts by age.
    pub version: String,
    /// When it was last imported; importing the same files again moves it.
    pub ingested_at: Timestamp,
    pub file_dates: FileDates,
    pub chunks: u32,
    /// SHA-256 of the whole snapshot, in hex.
    pub sha256: String,
    pub statistics: Statistics,
}

/// The dates the sources give themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDates {
    pub nanpa: Option<Date>,
    pub cnac: Option<Date>,
    pub npa_report: Option<Date>,
}

/// Older snapshots kept beside the current one: readers may be loading the last, and an operator
/// may want to go back.
const RETAINED: usize = 3;

/// SHA-256 of `bytes` in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Snapshot {
    /// Describes the snapshot `bytes`, taken in at `ingested_at`.
    pub fn of(
        bytes: &[u8],
        statistics: Statistics,
        file_dates: FileDates,
        ingested_at: Timestamp,
    ) -> Self {
        let sha256 = sha256(bytes);
        let version = format!("{}-{}", ingested_at.strftime("%Y%m%dT%H%M%SZ"), &sha256[..8]);
        let chunks = bytes.chunks(CHUNK_BYTES).len() as u32;
        Self { version, ingested_at, file_dates, chunks, sha256, statistics }
    }
}

impl Manifest {
    /// The manifest that makes `snapshot` follow `replaced`; also gives the snapshots that are no
    /// longer retained then.
    pub fn following(replaced: Option<&Self>, snapshot: Snapshot) -> (Self, Vec<Snapshot>) {
        let mut retained = replaced.map_or(Vec::new(), |replaced| {
            [vec![replaced.current.clone()], replaced.retained.clone()].concat()
        });
        let dropped = retained.split_off(retained.len().min(RETAINED));
        let sequence = replaced.map_or(0, |replaced| replaced.sequence) + 1;
        (Self { sequence, current: snapshot, retained }, dropped)
    }

    /// The manifest that goes back to the version before, and the snapshot it drops; `None` where
    /// none is retained.
    pub fn rolled_back(&self) -> Option<(Self, Snapshot)> {
        let (previous, older) = self.retained.split_first()?;
        let manifest = Self {
            sequence: self.sequence + 1,
            current: previous.clone(),
            retained: older.to_vec(),
        };
        Some((manifest, self.current.clone()))
    }

    /// Whether it names the snapshot `version`.
    pub fn names(&self, version: &str) -> bool {
        [&self.current].into_iter().chain(&self.retained).any(|named| named.version == version)
    }
}

impl Store {
    /// The manifest in force; `None` before the first import.
    ///
    /// # Errors
    /// Where DynamoDB does not answer, or the item cannot be read.
    pub async fn manifest(&self) -> Result<Option<Manifest>, StoreError> {
        self.get(&self.tables.dataset, "id", CURRENT.to_owned()).await
    }

    /// The bytes of a snapshot, whole and checked against their hash.
    ///
    /// # Errors
    /// Where DynamoDB does not answer, or a chunk is missing or damaged.
    pub async fn snapshot(
        &self,
        version: &str,
        chunks: u32,
        hash: &str,
    ) -> Result<Vec<u8>, StoreError> {
        let damaged = |detail: String| StoreError::Snapshot { version: version.to_owned(), detail };
        let ids: Vec<String> = (0..chunks).map(|n| chunk_id(version, n)).collect();
        let mut found = BTreeMap::new();
        for ids in ids.chunks(BATCH) {
            self.collect_chunks(ids, &mut found).await?;
        }
        if let Some(missing) = ids.iter().find(|id| !found.contains_key(*id)) {
            return Err(damaged(format!("chunk {missing} is missing")));
        }
        let bytes: Vec<u8> = ids.iter().filter_map(|id| found.remove(id)).flatten().collect();
        match sha256(&bytes) == hash {
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
        let wanted = KeysAndAttributes::builder().set_keys(Some(keys.collect()));
        let mut wanted = wanted.consistent_read(true).build().ok();
        let mut waits = WAITS.build();
        while let Some(keys) = wanted.take() {
            let get = self.client.batch_get_item().request_items(table, keys);
            let answer = get.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await;
            let answer = answer.map_err(StoreError::call("BatchGetItem", table))?;
            note_capacity(answer.consumed_capacity().first());
            let items = answer.responses.and_then(|mut tables| tables.remove(table));
            chunks.extend(items.into_iter().flatten().filter_map(chunk));
            wanted = answer.unprocessed_keys.and_then(|mut tables| tables.remove(table));
            if let Some(keys) = &wanted {
                let wait = waits.next().ok_or(StoreError::Busy { left: keys.keys().len() })?;
                tokio::time::sleep(wait).await;
            }
        }
        Ok(())
    }

    /// Writes the chunks of a snapshot; no reader sees them before [`Store::publish`].
    ///
    /// # Errors
    /// Where DynamoDB refuses a chunk.
    pub async fn write_snapshot(&self, version: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for (n, data) in (0..).zip(bytes.chunks(CHUNK_BYTES)) {
            let put = self.client.put_item().table_name(table);
            let put = put.item("id", AttributeValue::S(chunk_id(version, n)));
            let put = put.item("data", AttributeValue::B(Blob::new(data)));
            put.send().await.map_err(StoreError::call("PutItem", table))?;
        }
        Ok(())
    }

    /// Puts `manifest` in force, if `replaced` still is and `hold` has not been taken by another.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] where another import came first; nothing has changed then.
    pub async fn publish(
        &self,
        manifest: &Manifest,
        replaced: Option<&Manifest>,
        hold: &Hold,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        let mut pointer = item(table, manifest)?;
        pointer.insert("id".to_owned(), AttributeValue::S(CURRENT.to_owned()));
        let put = Put::builder().table_name(table).set_item(Some(pointer));
        let put = match replaced {
            None => put.condition_expression("attribute_not_exists(id)"),
            Some(replaced) => {
                let sequence = AttributeValue::N(replaced.sequence.to_string());
                put.condition_expression("#sequence = :replaced")
                    .expression_attribute_names("#sequence", "sequence")
                    .expression_attribute_values(":replaced", sequence)
            }
        };
        let both = [
            TransactWriteItem::builder().set_condition_check(hold.is_ours(table).ok()).build(),
            TransactWriteItem::builder().set_put(put.build().ok()).build(),
        ];
        let both = self.client.transact_write_items().set_transact_items(Some(both.into()));
        let written = both.send().await.written("TransactWriteItems", table)?;
        written.then_some(()).ok_or(StoreError::Overtaken)
    }

    /// Removes the chunks of a version that no manifest names any longer.
    ///
    /// # Errors
    /// Where DynamoDB refuses a deletion.
    pub async fn delete_snapshot(&self, version: &str, chunks: u32) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for n in 0..chunks {
            let id = AttributeValue::S(chunk_id(version, n));
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
