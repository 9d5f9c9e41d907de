//! The older versions that an import starts from and is compared with.

use std::sync::Arc;

use logging::with_causes;
use numbering::{
    dataset::Dataset,
    records::{LAYOUT, Version},
};
use store::{DatasetError, Manifest, Snapshot, Store, load};

use crate::notes::Notes;

/// An import's baseline: the manifest to replace, and the newest readable version to compare with.
pub(crate) struct Baseline {
    /// `None` before the first import.
    pub manifest: Option<Manifest>,
    /// Empty if no version can be read.
    pub dataset: Arc<Dataset>,
    /// The snapshot that `dataset` was read from.
    pub snapshot: Option<Snapshot>,
    /// Unreadable versions, which are not retained.
    pub(super) unreadable: Vec<Version>,
}

impl Baseline {
    /// Reads the manifest and every version it lists. Skips unreadable versions with a warning.
    pub async fn load(store: &Store, notes: &mut Notes) -> Result<Self, DatasetError> {
        let manifest = store.manifest().await?;
        let mut newest = None;
        let mut unreadable = Vec::new();
        for snapshot in manifest.iter().flat_map(Manifest::snapshots) {
            match load(store, snapshot).await {
                Ok(dataset) if newest.is_none() => newest = Some((dataset, snapshot.clone())),
                Ok(_) => (),
                Err(error @ DatasetError::Unreadable { .. }) => {
                    let kind = "a version cannot be read and is skipped";
                    notes.warn(kind, with_causes(&error));
                    unreadable.push(snapshot.version.clone());
                }
                Err(error) => return Err(error),
            }
        }
        if manifest.is_some() && newest.is_none() {
            let kind = "no version can be read, so the gates had nothing to compare with";
            notes.warn(kind, format!("this release reads layout {LAYOUT}"));
        }
        let newest = match (&manifest, newest) {
            (Some(manifest), Some(older)) if older.1.version != manifest.current.version => {
                Some(rebuild_current(store, manifest, older, notes).await)
            }
            (_, newest) => newest,
        };
        let (dataset, snapshot) = newest.unzip();
        Ok(Self {
            manifest,
            dataset: dataset.map(Arc::new).unwrap_or_default(),
            snapshot,
            unreadable,
        })
    }

    /// The version to compare `next` with. `None` if no version can be read or `next` replaces the sample.
    pub(super) fn compared_with(&self, next: &Snapshot) -> Option<&Snapshot> {
        self.snapshot.as_ref().filter(|snapshot| !next.replaces_sample(snapshot))
    }

    /// The versions to compare `next` with: the newest readable one and, if different, the oldest one since changes
    /// were last confirmed, because small changes add up.
    pub async fn compared_versions(
        &self,
        store: &Store,
        next: &Snapshot,
        has_changes: bool,
    ) -> Result<Vec<(Snapshot, Arc<Dataset>)>, DatasetError> {
        let Some(newest) = self.compared_with(next) else { return Ok(Vec::new()) };
        let mut compared = vec![(newest.clone(), Arc::clone(&self.dataset))];
        let published: Vec<&Snapshot> =
            self.manifest.iter().flat_map(Manifest::snapshots).collect();
        let confirmed = published.iter().position(|snapshot| snapshot.confirmed);
        let unconfirmed = &published[..confirmed.map_or(published.len(), |index| index + 1)];
        let older = unconfirmed.iter().rev().take_while(|it| it.version != newest.version);
        for &snapshot in older.filter(|older| has_changes && !next.replaces_sample(older)) {
            match load(store, snapshot).await {
                Ok(dataset) => {
                    compared.push((snapshot.clone(), dataset.into()));
                    break;
                }
                Err(DatasetError::Unreadable { .. }) => (),
                Err(error) => return Err(error),
            }
        }
        Ok(compared)
    }

    /// The manifest, if its current version is stored intact. An import without changes can then reuse the version.
    pub fn manifest_to_reimport(&self) -> Option<&Manifest> {
        let is_intact = |manifest: &&Manifest| !self.is_unreadable(&manifest.current.version);
        self.manifest.as_ref().filter(is_intact)
    }

    /// The manifest whose history `next` continues; `None` before the first import, or if `next` replaces the sample.
    pub fn predecessor(&self, next: &Snapshot) -> Option<&Manifest> {
        self.manifest.as_ref().filter(|manifest| !next.replaces_sample(&manifest.current))
    }

    pub fn is_current(&self) -> bool {
        let compared = self.snapshot.as_ref().map(|snapshot| &snapshot.version);
        compared == self.manifest.as_ref().map(|manifest| &manifest.current.version)
    }

    pub fn is_unreadable(&self, version: &Version) -> bool {
        self.unreadable.contains(version)
    }
}

/// Rebuilds the damaged current version from an older one and the differences since, or returns the older one.
async fn rebuild_current(
    store: &Store,
    manifest: &Manifest,
    older: (Dataset, Snapshot),
    notes: &mut Notes,
) -> (Dataset, Snapshot) {
    match store.rebuild(manifest, &older.0, &older.1.version).await {
        Ok(dataset) => {
            let kind = "the current version was rebuilt from an older one and the history";
            notes.warn(kind, &manifest.current.version);
            (dataset, manifest.current.clone())
        }
        Err(error) => {
            notes.warn("the current version cannot be rebuilt", with_causes(&error));
            older
        }
    }
}
