//! Snapshots, stored as immutable chunks in the dataset table.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use jiff::{SignedDuration, Timestamp};
use logging::with_causes;
use numbering::records::Version;

use crate::{
    Manifest, READS_PER_BATCH, Revision, Snapshot, Store, StoreError, Table, UnreadableSnapshot,
    batch_get::BatchGet,
    item_check::Item,
    item_writes::RETRY_DELAYS,
    manifest::{CHUNK_BYTES, hash_of},
};

/// The attribute with the revision of the manifest that the version is to replace.
const REPLACES: &str = "replaces";
/// Minimum age of deleted chunks that no manifest names. An import may be about to name younger ones.
const UNNAMED_CHUNK_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Reads a snapshot and verifies its hash.
    pub async fn snapshot(&self, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
        let limit = self.timeouts.snapshot_read();
        let too_slow = |_| StoreError::SnapshotTimeout { version: snapshot.version.clone(), limit };
        let read = async {
            let read = tokio::time::timeout(limit, self.read_snapshot(snapshot)).await;
            read.map_err(too_slow)?
        };
        self.patiently(Table::Dataset, read).await
    }

    async fn read_snapshot(&self, snapshot: &Snapshot) -> Result<Vec<u8>, StoreError> {
        let Snapshot { version, chunks, hash: expected, .. } = snapshot;
        let unreadable = |reason: String| StoreError::Snapshot {
            version: version.clone(),
            source: UnreadableSnapshot(reason.into()),
        };
        let ids: Vec<String> = (0..*chunks).map(|number| chunk_id(version, number)).collect();
        let found = self.chunks(&ids).await.map_err(|error| match error {
            StoreError::Item { source, .. } => unreadable(format!(
                "the database cannot read a chunk: {}",
                with_causes(source.as_ref())
            )),
            other => other,
        })?;
        let mut bytes = Vec::new();
        for id in &ids {
            let chunk =
                found.get(id).ok_or_else(|| unreadable(format!("chunk {id} is missing")))?;
            bytes.extend_from_slice(chunk);
        }
        let actual = hash_of(&bytes);
        if actual != *expected {
            return Err(unreadable(format!("its hash is {actual} instead of {expected}")));
        }
        Ok(bytes)
    }

    /// The existing chunks with these ids. Chunks never change, so an eventually consistent read, at half the
    /// cost, finds all but the newest.
    async fn chunks(&self, ids: &[String]) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
        let mut found = BTreeMap::new();
        for is_consistent in [false, true] {
            let left: Vec<&String> = ids.iter().filter(|id| !found.contains_key(*id)).collect();
            for batch in left.chunks(READS_PER_BATCH) {
                let read = BatchGet {
                    table: &self.tables.dataset,
                    key: "id",
                    is_consistent,
                    delays: RETRY_DELAYS,
                    config: None,
                };
                let ids = batch.iter().map(|id| (*id).clone());
                found.extend(self.batch_get(read, ids).await?.into_iter().filter_map(id_and_data));
            }
        }
        Ok(found)
    }

    /// Writes a snapshot's chunks, each with the revision that its manifest is to replace. No manifest names
    /// them before [`Store::publish`].
    pub async fn write_snapshot(
        &self,
        version: &Version,
        bytes: &[u8],
        replaces: &Revision,
    ) -> Result<(), StoreError> {
        let table = &self.tables.dataset;
        for (number, data) in (0..).zip(bytes.chunks(CHUNK_BYTES)) {
            let request = self
                .client
                .put_item()
                .table_name(table)
                .item("id", AttributeValue::S(chunk_id(version, number)))
                .item(REPLACES, AttributeValue::S(replaces.to_string()))
                .item("data", AttributeValue::B(Blob::new(data)));
            request.send().await.map_err(StoreError::call("PutItem", table))?;
        }
        Ok(())
    }

    /// Deletes the items of versions that are not in the manifest, are older than a day, and can no longer be
    /// published by an import.
    ///
    /// The items are listed before the manifest is read. Each item names the revision that its version was to
    /// replace, which was current when the item was written. If it is not current after the listing, it never
    /// will be again, so the version cannot be published. No item is deleted that a manifest names or will
    /// name, whatever imports do meanwhile, however long this takes, and whatever the clocks say.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let table = self.tables.dataset.as_str();
        let listed = self.items_of_versions().await?;
        let Some(manifest) = self.manifest().await? else { return Ok(()) };
        for item in listed.iter().filter(|item| is_leftover(item, &manifest, now)) {
            let key = item.get("id").map(|id| Item::from([("id".to_owned(), id.clone())]));
            let delete = self.client.delete_item().table_name(table).set_key(key);
            delete.send().await.map_err(StoreError::call("DeleteItem", table))?;
        }
        Ok(())
    }

    /// All items in the dataset table, each with its id and the revision it was to replace.
    async fn items_of_versions(&self) -> Result<Vec<Item>, StoreError> {
        let table = self.tables.dataset.as_str();
        let scan = self
            .client
            .scan()
            .table_name(table)
            .projection_expression("id, #replaces")
            .expression_attribute_names("#replaces", REPLACES);
        scan.into_paginator()
            .items()
            .send()
            .collect::<Result<Vec<Item>, _>>()
            .await
            .map_err(StoreError::call("Scan", table))
    }
}

/// Returns `true` if no manifest names the item's version and no import can publish it.
fn is_leftover(item: &Item, manifest: &Manifest, now: Timestamp) -> bool {
    let text = |name: &str| item.get(name).and_then(|value| value.as_s().ok());
    let Some(version) = text("id").and_then(|id| Version::named(id.split_once('#')?.0)) else {
        return false;
    };
    let may_be_published =
        text(REPLACES).is_some_and(|replaces| *replaces == manifest.revision.to_string());
    manifest.snapshot(version.as_str()).is_none() && !may_be_published && is_old(&version, now)
}

fn is_old(version: &Version, now: Timestamp) -> bool {
    version.made_at().is_some_and(|made| now.duration_since(made) > UNNAMED_CHUNK_LIFETIME)
}

fn chunk_id(version: &Version, number: u32) -> String {
    format!("{version}#{number:04}")
}

/// The id and data of a chunk; `None` if either is missing, so the chunk is reported as missing.
fn id_and_data(mut item: Item) -> Option<(String, Vec<u8>)> {
    match (item.remove("id")?, item.remove("data")?) {
        (AttributeValue::S(id), AttributeValue::B(data)) => Some((id, data.into_inner())),
        _ => None,
    }
}
