//! Compares the history with the manifest, and restores missing or damaged parts from data stored elsewhere.
//!
//! A publication is stored twice, and lists the keys that it changed. Each change is also stored twice: in the
//! publication's difference and as an item. The retained snapshots show the differences between them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Instant,
};

use jiff::Timestamp;
use logging::with_causes;
use numbering::{
    changes::{Difference, RecordPair},
    records::{RecordKey, Version},
};
use serde::Serialize;
use store::{
    Gap, History, ItemWrite, Manifest, Publication, PublishedDifference, Store, StoreError, load,
};

use crate::{
    IngestError, Progress,
    changes::Changes,
    item_writes::write_items,
    options::{Repair, before_deadline},
};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HistoryVerification {
    /// The number of publications, including the first one in the history.
    pub publications: usize,
    /// The number of changes in these publications.
    pub changes: usize,
    pub drift: HistoryDrift,
    /// The number of publications whose changes the next import will add.
    pub unrecorded: usize,
    /// Parts that cannot be restored, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HistoryDrift {
    /// Publications without an intact item or copy.
    pub publications: usize,
    pub differences: usize,
    pub changes: usize,
}

impl HistoryDrift {
    pub fn total(&self) -> usize {
        let Self { publications, differences, changes } = self;
        publications + differences + changes
    }
}

/// Compares the history with the manifest, and optionally restores missing or damaged parts. Safe during an import,
/// because items never change.
pub(crate) async fn verify_history<P: Fn(Progress)>(
    store: &Store,
    manifest: &Manifest,
    repair: Repair,
    deadline: Option<Instant>,
    progress: &P,
) -> Result<HistoryVerification, IngestError> {
    let [mut items, copies] = store.stored_publications().await?;
    let intact: [BTreeSet<Version>; 2] =
        [&items, &copies].map(|stored| stored.iter().map(|it| it.publication.id.clone()).collect());
    items.extend(copies);
    let mut verifier = Verifier { store, manifest, repair, found: HistoryVerification::default() };
    let history = verifier.follow(items).await?;
    verifier.found.publications = history.publications().count();
    verifier.found.unrecorded = manifest.unrecorded.len();
    let mut intact_changes: HashMap<Version, BTreeSet<RecordKey>> = HashMap::new();
    let scan = store
        .for_each_intact_change(|id, key| _ = intact_changes.entry(id).or_default().insert(key));
    before_deadline(deadline, scan).await??;
    let mut writes = Vec::new();
    for published in history.differences_after(0) {
        let id = &published.publication.id;
        let is_intact = intact.iter().all(|intact| intact.contains(id));
        let stored = intact_changes.remove(id).unwrap_or_default();
        let work = verifier.verify_publication(&history, published, is_intact, &stored);
        writes.extend(before_deadline(deadline, work).await??);
    }
    if repair == Repair::Yes {
        write_items(store, "Writing the history", writes.into_iter(), deadline, progress).await?;
    }
    Ok(verifier.found)
}

struct Verifier<'a> {
    store: &'a Store,
    manifest: &'a Manifest,
    repair: Repair,
    found: HistoryVerification,
}

