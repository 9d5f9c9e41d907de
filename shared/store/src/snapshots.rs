//! Snapshots, stored as immutable chunks in the dataset table and loaded into memory as versions of the data.

use std::{collections::BTreeMap, sync::Arc};

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use jiff::{SignedDuration, Timestamp};
use logging::with_causes;
use numbering::{dataset::Dataset, records::Version};

use crate::{
    Cause, Manifest, READS_PER_BATCH, Revision, Snapshot, Store, StoreError, Table,
    batches::RETRY_DELAYS,
    checksum::{Item, primary_key, text},
    manifest::{CHUNK_BYTES, Piece, snapshot_hash},
};

/// The attribute with the manifest revision that the version's import will replace.
const REPLACES: &str = "replaces";
/// The age at which a chunk may be deleted if no manifest lists its version. An import in progress may still
/// publish newer ones.
const MIN_ORPHAN_AGE: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Reads a snapshot and verifies its hash.
    pub async fn snapshot(&self, snapshot: &Snapshot) -> Result<Vec<u8>, DatasetError> {
        self.piece(&snapshot.piece()).await
    }

    /// Reads a stored piece and verifies its hash.
    pub(crate) async fn piece(&self, piece: &Piece) -> Result<Vec<u8>, DatasetError> {
        let Piece { version, chunks, hash: expected } = piece;
        let unreadable = |reason: String| DatasetError::unreadable(version)(reason);
        let ids: Vec<String> = (0..*chunks).map(|index| chunk_id(version, index)).collect();
        let limit = self.timeouts.snapshot_read();
        let read = async {
            let chunks = tokio::time::timeout(limit, self.chunks(&ids)).await;
            chunks.map_err(|_| StoreError::SnapshotTimeout { version: version.clone(), limit })?
        };
        let found =
            self.read_patiently(Table::Dataset, read).await.map_err(|error| match error {
                StoreError::Item { source, .. } => unreadable(format!(
                    "the database cannot read a chunk: {}",
                    with_causes(source.as_ref())
                )),
                other => other.into(),
            })?;
        let mut bytes = Vec::new();
        for id in &ids {
            let chunk =
                found.get(id).ok_or_else(|| unreadable(format!("chunk {id} is missing")))?;
            bytes.extend_from_slice(chunk);
        }
        let actual = snapshot_hash(&bytes);
        if actual != *expected {
            return Err(unreadable(format!("its hash is {actual}, expected {expected}")));
        }
        Ok(bytes)
    }

    /// Reads the existing chunks with these ids. Chunks never change, so an eventually consistent read, at half
    /// the cost, finds all but the newest.
    async fn chunks(&self, ids: &[String]) -> Result<BTreeMap<String, Vec<u8>>, StoreError> {
        let mut found = BTreeMap::new();
        for is_consistent in [false, true] {
            let left: Vec<&String> = ids.iter().filter(|id| !found.contains_key(*id)).collect();
            for batch in left.chunks(READS_PER_BATCH) {
                let keys = batch.iter().map(|id| primary_key([("id", (*id).clone())]));
                let keys = keys.collect();
                let items =
                    self.batch_get(Table::Dataset, is_consistent, RETRY_DELAYS, keys).await?;
                found.extend(items.into_iter().filter_map(into_id_and_data));
            }
        }
        Ok(found)
    }

    /// Writes the chunks of a snapshot or country, each with the manifest revision that its import will replace. No manifest lists the
    /// version before [`Store::publish`].
    pub async fn write_snapshot(
        &self,
        version: &Version,
        bytes: &[u8],
        replaces: &Revision,
    ) -> Result<(), StoreError> {
        for (index, data) in (0..).zip(bytes.chunks(CHUNK_BYTES)) {
            let item = [
                ("id", AttributeValue::S(chunk_id(version, index))),
                (REPLACES, AttributeValue::S(replaces.to_string())),
                ("data", AttributeValue::B(Blob::new(data))),
            ];
            let item = item.map(|(name, value)| (name.to_owned(), value)).into();
            self.put(Table::Dataset, item).await?;
        }
        Ok(())
    }

    /// Deletes the chunks of versions that are older than a day, are not needed by the manifest, and can no longer be
    /// published.
    ///
    /// The chunks are listed before the manifest is read. Each chunk states the manifest revision that its import
    /// replaces, which was current when the chunk was written. Revisions never repeat. So if a different one is current
    /// after the listing, the version can no longer be published. This is safe even with concurrent imports and clock
    /// skew.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let listed = self.list_items().await?;
        let Some(manifest) = self.manifest().await? else { return Ok(()) };
        for item in listed.iter().filter(|item| is_orphaned(item, &manifest, now)) {
            self.delete(Table::Dataset, text(item, "id").unwrap_or_default()).await?;
        }
        Ok(())
    }

    /// Lists the items in the dataset table with their `id` and `replaces` attributes.
    async fn list_items(&self) -> Result<Vec<Item>, StoreError> {
        let table = self.tables.name(Table::Dataset);
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

/// Returns `true` if the manifest does not list the item's version, and no import can publish it.
fn is_orphaned(item: &Item, manifest: &Manifest, now: Timestamp) -> bool {
    let Some(version) = text(item, "id").and_then(|id| Version::parse(id.split_once('#')?.0))
    else {
        return false;
    };
    let may_be_published =
        text(item, REPLACES).is_some_and(|replaces| *replaces == manifest.revision.to_string());
    let is_old = version.created_at().is_some_and(|made| now.duration_since(made) > MIN_ORPHAN_AGE);
    !manifest.needs(&version) && !may_be_published && is_old
}

fn chunk_id(version: &Version, index: u32) -> String {
    format!("{version}#{index:04}")
}

/// Takes the id and data out of a chunk. A chunk that lacks either counts as missing.
fn into_id_and_data(mut item: Item) -> Option<(String, Vec<u8>)> {
    match (item.remove("id")?, item.remove("data")?) {
        (AttributeValue::S(id), AttributeValue::B(data)) => Some((id, data.into_inner())),
        _ => None,
    }
}

/// A version of the data in memory. A request uses the same one for all lists and lookups.
#[derive(Debug, Clone)]
pub struct LoadedVersion {
    pub version: Version,
    pub dataset: Arc<Dataset>,
}

#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    #[error("nothing has been imported yet")]
    Empty,
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The version is damaged, or in an unsupported layout.
    #[error("version {version} cannot be read")]
    Unreadable { version: Version, source: Cause },
    /// Every version is unreadable. Contains the newest one.
    #[error(
        "no version can be read, including the newest one, {version}; 'tnr import --fetch' imports the \
         published reports again"
    )]
    NoneReadable { version: Version, source: Cause },
    #[error("no version was readable a few seconds ago")]
    StillUnreadable,
}

