//! Snapshots as immutable chunks in the table of datasets.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity},
};
use backon::BackoffBuilder;
use jiff::{SignedDuration, Timestamp};
use numbering::records::Version;

use crate::{
    DamagedChunks, Manifest, Revision, Snapshot, Store, StoreError, capacity,
    client::Item,
    item_writes::WAITS,
    manifest::{CHUNK_BYTES, sha256},
};

/// Most keys one BatchGetItem takes.
const MOST_KEYS: usize = 100;
/// The attribute of a version's items that holds the revision its manifest will replace.
pub(crate) const REPLACES: &str = "replaces";
/// How long chunks that nobody names are left alone: an import may be about to name them.
const UNNAMED_CHUNKS_ARE_KEPT_FOR: SignedDuration = SignedDuration::from_hours(24);

/// How consistent a read is. DynamoDB charges half for one that may miss the last second's writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consistency {
    Eventual,
    Strong,
}

impl Store {
    /// The bytes of a snapshot, whole and checked against their hash.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer in time, or a chunk is missing or damaged.
    pub async fn snapshot(&self, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
        let limit = self.timeouts.snapshot_read();
        let read = tokio::time::timeout(limit, self.read_snapshot(snapshot)).await;
        read.map_err(|_| StoreError::SnapshotTimeout { version: snapshot.version.clone(), limit })?
    }

    async fn read_snapshot(&self, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
        let Snapshot { version, chunks, sha256: hash, .. } = snapshot;
        let damaged = |source| StoreError::Snapshot { version: version.clone(), source };
        let ids: Vec<String> = (0..*chunks).map(|n| chunk_id(version, n)).collect();
        // Chunks never change, so a cheap read is as good, but for one that was written just now.
        let mut found = self.chunks(&ids, Consistency::Eventual).await?;
        let late: Vec<String> = ids.iter().filter(|id| !found.contains_key(*id)).cloned().collect();
        if !late.is_empty() {
            found.extend(self.chunks(&late, Consistency::Strong).await?);
        }
        let mut bytes = Vec::new();
        for id in &ids {
            let chunk = found.get(id);
            let chunk = chunk.ok_or_else(|| damaged(DamagedChunks::Missing(id.clone())))?;
            bytes.extend_from_slice(chunk);
        }
        let actual = sha256(&bytes);
        if actual != *hash {
            return Err(damaged(DamagedChunks::Hash { actual, expected: hash.clone() }));
        }
        Ok(bytes)
    }

    /// The chunks of these ids that are there.
    async fn chunks(
        &self,
        ids: &[String],
        consistency: Consistency,
    ) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
        let mut found = BTreeMap::new();
        for batch in ids.chunks(MOST_KEYS) {
            found.extend(self.batch_of_chunks(batch, consistency).await?);
        }
        Ok(found)
    }

    async fn batch_of_chunks(
        &self,
        ids: &[String],
        consistency: Consistency,
    ) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let table = &self.tables.dataset;
        let mut request =
            KeysAndAttributes::builder().consistent_read(consistency == Consistency::Strong);
        for id in ids {
            request = request.keys(Item::from([("id".to_owned(), AttributeValue::S(id.clone()))]));
        }
        let keys = request.build().map_err(StoreError::unbuildable("BatchGetItem", table))?;
        let (mut found, mut wanted) = (Vec::new(), Some(keys));
        let mut waits = WAITS.build();
        while let Some(keys) = wanted {
            let request = self
                .client
                .batch_get_item()
                .request_items(table, keys)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let answer = request.send().await.map_err(StoreError::call("BatchGetItem", table))?;
            capacity::count(answer.consumed_capacity().first());
            let items = answer.responses.and_then(|mut tables| tables.remove(table));
            found.extend(items.into_iter().flatten().filter_map(chunk));
            wanted = answer.unprocessed_keys.and_then(|mut tables| tables.remove(table));
            if let Some(keys) = &wanted {
                let wait = waits.next().ok_or(StoreError::Busy { left: keys.keys().len() })?;
                tokio::time::sleep(wait).await;
            }
        }
        Ok(found)
    }

    /// Writes the chunks of a snapshot, noting the revision that its manifest will replace. Nothing
    /// names the chunks before [`Store::publish`].
    ///
    /// # Errors
    /// Returns an error if DynamoDB refuses a chunk.
    pub async fn write_snapshot(
        &self,
        version: &Version,
        bytes: &[u8],
        replaces: &Revision,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for (n, data) in (0..).zip(bytes.chunks(CHUNK_BYTES)) {
            let request = self
                .client
                .put_item()
                .table_name(table)
                .item("id", AttributeValue::S(chunk_id(version, n)))
                .item(REPLACES, AttributeValue::S(replaces.to_string()))
                .item("data", AttributeValue::B(Blob::new(data)));
            request.send().await.map_err(StoreError::call("PutItem", table))?;
        }
        Ok(())
    }

    /// Deletes what belongs to versions that the manifest does not name, that are a day old, and
    /// that no import can publish any more.
    ///
    /// The order matters: each chunk that is listed notes the revision its manifest was to replace,
    /// which had been current before. If it is not the current one afterwards, it never will be
    /// again. So nothing that a manifest names, or may come to name, is deleted, whatever goes on
    /// meanwhile, however long this takes, and whatever the clocks say.
    ///
    /// # Errors
    /// Returns an error if DynamoDB refuses. What is left is for a later import.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let table = self.tables.dataset.as_str();
        let listed = self.items_of_versions().await?;
        let Some(manifest) = self.manifest().await? else { return Ok(()) };
        for item in listed.iter().filter(|item| is_leftover(item, &manifest, now)) {
            let id = item.get("id").cloned();
            let delete = self
                .client
                .delete_item()
                .table_name(table)
                .set_key(id.map(|id| Item::from([("id".to_owned(), id)])));
            delete.send().await.map_err(StoreError::call("DeleteItem", table))?;
        }
        Ok(())
    }

    /// The ids of all items of the table of datasets, and what their manifests were to replace.
    async fn items_of_versions(&self) -> Result<Vec<Item>, StoreError> {
        let table = self.tables.dataset.as_str();
        let scan = self
            .client
            .scan()
            .table_name(table)
            .projection_expression("id, #replaces")
            .expression_attribute_names("#replaces", REPLACES);
        let found: Result<Vec<Item>, _> = scan.into_paginator().items().send().collect().await;
        found.map_err(StoreError::call("Scan", table))
    }
}

/// Whether an item belongs to a version that nobody needs and nobody can publish.
fn is_leftover(item: &Item, manifest: &Manifest, now: Timestamp) -> bool {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok());
    let version = text("id").and_then(|id| Version::named(id.split_once('#')?.0));
    let Some(version) = version else { return false };
    let may_be_published =
        text(REPLACES).is_some_and(|replaces| *replaces == manifest.revision.to_string());
    manifest.snapshot(version.as_str()).is_none() && !may_be_published && is_old(&version, now)
}

fn is_old(version: &Version, now: Timestamp) -> bool {
    version.made_at().is_some_and(|made| now.duration_since(made) > UNNAMED_CHUNKS_ARE_KEPT_FOR)
}

fn chunk_id(version: &Version, n: u32) -> String {
    format!("{version}#{n:04}")
}

fn chunk(mut item: Item) -> Option<(String, Vec<u8>)> {
    match (item.remove("id")?, item.remove("data")?) {
        (AttributeValue::S(id), AttributeValue::B(data)) => Some((id, data.into_inner())),
        _ => None,
    }
}