impl Verifier<'_> {
    /// Follows the history through all stored publications. Restores lost ones from retained versions where possible.
    async fn follow(
        &mut self,
        mut stored: Vec<PublishedDifference>,
    ) -> Result<History, IngestError> {
        loop {
            let history = History::new(self.manifest, stored.clone(), Timestamp::now());
            if history.gap() != Some(Gap::Damaged) {
                return Ok(history);
            }
            let Some(restored) = self.restore_publication(history.start(), &stored).await? else {
                self.found.drift.publications += 1;
                let Publication { id, .. } = history.start();
                let lost = "neither the item nor the copy of publication";
                self.found
                    .lost
                    .push(format!("{lost} {id} can be read, and all before it are lost"));
                return Ok(history);
            };
            stored.push(restored);
        }
    }

    /// Compares a publication's items. Returns the writes that restore its changes.
    async fn verify_publication(
        &mut self,
        history: &History,
        published: &PublishedDifference,
        is_intact: bool,
        intact_changes: &BTreeSet<RecordKey>,
    ) -> Result<Vec<ItemWrite>, IngestError> {
        let PublishedDifference { publication, keys, .. } = published;
        self.found.changes += keys.len();
        self.found.drift.publications += usize::from(!is_intact);
        let missing: BTreeSet<RecordKey> =
            keys.iter().map(|(key, _)| key).filter(|key| !intact_changes.contains(key)).collect();
        self.found.drift.changes += missing.len();
        let difference = match self.store.difference(published).await {
            Ok(difference) => {
                if !is_intact && self.repair == Repair::Yes {
                    self.store.write_difference(published, &difference.pack()?).await?;
                }
                Some(difference)
            }
            Err(error @ StoreError::DamagedHistory { .. }) => {
                self.found.drift.differences += 1;
                let restored = self.restore_difference(history, published, &missing).await?;
                if restored.is_none() {
                    self.found.lost.push(with_causes(&error));
                }
                restored
            }
            Err(error) => return Err(error.into()),
        };
        let Some(difference) = difference else { return Ok(Vec::new()) };
        let is_missing = |pair: &RecordPair| missing.contains(&pair.key);
        let missing = difference.changes().filter(is_missing);
        Ok(missing.map(|pair| ItemWrite::AddChange(publication.clone(), pair)).collect())
    }

    /// Restores a damaged difference from its changes, or otherwise from the retained versions.
    async fn restore_difference(
        &self,
        history: &History,
        published: &PublishedDifference,
        missing: &BTreeSet<RecordKey>,
    ) -> Result<Option<Difference>, IngestError> {
        let PublishedDifference { publication, predecessor, keys, .. } = published;
        let position = history.position_of(&publication.id);
        let difference = if let Some(position) = position.filter(|_| missing.is_empty()) {
            let wanted: Vec<_> = keys.iter().map(|(key, _)| (position, key)).collect();
            Some(Difference::new(&self.store.changes(history, &wanted).await?))
        } else {
            self.snapshot_difference(predecessor, publication).await?
        };
        let Some(difference) = difference else { return Ok(None) };
        self.write(publication, predecessor, &difference).await?;
        Ok(Some(difference))
    }

    /// Restores a lost publication from the retained versions, if exactly one stored publication can precede it.
    async fn restore_publication(
        &self,
        publication: &Publication,
        stored: &[PublishedDifference],
    ) -> Result<Option<PublishedDifference>, IngestError> {
        let known = stored.iter().flat_map(|it| [&it.publication, &it.predecessor]);
        let before: BTreeSet<&Version> = known
            .clone()
            .filter(|it| it.number + 1 == publication.number)
            .map(|it| &it.id)
            .collect();
        let mut before = before.into_iter();
        let (Some(id), None) = (before.next(), before.next()) else { return Ok(None) };
        let Some(predecessor) = known.into_iter().find(|it| it.id == *id) else { return Ok(None) };
        let difference = self.snapshot_difference(predecessor, publication).await?;
        let Some(difference) = difference else { return Ok(None) };
        self.write(publication, predecessor, &difference).await.map(Some)
    }

    async fn write(
        &self,
        publication: &Publication,
        predecessor: &Publication,
        difference: &Difference,
    ) -> Result<PublishedDifference, IngestError> {
        let (published, packed) = PublishedDifference::pack(publication, predecessor, difference)?;
        if self.repair == Repair::Yes {
            self.store.write_difference(&published, &packed).await?;
        }
        Ok(published)
    }

    /// The difference between two publications whose versions are retained and intact.
    async fn snapshot_difference(
        &self,
        before: &Publication,
        after: &Publication,
    ) -> Result<Option<Difference>, IngestError> {
        let mut datasets = Vec::new();
        for version in [&before.version, &after.version] {
            let Some(snapshot) = self.manifest.snapshot(version.as_str()) else { return Ok(None) };
            let Ok(dataset) = load(self.store, snapshot).await else { return Ok(None) };
            datasets.push(Arc::new(dataset));
        }
        Ok(Some(Changes::between(&datasets[0], &datasets[1]).difference()))
    }
}
