//! Compares every lookup item with the current snapshot, and rewrites items that differ. Then checks the history.
//!
//! Differences are rarely bugs: imports that crash or are overtaken leave items behind, and so do rollbacks. Responses
//! remain correct, because readers then use the record in memory. They trust a wrong item only if its version is right.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::{RecordKey, Version};
use serde::Serialize;
use store::{
    DatasetError, ItemKey, ItemWrite, LookupItem, Manifest, NewestVersion, SkippedVersion, Store,
    StoredItem, Table, load_newest,
};

use crate::{
    IngestError, Progress,
    item_writes::{item_writes, write_items},
    options::{Repair, before_deadline},
    verify_history::{HistoryVerification, verify_history},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The version that items are compared with: the newest readable one.
    pub version: Version,
    /// Newer versions that are unreadable, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    pub items: usize,
    pub drift: Drift,
    pub repaired: usize,
    pub history: HistoryVerification,
    /// Other countries whose ranges are unreadable, with the reasons. Only an import replaces them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unreadable_countries: BTreeMap<String, String>,
}

impl Verification {
    /// The number of items that differ from the current version, plus missing or damaged parts of the history, plus
    /// countries with unreadable ranges.
    pub fn total_drift(&self) -> usize {
        self.drift.total() + self.history.drift.total() + self.unreadable_countries.len()
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// Items with the right version but a different record. Readers trust them.
    pub contradicting: usize,
    /// Items with a different version. Readers use the record in memory.
    pub outdated: usize,
    /// Damaged items. Readers use the record in memory.
    pub unreadable: usize,
    /// Records without an item. Readers use the record in memory.
    pub missing: usize,
    /// Items without a record. Readers ignore them.
    pub stray: usize,
}

impl Drift {
    pub fn total(&self) -> usize {
        let Self { contradicting, outdated, unreadable, missing, stray } = self;
        contradicting + outdated + unreadable + missing + stray
    }
}

/// Compares every item with the newest readable version, and optionally rewrites those that differ.
///
/// A repair is safe during an import and can be interrupted: it only makes items match their version.
pub async fn verify(
    store: &Store,
    repair: Repair,
    deadline: Option<Instant>,
    progress: impl Fn(Progress),
) -> Result<Verification, IngestError> {
    let manifest = store.manifest().await?.ok_or(IngestError::NothingImported)?;
    let NewestVersion { loaded: dataset, snapshot, skipped } =
        load_newest(store, &manifest).await?;
    let skipped = skipped.iter().map(SkippedVersion::line).collect();
    progress(Progress::Verifying);
    let mut comparison = ItemComparison::default();
    for table in Table::LOOKUPS {
        let reading = store.for_each_item(table, |item| comparison.compare(&dataset, &item));
        before_deadline(deadline, reading).await??;
    }
    let items = comparison.items;
    let (drift, repairs) = comparison.finish(&dataset);
    let repaired = if repair == Repair::Yes { repairs.len() } else { 0 };
    if repair == Repair::Yes {
        write_items(store, "Writing", repairs.into_iter(), deadline, &progress).await?;
    }
    let history = verify_history(store, &manifest, repair, deadline, &progress).await?;
    let unreadable_countries = unreadable_countries(store, &manifest).await?;
    let version = snapshot.version;
    Ok(Verification { version, skipped, items, drift, repaired, history, unreadable_countries })
}

/// Reads the ranges of every country. Returns the countries whose ranges are unreadable, with the reasons.
pub async fn unreadable_countries(
    store: &Store,
    manifest: &Manifest,
) -> Result<BTreeMap<String, String>, DatasetError> {
    let mut unreadable = BTreeMap::new();
    for (code, data) in &manifest.countries.0 {
        match store.country(code, data).await {
            Ok(_) => (),
            Err(DatasetError::Unreadable { source, .. }) => {
                unreadable.insert(code.clone(), with_causes(source.as_ref()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(unreadable)
}

#[derive(Default)]
struct ItemComparison {
    items: usize,
    found: BTreeSet<RecordKey>,
    drift: Drift,
    differing: Vec<RecordKey>,
    stray: Vec<ItemKey>,
}

impl ItemComparison {
    fn compare(&mut self, dataset: &Dataset, item: &StoredItem) {
        self.items += 1;
        let expected = item.record_key.and_then(|key| {
            let (version, record) = (dataset.last_changed(key)?, dataset.record(key)?);
            Some((key, LookupItem { version, record }))
        });
        let Some((key, expected)) = expected else {
            self.stray.push(item.key.clone());
            return;
        };
        self.found.insert(key);
        let kind = if !item.is_intact() {
            &mut self.drift.unreadable
        } else if !item.has_version(&expected.version) {
            &mut self.drift.outdated
        } else if !item.matches(&expected) {
            &mut self.drift.contradicting
        } else {
            return;
        };
        *kind += 1;
        self.differing.push(key);
    }

    /// Returns the drift and the writes that repair it, once all items have been compared.
    fn finish(self, dataset: &Dataset) -> (Drift, Vec<ItemWrite>) {
        let keys = dataset.records().map(|record| record.key());
        let missing: Vec<RecordKey> = keys.filter(|key| !self.found.contains(key)).collect();
        let drift = Drift { missing: missing.len(), stray: self.stray.len(), ..self.drift };
        let rewritten = [self.differing, missing].concat();
        let deletions = self.stray.into_iter().map(ItemWrite::Delete);
        (drift, item_writes(dataset, &rewritten).chain(deletions).collect())
    }
}
