//! Compares every lookup item with the current snapshot, and rewrites those that differ.
//!
//! Differences are seldom faults: an import that dies or is overtaken leaves items behind, and so does a rollback.
//! Readers answer such records from memory, so nobody gets a wrong answer. They would only trust a wrong item that
//! names the right version, and this service never writes one.

use std::{collections::BTreeSet, time::Instant};

use numbering::dataset::Dataset;
use numbering::records::{RecordKey, Version};
use serde::Serialize;
use store::{
    ItemKey, ItemWrite, LookupItem, LookupTable, Newest, PassedOver, Store, StoredItem, load_newest,
};

use crate::{
    IngestError, Progress,
    options::before_deadline,
    publish::{item_writes, write_items},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The version compared with the items: the newest readable one.
    pub version: Version,
    /// Newer versions that cannot be read, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// Items read.
    pub items: usize,
    /// Items that differed before the repair.
    pub drift: Drift,
    /// Items written or deleted to remove the differences.
    pub repaired: usize,
}

/// The number of items that differ from the snapshot, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// Items with the right version and another record: readers trust them.
    pub contradicting: usize,
    /// Items of another version; readers answer from memory.
    pub outdated: usize,
    /// Items that are not as written; readers answer from memory.
    pub unreadable: usize,
    /// Records without an item; readers answer from memory.
    pub missing: usize,
    /// Items without a record; readers ignore them.
    pub stray: usize,
}

impl Drift {
    /// The total number of differing items.
    pub fn total(&self) -> usize {
        self.contradicting + self.outdated + self.unreadable + self.missing + self.stray
    }
}

/// Handling of items that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    No,
    Yes,
}

/// Compares every item with the newest readable version, which readers answer from. [`Repair::Yes`] rewrites those that
/// differ.
///
/// Items are only rewritten to match their version, so a repair is safe during an import, and if it dies.
pub async fn verify(
    store: &Store,
    repair: Repair,
    deadline: Option<Instant>,
    progress: impl Fn(Progress),
) -> Result<Verification, IngestError> {
    let manifest = store.manifest().await?.ok_or(IngestError::NothingImported)?;
    let Newest { loaded: dataset, snapshot, passed_over } = load_newest(store, &manifest).await?;
    let passed_over = passed_over.iter().map(PassedOver::line).collect();
    progress(Progress::Verifying);
    let mut comparison = ItemComparison::default();
    for table in LookupTable::ALL {
        let reading = store.for_each_item(table, |item| comparison.compare(&dataset, &item));
        before_deadline(deadline, reading).await??;
    }
    let items = comparison.items;
    let (drift, repairs) = comparison.finish(&dataset);
    let repaired = if repair == Repair::Yes { repairs.len() } else { 0 };
    if repair == Repair::Yes {
        write_items(store, repairs.into_iter(), deadline, &progress).await?;
    }
    Ok(Verification { version: snapshot.version, passed_over, items, drift, repaired })
}

/// The items compared so far.
#[derive(Default)]
struct ItemComparison {
    items: usize,
    /// Records with an item.
    found: BTreeSet<RecordKey>,
    drift: Drift,
    /// Records with differing items.
    differing: Vec<RecordKey>,
    /// Items without a record.
    stray: Vec<ItemKey>,
}

impl ItemComparison {
    fn compare(&mut self, dataset: &Dataset, item: &StoredItem) {
        self.items += 1;
        let expected = |key| {
            Some((
                key,
                LookupItem { version: dataset.last_changed(key)?, record: dataset.record_of(key)? },
            ))
        };
        let Some((key, expected)) = item.record_key.and_then(expected) else {
            self.stray.push(item.key.clone());
            return;
        };
        self.found.insert(key);
        let kind = if !item.is_whole() {
            &mut self.drift.unreadable
        } else if !item.has_version(&expected.version) {
            &mut self.drift.outdated
        } else if !item.is_same_as(&expected) {
            &mut self.drift.contradicting
        } else {
            return;
        };
        *kind += 1;
        self.differing.push(key);
    }

    /// The drift once all items are compared, and the writes that repair it.
    fn finish(self, dataset: &Dataset) -> (Drift, Vec<ItemWrite>) {
        let keys = dataset.records().map(|record| record.key());
        let missing: Vec<RecordKey> = keys.filter(|key| !self.found.contains(key)).collect();
        let drift = Drift { missing: missing.len(), stray: self.stray.len(), ..self.drift };
        let rewritten = [self.differing, missing].concat();
        let deletions = self.stray.into_iter().map(ItemWrite::Delete);
        (drift, item_writes(dataset, &rewritten).chain(deletions).collect())
    }
}
