//! Compares the history with the manifest, and restores what is missing or damaged from what is stored elsewhere.
//!
//! A publication is stored twice, and lists the keys that it changed. Each change is also stored twice: in the publication's
//! difference and as an item.

use std::{
    collections::{BTreeSet, HashMap},
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
    Gap, History, HistoryItem, ItemWrite, Manifest, PublishedDifference, Store, StoreError,
};

use crate::{
    IngestError, Progress,
    item_writes::write_items,
    options::{Repair, before_deadline},
};

/// The result of comparing the history with the manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct HistoryVerification {
    /// The number of publications, including the one that the history begins with.
    pub publications: usize,
    /// The number of changes that they made.
    pub changes: usize,
    pub drift: HistoryDrift,
    /// The number of publications whose changes the next import adds.
    pub unrecorded: usize,
    /// Parts that cannot be restored, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

/// The parts of the history that are missing or damaged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct HistoryDrift {
    /// Publications without an intact item or copy.
    pub publications: usize,
    pub differences: usize,
    pub changes: usize,
}

impl HistoryDrift {
    pub fn total(&self) -> usize {
        self.publications + self.differences + self.changes
    }
}

/// Compares the history with the manifest, and optionally restores what is missing or damaged. Safe during an import: items
/// never change.
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
    let mut verifier = Verifier { store, repair, found: HistoryVerification::default() };
    let history = History::new(manifest, items, Timestamp::now());
    if history.gap() == Some(Gap::Damaged) {
        verifier.found.drift.publications += 1;
        let id = &history.start().id;
        let lost =
            format!("neither the item nor the copy of publication {id} can be read, and all");
        verifier.found.lost.push(lost + " before it are lost");
    }
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
    repair: Repair,
    found: HistoryVerification,
}

impl Verifier<'_> {
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
            Ok(difference) => difference,
            Err(error @ StoreError::DamagedHistory { .. }) => {
                self.found.drift.differences += 1;
                if missing.is_empty() {
                    self.restore_difference(history, published).await?;
                } else {
                    self.found.lost.push(with_causes(&error));
                }
                return Ok(Vec::new());
            }
            Err(error) => return Err(error.into()),
        };
        if !is_intact && self.repair == Repair::Yes {
            self.store.write_difference(published, &difference.pack()?).await?;
        }
        let is_missing = |pair: &RecordPair| missing.contains(&pair.key);
        let writes = difference.changes().filter(is_missing).map(|pair| {
            let publication = publication.clone();
            ItemWrite::AddChange(HistoryItem { publication, pair })
        });
        Ok(writes.collect())
    }

    /// Restores a damaged difference from its changes.
    async fn restore_difference(
        &self,
        history: &History,
        published: &PublishedDifference,
    ) -> Result<(), IngestError> {
        let PublishedDifference { publication, predecessor, keys, .. } = published;
        let position = history.position_of(&publication.id);
        if let Some(position) = position.filter(|_| self.repair == Repair::Yes) {
            let wanted: Vec<_> = keys.iter().map(|(key, _)| (position, key)).collect();
            let changes = self.store.changes(history, &wanted).await?;
            let packed = Difference::from_changes(&changes).pack()?;
            let (publication, predecessor) = (publication.clone(), predecessor.clone());
            let restored =
                PublishedDifference::new(publication, predecessor, keys.clone(), &packed);
            self.store.write_difference(&restored, &packed).await?;
        }
        Ok(())
    }
}
