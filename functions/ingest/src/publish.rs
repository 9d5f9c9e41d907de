//! Publishing a version: the items that differ are written, then its snapshot, and the manifest is
//! replaced last, by one conditional write.
//!
//! No lock is needed. An item counts for nobody until a published dataset names the version that
//! wrote it, so whatever an import has written when it dies, stalls or is overtaken is without
//! effect; docs/decisions/0004-publishing.md has the argument.

use logging::with_causes;
use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::Timestamp;
use numbering::dataset::Dataset;
use numbering::records::{RecordKey, Version};
use store::{DatasetError, load};
use store::{ItemWrite, LookupItem, Manifest, Revision, Snapshot, Store, WRITES_PER_BATCH};

use crate::{
    IngestError, Items, Progress,
    difference::{Pair, pairs},
    quality::Quality,
    report::Notes,
    within,
};

const CALLS_AT_ONCE: usize = 8;

/// What an import starts from: the manifest it will replace, and the newest version that can be
/// read, which it is compared with.
pub(crate) struct Start {
    /// `None` before the first import.
    manifest: Option<Manifest>,
    /// Empty if there is no version that can be read.
    pub dataset: Dataset,
    /// Of `dataset`.
    pub snapshot: Option<Snapshot>,
    /// Newer versions whose snapshots are damaged.
    damaged: Vec<Version>,
}

impl Start {
    /// Reads the manifest and the newest version. A damaged snapshot must not keep imports out: it
    /// is passed over with a warning, and the version before it compared with.
    ///
    /// # Errors
    /// Returns an error if DynamoDB does not answer.
    pub async fn load(store: &Store, notes: &mut Notes) -> Result<Self, DatasetError> {
        let manifest = store.manifest().await?;
        let mut start =
            Self { manifest, dataset: Dataset::default(), snapshot: None, damaged: Vec::new() };
        let published: Vec<Snapshot> =
            start.manifest.iter().flat_map(Manifest::snapshots).cloned().collect();
        for snapshot in published {
            match load(store, &snapshot).await {
                Ok(dataset) => {
                    return Ok(Self { dataset, snapshot: Some(snapshot), ..start });
                }
                Err(error) if error.is_damage() => {
                    notes.warn("a published version cannot be read and is passed over", error);
                    start.damaged.push(snapshot.version);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(start)
    }

    /// The name of the current version, if there is one.
    pub fn version(&self) -> Option<Version> {
        self.manifest.as_ref().map(|manifest| manifest.current.version.clone())
    }

    /// The manifest, if its current version is the one that was read.
    pub fn manifest_of_dataset(&self) -> Option<&Manifest> {
        self.manifest.as_ref().filter(|_| self.damaged.is_empty())
    }

    /// The manifest that makes `snapshot` follow, without the versions that cannot be read.
    pub fn followed_by(&self, snapshot: Snapshot) -> Manifest {
        let readable = |version: &Version| !self.damaged.contains(version);
        Manifest::following(self.manifest.as_ref(), snapshot, readable)
    }
}

/// The version to be published.
pub(crate) struct Candidate<'a> {
    pub manifest: Manifest,
    pub dataset: &'a Dataset,
    /// Its snapshot.
    pub bytes: Vec<u8>,
    /// Kept with it.
    pub quality: &'a Quality,
}

/// Publishes `next` after what the import started from.
///
/// # Errors
/// Returns an error if another import or rollback came first, DynamoDB refuses, or time runs out.
/// The version that was current still is.
pub(crate) async fn publish(
    store: &Store,
    start: &Start,
    next: Candidate<'_>,
    deadline: Option<Instant>,
    progress: &impl Fn(Progress),
) -> Result<Items, IngestError> {
    let replaced = match &start.manifest {
        Some(manifest) => manifest.revision.clone(),
        None => store.first_revision().await?,
    };
    let changed: Vec<RecordKey> =
        pairs(&start.dataset, next.dataset).filter(Pair::differs).map(|pair| pair.key).collect();
    let deleted = changed.iter().filter(|&&key| next.dataset.last_changed(key).is_none()).count();
    let written = changed.len() - deleted;
    let writes = changed.into_iter().map(|key| write_of(next.dataset, key));
    write_all(store, writes, deadline, progress).await?;

    progress(Progress::Publishing);
    let version = &next.manifest.current.version;
    let chunks = store.write_snapshot(version, &next.bytes, &replaced);
    within(deadline, chunks).await??;
    within(deadline, store.put_quality(version, next.quality, &replaced)).await??;
    store.publish(&next.manifest, &replaced).await?;
    Ok(Items { written, deleted })
}

/// What makes the item of `key` as `dataset` has the record.
pub(crate) fn write_of(dataset: &Dataset, key: RecordKey) -> ItemWrite {
    match (dataset.last_changed(key), dataset.record_of(key)) {
        (Some(version), Some(record)) => {
            ItemWrite::Put(LookupItem { version: version.clone(), record })
        }
        _ => ItemWrite::Delete(key.into()),
    }
}

/// Makes all of `writes`, several batches at once.
///
/// # Errors
/// Returns an error if DynamoDB refuses, or time runs out. Some may have been made then.
pub(crate) async fn write_all(
    store: &Store,
    writes: impl ExactSizeIterator<Item = ItemWrite>,
    deadline: Option<Instant>,
    progress: &impl Fn(Progress),
) -> Result<(), IngestError> {
    progress(Progress::Planned(writes.len()));
    let batches = stream::iter(writes).chunks(WRITES_PER_BATCH);
    let calls = batches
        .map(async |batch| store.write(&batch).await.map(|()| batch.len()))
        .buffer_unordered(CALLS_AT_ONCE);
    let mut calls = std::pin::pin!(calls);
    while let Some(count) = within(deadline, calls.try_next()).await?? {
        progress(Progress::Written(count));
    }
    Ok(())
}

/// Deletes what no version needs. What cannot be deleted now is left to the next import.
pub(crate) async fn sweep(store: &Store, now: Timestamp) {
    if let Err(error) = store.sweep(now).await {
        tracing::warn!(
            error = with_causes(&error),
            "chunks of old versions are left to the next import"
        );
    }
}

/// Replaces the manifest without touching any item.
///
/// # Errors
/// Returns an error if another import or rollback came first, or DynamoDB refuses.
pub(crate) async fn replace_manifest(
    store: &Store,
    manifest: &Manifest,
    replaced: &Revision,
    progress: &impl Fn(Progress),
) -> Result<(), IngestError> {
    progress(Progress::Publishing);
    Ok(store.publish(manifest, replaced).await?)
}
