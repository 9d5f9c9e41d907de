//! Rolls back to an older version: adds what it changes to the history, then replaces the manifest.

use std::sync::Arc;

use logging::with_causes;
use numbering::dataset::Dataset;
use store::{DatasetError, Manifest, NewestVersion, Snapshot, Store, first_readable, load};

use crate::{
    ImportReport, IngestError, Options, Outcome, Progress,
    changes::Changes,
    history::Addition,
    options::Clock,
    outcome::Notes,
    publish::UNREADABLE,
    quality::{Quality, QualityReport},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RollbackTarget {
    /// The newest readable version before the current one.
    NewestReadable,
    Named(String),
}

/// Makes an older version current again and drops newer ones.
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
    // An operator may be rolling back because the current version is unreadable.
    let (current_dataset, is_comparable) = match load(store, &replaced.current).await {
        Ok(dataset) => (dataset, true),
        Err(error @ DatasetError::Unreadable { .. }) => {
            let kind = "the current version cannot be read, so every record counts as added, \
                        and the history begins again";
            notes.warn(kind, with_causes(&error));
            (Dataset::default(), false)
        }
        Err(error) => return Err(error.into()),
    };
    let mut manifest = replaced
        .after_rollback_to(&snapshot.version, clock.now())
        .ok_or(IngestError::NoOlderVersion)?;
    let quality =
        QualityReport::between(Some(&Quality::new(&current_dataset)), &Quality::new(&dataset));
    let dataset = Arc::new(dataset);
    let changes = Changes::between(&Arc::new(current_dataset), &dataset);
    if is_comparable && !options.dry_run {
        let (predecessor, days) = (&replaced.publication, options.history_days);
        let addition = Addition { predecessor, changes: &changes, days };
        let publication = &mut manifest.publication;
        let written = addition.write(store, publication, clock, options.deadline, &progress).await;
        // A rollback is urgent, and correct without a history.
        if let Err(error) = written {
            let kind = "the history cannot be written and begins again";
            notes.warn(kind, with_causes(&error));
        }
    }
    let report = ImportReport::new(&manifest.current, &dataset, changes, quality, notes);
    if options.dry_run {
        return Ok(ImportReport { version: Some(replaced.current.version), ..report });
    }
    progress(Progress::Publishing);
    store.publish(&manifest, &replaced.revision).await?;
    let version = Some(manifest.current.version);
    Ok(ImportReport { outcome: Outcome::RolledBack, version, ..report })
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
