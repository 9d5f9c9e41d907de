//! A version put in force: only the items that differ are written, and the manifest is flipped last.
//!
//! An item keeps what it held before, so lookups answer from the version in force until the flip,
//! and go on to if this process dies. The hold says what was begun; the next import makes good every
//! item that a dead one may have written.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, TryStreamExt, stream};
use shared::{
    dataset::{Dataset, DatasetError, load, load_version},
    records::RecordKey,
    store::{BATCH, Begun, Change, Manifest, Snapshot, Store, StoreError},
};

use crate::{
    IngestError, Items, Progress,
    difference::{Pair, pairs},
    hold::Held,
    within,
};

const CALLS_AT_ONCE: usize = 8;

/// The version in force.
pub(crate) struct Current {
    pub manifest: Option<Manifest>,
    /// Empty before the first import.
    pub dataset: Dataset,
}

impl Current {
    pub async fn load(store: &Store) -> Result<Self, DatasetError> {
        let manifest = store.manifest().await?;
        let dataset = match &manifest {
            Some(manifest) => load(store, manifest).await?,
            None => Dataset::default(),
        };
        Ok(Self { manifest, dataset })
    }

    fn sequence(&self) -> u64 {
        self.manifest.as_ref().map_or(0, |manifest| manifest.sequence)
    }

    fn has(&self, version: &str) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.current.version == version)
    }
}

/// The version to be put in force.
pub(crate) struct Next<'a> {
    pub manifest: Manifest,
    pub dataset: &'a Dataset,
    /// Its snapshot, where that has to be written first.
    pub bytes: Option<Vec<u8>>,
    /// Snapshots the manifest no longer names.
    pub dropped: Vec<Snapshot>,
}

impl Next<'_> {
    fn version(&self) -> &str {
        &self.manifest.current.version
    }

    /// What may be left over if this process dies.
    fn begun(&self, current: &Current) -> Vec<Begun> {
        let begun = |snapshot: &Snapshot| Begun {
            version: snapshot.version.clone(),
            chunks: snapshot.chunks,
            sha256: snapshot.sha256.clone(),
            items: false,
        };
        let new = [&self.manifest.current].into_iter().filter(|new| !current.has(&new.version));
        new.chain(&self.dropped).map(begun).collect()
    }
}

/// How long an import may take and how it holds the data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub deadline: Option<Instant>,
    pub hold_lasts: Duration,
    pub take_over: bool,
}

/// Puts `next` in force after `current`.
///
/// # Errors
/// Where another import goes on or came first, DynamoDB refuses, or time runs out. What was in
/// force still is, and the next import completes.
pub(crate) async fn publish(
    store: &Store,
    current: &Current,
    next: Next<'_>,
    limits: Limits,
    progress: &impl Fn(Progress),
) -> Result<Items, IngestError> {
    let begun = next.begun(current);
    let (held, inherited) = Held::take(store, begun, limits, progress).await?;
    let run = Run { store, current, next: &next, held: &held, limits, progress };
    let (items, removed) = match run.publish(&inherited).await {
        Ok(published) => published,
        Err(error) => {
            held.abandon().await;
            return Err(error);
        }
    };
    // the version is in force: what cannot be cleaned up now is left to the next import
    if let Err(error) = run.clean_up(&removed).await {
        tracing::warn!(%error, "the next import has to clean up");
        held.abandon().await;
    } else if let Err(error) = held.end().await {
        tracing::warn!(%error, "the next import has to wait until the hold ends");
    }
    Ok(items)
}

/// The one import that may write.
struct Run<'a, P> {
    store: &'a Store,
    current: &'a Current,
    next: &'a Next<'a>,
    held: &'a Held,
    limits: Limits,
    progress: &'a P,
}

