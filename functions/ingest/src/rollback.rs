//! Rolls back to an older version: adds the changes to the history, then replaces the manifest.

use std::sync::Arc;

use logging::with_causes;
use numbering::dataset::Dataset;
use store::{DatasetError, Manifest, NewestVersion, Snapshot, Store, first_readable, load};

use crate::{
    ImportReport, IngestError, Options, Outcome, Progress,
    changes::Changes,
    gates::UNREADABLE,
    history::Recorder,
    notes::Notes,
    options::Clock,
    quality::{Quality, QualityReport},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The newest readable version before the current one.
    NewestReadable,
    Named(String),
}

/// Makes an older version current again and drops newer versions.
pub async fn rollback(
    store: &Store,
    target: &RollbackTarget,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let clock = Clock::new(options.now);
    let replaced = store.manifest().await?.ok_or(IngestError::NothingImported)?;
    let mut notes = Notes::default();
    let NewestVersion { loaded: dataset, snapshot, skipped } =
        load_target(store, &replaced, target).await?;
    for unreadable in &skipped {
        notes.warn(UNREADABLE, unreadable.line());
    }
    let mut manifest = replaced
        .after_rollback_to(&snapshot.version, clock.now())
        .ok_or(IngestError::NoOlderVersion)?;
    let current = current_dataset(store, &replaced, (&dataset, &snapshot), &mut notes).await?;
    let is_comparable = current.is_some();
    let current = Arc::new(current.unwrap_or_default());
    let quality = QualityReport::between(Some(&Quality::new(&current)), &Quality::new(&dataset));
    let dataset = Arc::new(dataset);
    let changes = Changes::between(&current, &dataset);
    let (outcome, current, unrecorded) = if options.dry_run {
        (Outcome::Planned, &replaced, 0)
    } else {
        let recorder = Recorder { store, options, clock, progress: &progress };
        let comparable = is_comparable.then_some(&changes);
        recorder.record(&mut manifest, &replaced, comparable, &mut notes).await;
        progress(Progress::Publishing);
        store.publish(&manifest, &replaced.revision).await?;
        (Outcome::RolledBack, &manifest, manifest.unrecorded.len())
    };
    let version = Some(current.current.version.clone());
    let report = ImportReport::new(&manifest.current, &dataset, changes, quality, notes);
    Ok(ImportReport { outcome, version, unrecorded, ..report })
}

/// The current version. If it is damaged, rebuilds it from the rollback's target; `None` if that fails as well, because
/// the damage may be the reason for the rollback.
async fn current_dataset(
    store: &Store,
    manifest: &Manifest,
    (target, snapshot): (&Dataset, &Snapshot),
    notes: &mut Notes,
) -> Result<Option<Dataset>, IngestError> {
    let error = match load(store, &manifest.current).await {
        Err(error @ DatasetError::Unreadable { .. }) => error,
        loaded => return Ok(Some(loaded?)),
    };
    let rebuilt = store.rebuild(manifest, target, &snapshot.version).await;
    if rebuilt.is_err() {
        let kind = "the current version cannot be read, so every record counts as added";
        notes.warn(kind, with_causes(&error));
    }
    Ok(rebuilt.ok())
}

async fn load_target(
    store: &Store,
    manifest: &Manifest,
    target: &RollbackTarget,
) -> Result<NewestVersion<Dataset>, IngestError> {
    let candidates: Vec<&Snapshot> = match target {
        RollbackTarget::NewestReadable => manifest.retained.iter().collect(),
        RollbackTarget::Named(name) => {
            let named = manifest.retained.iter().find(|older| older.version == **name);
            vec![named.ok_or_else(|| IngestError::NotRetained(name.clone()))?]
        }
    };
    let load = |snapshot| async move { load(store, &snapshot).await };
    first_readable(candidates.into_iter(), load).await.map_err(|error| match error {
        DatasetError::Empty => IngestError::NoOlderVersion,
        DatasetError::NoneReadable { version, source } => {
            IngestError::NoReadableOlderVersion { version, source }
        }
        other => other.into(),
    })
}
