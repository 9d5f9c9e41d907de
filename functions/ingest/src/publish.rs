//! Publishes a version: writes the changed items and the snapshot, then replaces the manifest with a conditional write.
//!
//! No lock is needed: readers ignore an item until a published dataset names the version that wrote it. An import that
//! dies, stalls or is overtaken therefore has no effect; see docs/decisions/0004-publishing.md.

use jiff::Timestamp;
use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::RecordKey;
use store::{Manifest, Store};

use crate::{
    IngestError, Items, Progress,
    changes::Changes,
    gates::Baseline,
    history::Recorder,
    item_writes::{item_writes, write_items},
    notes::Notes,
    options::before_deadline,
};

pub(crate) struct Candidate<'a> {
    pub manifest: &'a mut Manifest,
    pub dataset: &'a Dataset,
    pub changed_keys: &'a [RecordKey],
    pub bytes: Vec<u8>,
    /// The changes since the version that it replaces.
    pub changes: &'a Changes,
}

/// Publishes a version with its history, or without if that cannot be written.
pub(crate) async fn publish<P: Fn(Progress)>(
    baseline: &Baseline,
    candidate: Candidate<'_>,
    recorder: &Recorder<'_, P>,
    notes: &mut Notes,
) -> Result<Items, IngestError> {
    let Candidate { manifest, dataset, changed_keys, bytes, changes } = candidate;
    let Recorder { store, deadline, progress, .. } = *recorder;
    let replaced = match &baseline.manifest {
        Some(manifest) => manifest.revision.clone(),
        None => store.first_revision().await?,
    };
    let items = Items::from_keys(dataset, changed_keys);
    write_items(store, "Writing", item_writes(dataset, changed_keys), deadline, progress).await?;
    let version = &manifest.current.version;
    before_deadline(deadline, store.write_snapshot(version, &bytes, &replaced)).await??;
    if let Some(replaced) = baseline.predecessor(&manifest.current) {
        let changes = baseline.is_current().then_some(changes);
        recorder.record(manifest, replaced, changes, notes).await;
    } else {
        manifest.publication.at = recorder.clock.now();
    }
    progress(Progress::Publishing);
    store.publish(manifest, &replaced).await?;
    Ok(items)
}

/// Deletes chunks that no version needs. A failure is only logged, since the next import will try again.
pub(crate) async fn sweep(store: &Store, now: Timestamp) {
    if let Err(error) = store.sweep(now).await {
        tracing::warn!(
            error = with_causes(&error),
            "cannot delete old chunks; the next import will try again"
        );
    }
}
