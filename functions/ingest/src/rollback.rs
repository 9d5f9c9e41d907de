//! Rolls back to an older version: adds the changes to the history, then replaces the manifest.

use std::{slice, sync::Arc};

use store::{Snapshot, Store, load};

use crate::{
    ImportReport, IngestError, Options, Outcome, Progress,
    changes::Changes,
    gates::Baseline,
    history::Recorder,
    notes::Notes,
    options::Clock,
    quality::{Quality, QualityReport},
};

/// Makes an older version current again and drops newer versions. Without a name, that is the newest readable version
/// before the current one.
pub async fn rollback(
    store: &Store,
    name: Option<&str>,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let clock = Clock::new(options.now);
    let mut notes = Notes::default();
    let baseline = Baseline::load(store, &mut notes).await?;
    let replaced = baseline.manifest.as_ref().ok_or(IngestError::NothingImported)?;
    let snapshot = find_target(&baseline, &replaced.retained, name)?;
    let dataset = Arc::new(load(store, snapshot).await?);
    let mut manifest = replaced
        .after_rollback_to(&snapshot.version, clock.now())
        .ok_or(IngestError::NoOlderVersion)?;
    let current = &baseline.dataset;
    let quality = QualityReport::between(Some(&Quality::new(current)), &Quality::new(&dataset));
    let changes = Changes::between(current, &dataset);
    let (outcome, current, unrecorded) = if options.dry_run {
        (Outcome::Planned, replaced, 0)
    } else {
        let recorder = Recorder { store, options, clock, progress: &progress };
        // Damage to the current version may be the reason for the rollback.
        let comparable = baseline.is_current().then_some(&changes);
        recorder.record(&mut manifest, replaced, comparable, &mut notes).await;
        progress(Progress::Publishing);
        store.publish(&manifest, &replaced.revision).await?;
        (Outcome::RolledBack, &manifest, manifest.unrecorded.len())
    };
    let version = Some(current.current.version.clone());
    let report = ImportReport::new(&manifest.current, &dataset, changes, quality, notes);
    Ok(ImportReport { outcome, version, unrecorded, ..report })
}

/// Finds the version to return to among the retained ones, newest first.
fn find_target<'m>(
    baseline: &Baseline,
    retained: &'m [Snapshot],
    name: Option<&str>,
) -> Result<&'m Snapshot, IngestError> {
    let candidates = match name {
        None => retained,
        Some(name) => {
            let named = retained.iter().find(|older| older.version == *name);
            slice::from_ref(named.ok_or_else(|| IngestError::NotRetained(name.to_owned()))?)
        }
    };
    let newest = candidates.first().ok_or(IngestError::NoOlderVersion)?;
    let readable = candidates.iter().find(|older| !baseline.is_unreadable(&older.version));
    let version = || newest.version.clone();
    readable.ok_or_else(|| IngestError::NoReadableOlderVersion { version: version() })
}
