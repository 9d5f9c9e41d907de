//! Publishes a version: writes the changed items and the snapshot, then replaces the manifest with a conditional write.
//!
//! No lock is needed: readers ignore an item until a published dataset names the version that wrote it. So an import
//! that crashes, stalls or is overtaken has no effect; see docs/decisions/0004-publishing.md.

use jiff::Timestamp;
use logging::with_causes;
use store::{Manifest, Store};

use crate::{
    IngestError, Items, Options, Progress,
    changes::Changes,
    gates::Baseline,
    history::Recorder,
    item_writes::{item_writes, write_items},
    notes::Notes,
    options::before_deadline,
};

/// Publishes a version, with its history if that can be written. `changes` are the changes since the baseline.
pub(crate) async fn publish<P: Fn(Progress)>(
    baseline: &Baseline,
    recorder: &Recorder<'_, P>,
    manifest: &mut Manifest,
    bytes: &[u8],
    changes: &Changes,
    notes: &mut Notes,
) -> Result<Items, IngestError> {
    let Recorder { store, options: Options { deadline, .. }, progress, .. } = *recorder;
    let replaced = match &baseline.manifest {
        Some(manifest) => manifest.revision.clone(),
        None => store.initialize_manifest().await?,
    };
    let Changes { after: dataset, keys, .. } = changes;
    let items = Items::from_keys(dataset, keys);
    write_items(store, "Writing", item_writes(dataset, keys), deadline, progress).await?;
    let version = &manifest.current.version;
    before_deadline(deadline, store.write_snapshot(version, bytes, &replaced)).await??;
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

/// Deletes chunks that no version needs. Only logs a failure, because the next import will retry.
pub(crate) async fn sweep(store: &Store, now: Timestamp) {
    if let Err(error) = store.sweep(now).await {
        tracing::warn!(
            error = with_causes(&error),
            "cannot delete old chunks; the next import will retry"
        );
    }
}