impl<P: Fn(Progress)> Run<'_, P> {
    /// Writes what differs and flips the manifest; gives what is to be removed after that.
    async fn publish(&self, inherited: &[Begun]) -> Result<(Items, Vec<RecordKey>), IngestError> {
        let (store, current, next) = (self.store, self.current, self.next);
        if store.manifest().await? != current.manifest {
            return Err(StoreError::Overtaken.into());
        }
        let suspects = suspects(store, current, inherited).await?;
        if let Some(bytes) = &next.bytes {
            store.write_snapshot(next.version(), bytes).await?;
        }
        self.held.begin_items(next.version()).await?;

        let (mut written, mut removed) = (0, Vec::new());
        for change in changes(current, next, &suspects) {
            match change.record {
                Some(_) => written += 1,
                None => removed.push(change.key),
            }
        }
        (self.progress)(Progress::Planned(written + 2 * removed.len()));
        self.write(changes(current, next, &suspects)).await?;

        (self.progress)(Progress::Publishing);
        let hold = self.held.hold().await;
        store.publish(&next.manifest, current.manifest.as_ref(), &hold).await?;
        Ok((Items { written, deleted: removed.len() }, removed))
    }

    /// Removes the items and snapshots that no version has any longer.
    async fn clean_up(&self, removed: &[RecordKey]) -> Result<(), IngestError> {
        let since = self.next.manifest.sequence;
        let gone = removed.iter().map(|&key| Change { key, since, record: None, before: None });
        self.write(gone).await?;
        let begun = self.held.hold().await.snapshots.clone();
        for begun in begun {
            if !self.next.manifest.names(&begun.version) {
                self.store.delete_snapshot(&begun.version, begun.chunks).await?;
            }
        }
        Ok(())
    }

    async fn write(&self, mut changes: impl Iterator<Item = Change>) -> Result<(), IngestError> {
        let batches = std::iter::from_fn(|| {
            let batch: Vec<Change> = changes.by_ref().take(BATCH).collect();
            (!batch.is_empty()).then_some(batch)
        });
        let (store, held) = (self.store, self.held);
        let calls = stream::iter(batches)
            .map(async |batch| store.write(&batch, || held.is_safe()).await.map(|()| batch.len()))
            .buffer_unordered(CALLS_AT_ONCE);
        let mut calls = std::pin::pin!(calls);
        while let Some(count) = within(self.limits.deadline, calls.try_next()).await?? {
            (self.progress)(Progress::Written(count));
        }
        Ok(())
    }
}

/// What has to be written so that every item tells what is in force now and what will be next.
fn changes<'a>(
    current: &'a Current,
    next: &'a Next<'a>,
    suspects: &'a BTreeSet<RecordKey>,
) -> impl Iterator<Item = Change> + use<'a> {
    let (now, then) = (current.sequence(), next.manifest.sequence);
    let change = move |Pair { key, before, after }: Pair| match before == after {
        false => Some(Change { key, since: then, record: after, before }),
        true if suspects.contains(&key) => {
            Some(Change { key, since: now, record: after, before: None })
        }
        true => None,
    };
    let in_neither = suspects
        .iter()
        .filter(|&&key| !current.dataset.contains(key) && !next.dataset.contains(key));
    let gone = move |&key: &RecordKey| Change { key, since: now, record: None, before: None };
    pairs(&current.dataset, next.dataset).filter_map(change).chain(in_neither.map(gone))
}

/// The records whose items an import that died may have written.
async fn suspects(
    store: &Store,
    current: &Current,
    inherited: &[Begun],
) -> Result<BTreeSet<RecordKey>, DatasetError> {
    let mut suspects = BTreeSet::new();
    match inherited.iter().any(|begun| current.has(&begun.version)) {
        false => {
            for begun in inherited.iter().filter(|begun| begun.items) {
                let begun =
                    load_version(store, &begun.version, begun.chunks, &begun.sha256).await?;
                let touched = pairs(&current.dataset, &begun).filter(Pair::differs);
                suspects.extend(touched.map(|pair| pair.key));
            }
        }
        // it died after the flip: what it removed may still have items
        true => {
            let retained = current.manifest.iter().flat_map(|manifest| manifest.retained.first());
            let retained = retained.map(|old| (&old.version, old.chunks, &old.sha256));
            let begun = inherited.iter().filter(|begun| !current.has(&begun.version));
            let begun = begun.map(|old| (&old.version, old.chunks, &old.sha256));
            for (version, chunks, sha256) in retained.chain(begun) {
                // one that is damaged or gone had its turn: chunks are deleted after items
                if let Ok(old) = load_version(store, version, chunks, sha256).await {
                    let keys = old.records().map(|record| record.key());
                    suspects.extend(keys.filter(|&key| !current.dataset.contains(key)));
                }
            }
        }
    }
    Ok(suspects)
}
