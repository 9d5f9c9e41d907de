//! Compares every lookup item with the current snapshot, and rewrites those that differ.
//!
//! Differences are seldom faults: an import that dies or is overtaken leaves items behind, and so does a rollback.
//! Readers answer such records from memory, so nobody gets a wrong answer. They would only trust a wrong item that
//! names the right version, and this service never writes one.

use std::{collections::BTreeSet, time::Instant};

use numbering::dataset::Dataset;
use numbering::records::{Record, RecordKey, Version};
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
    let mut comparison = ItemComparison::new(&dataset);
    for table in LookupTable::ALL {
        let reading = store.for_each_item(table, |item| comparison.compare(&item));
        before_deadline(deadline, reading).await??;
    }
    let items = comparison.items;
    let (drift, repairs) = comparison.finish();
    let repaired = match repair {
        Repair::No => 0,
        Repair::Yes => {
            let count = repairs.len();
            write_items(store, repairs.into_iter(), deadline, &progress).await?;
            count
        }
    };
    Ok(Verification { version: snapshot.version, passed_over, items, drift, repaired })
}

/// The items compared so far.
struct ItemComparison<'a> {
    dataset: &'a Dataset,
    items: usize,
    /// Records with an item.
    found: BTreeSet<RecordKey>,
    drift: Drift,
    /// Records with differing items.
    differing: Vec<RecordKey>,
    /// Items without a record.
    stray: Vec<ItemKey>,
}

impl<'a> ItemComparison<'a> {
    fn new(dataset: &'a Dataset) -> Self {
        Self {
            dataset,
            items: 0,
            found: BTreeSet::new(),
            drift: Drift::default(),
            differing: Vec::new(),
            stray: Vec::new(),
        }
    }

    fn compare(&mut self, item: &StoredItem) {
        self.items += 1;
        let Some((key, expected)) = item.record_key.and_then(|key| self.expected(key)) else {
            self.drift.stray += 1;
            self.stray.push(item.key.clone());
            return;
        };
        self.found.insert(key);
        if !item.is_whole() {
            self.drift.unreadable += 1;
            self.differing.push(key);
        } else if !item.has_version(&expected.version) {
            self.drift.outdated += 1;
            self.differing.push(key);
        } else if !item.is_same_as(&expected) {
            self.drift.contradicting += 1;
            self.differing.push(key);
        }
    }

    /// The dataset's item for `key`; `None` if it has no such record.
    fn expected(&self, key: RecordKey) -> Option<(RecordKey, LookupItem<Record>)> {
        let version = self.dataset.last_changed(key)?;
        Some((key, LookupItem { version, record: self.dataset.record_of(key)? }))
    }

    /// The drift once all items are compared, and the writes that repair it.
    fn finish(mut self) -> (Drift, Vec<ItemWrite>) {
        let keys = self.dataset.records().map(|record| record.key());
        let missing: Vec<RecordKey> = keys.filter(|key| !self.found.contains(key)).collect();
        self.drift.missing = missing.len();
        let rewritten = [self.differing, missing].concat();
        let deletions = self.stray.into_iter().map(ItemWrite::Delete);
        let repairs = item_writes(self.dataset, &rewritten).chain(deletions).collect();
        (self.drift, repairs)
    }
}