impl DatasetError {
    /// Returns a `map_err` function that wraps the reason why a version is unreadable.
    pub(crate) fn unreadable<E: Into<Cause>>(version: &Version) -> impl FnOnce(E) -> Self {
        |reason| Self::Unreadable { version: version.clone(), source: reason.into() }
    }

    /// Returns `true` if the manifest or every version in it is unreadable.
    pub fn affects_every_version(&self) -> bool {
        let is_manifest_unreadable = matches!(self, Self::Store(StoreError::Manifest { .. }));
        is_manifest_unreadable || matches!(self, Self::NoneReadable { .. } | Self::StillUnreadable)
    }
}

/// An unreadable version that was skipped in favor of an older one.
#[derive(Debug)]
pub struct SkippedVersion {
    pub version: Version,
    pub reason: Cause,
}

impl SkippedVersion {
    /// Describes the version and why it is unreadable.
    pub fn line(&self) -> String {
        format!("version {} cannot be read: {}", self.version, with_causes(self.reason.as_ref()))
    }
}

/// The newest readable version, and any newer versions that are unreadable.
#[derive(Debug)]
pub struct NewestVersion<T> {
    pub loaded: T,
    pub snapshot: Snapshot,
    /// Newest first.
    pub skipped: Vec<SkippedVersion>,
}

/// Loads the newest readable version in `manifest`; see [`first_readable`].
pub async fn load_newest(
    store: &Store,
    manifest: &Manifest,
) -> Result<NewestVersion<Dataset>, DatasetError> {
    first_readable(manifest.snapshots(), |snapshot| async move { load(store, &snapshot).await })
        .await
}

/// Returns the first of `snapshots` that `load` can read. They must be ordered newest first. If all are unreadable,
/// returns [`DatasetError::NoneReadable`].
pub async fn first_readable<'a, T, L: Future<Output = Result<T, DatasetError>>>(
    snapshots: impl Iterator<Item = &'a Snapshot>,
    load: impl Fn(Snapshot) -> L,
) -> Result<NewestVersion<T>, DatasetError> {
    let mut skipped = Vec::new();
    for snapshot in snapshots {
        match load(snapshot.clone()).await {
            Ok(loaded) => {
                return Ok(NewestVersion { loaded, snapshot: snapshot.clone(), skipped });
            }
            Err(DatasetError::Unreadable { version, source: reason }) => {
                skipped.push(SkippedVersion { version, reason });
            }
            Err(error) => return Err(error),
        }
    }
    let newest = skipped.into_iter().next().ok_or(DatasetError::Empty)?;
    Err(DatasetError::NoneReadable { version: newest.version, source: newest.reason })
}

/// Loads a version.
pub async fn load(store: &Store, snapshot: &Snapshot) -> Result<Dataset, DatasetError> {
    let bytes = store.snapshot(snapshot).await?;
    Dataset::unpack(&bytes).map_err(DatasetError::unreadable(&snapshot.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_chunks_that_cannot_be_published_are_orphaned() {
        let start = Timestamp::UNIX_EPOCH;
        let [current, unpublished] = [(); 2].map(|()| Version::new(start));
        let snapshot = Snapshot::of(&Dataset::default(), current.clone(), start);
        let manifest = Manifest::new(None, snapshot, |_| false);
        let (replaced, other) = (manifest.revision.to_string(), "another revision".to_owned());
        let [id, current_id] = [unpublished, current].map(|version| chunk_id(&version, 0));
        for (id, replaces, age, expected) in [
            (&id, &other, 25, true),
            (&id, &other, 24, false),
            (&id, &replaced, 25, false),
            (&current_id, &other, 25, false),
            (&"manifest".to_owned(), &other, 25, false),
        ] {
            let attributes = [("id", id), (REPLACES, replaces)];
            let item = attributes
                .map(|(name, text)| (name.to_owned(), AttributeValue::S(text.clone())))
                .into();
            let now = start + SignedDuration::from_hours(age);
            assert_eq!(is_orphaned(&item, &manifest, now), expected, "{id} {replaces} {age}");
        }
    }
}
