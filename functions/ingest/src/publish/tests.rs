use std::{
    cell::RefCell,
    future::{pending, ready},
};

use numbering::records::{Record, Status};
use store::FileDates;

use super::*;
use crate::{
    changes::Comparison,
    quality::tests::{area_code, carrier, exchange},
};

fn version() -> Version {
    Version::new(Timestamp::UNIX_EPOCH)
}

fn snapshot(version: &Version) -> Snapshot {
    let statistics = Dataset::default().statistics();
    let now = Timestamp::UNIX_EPOCH;
    Snapshot::of(version.clone(), b"", statistics, FileDates::default(), now)
}

/// A manifest of these versions, the oldest first.
fn manifest_of(versions: &[&Version]) -> Option<Manifest> {
    versions.iter().fold(None, |manifest, version| {
        Some(Manifest::following(manifest.as_ref(), snapshot(version), |_| false))
    })
}

/// What an import starts from after these versions, the oldest first.
fn baseline(versions: &[&Version], unreadable: &[&Version]) -> Baseline {
    let readable = versions.iter().rev().find(|version| !unreadable.contains(version));
    Baseline {
        manifest: manifest_of(versions),
        dataset: Dataset::default(),
        snapshot: readable.map(|version| snapshot(version)),
        unreadable: unreadable.iter().copied().cloned().collect(),
    }
}

/// The manifest that the next version gets, as its current version and the retained ones.
fn following(baseline: &Baseline, next: &Version) -> Vec<Version> {
    let manifest = baseline.manifest_followed_by(snapshot(next));
    manifest.snapshots().map(|snapshot| snapshot.version.clone()).collect()
}

fn carrier_key(ocn: &str) -> RecordKey {
    RecordKey::Carrier(ocn.parse().unwrap())
}

fn exchange_key(npa_nxx: &str) -> RecordKey {
    RecordKey::Exchange(npa_nxx.parse().unwrap())
}

/// A version and the one that follows it: a carrier changes, an exchange is removed and another is
/// added, and all other records stay equal.
fn two_versions() -> (Dataset, Version, Dataset, Version) {
    let (first, second) = (version(), version());
    let before = Dataset::new(
        vec![carrier("0051", "Equal", 1), carrier("0052", "Old name", 1)],
        vec![area_code("415", 2)],
        vec![
            exchange("415-200", None, "SNFC", Status::Assigned),
            exchange("415-201", None, "SNFC", Status::Assigned),
        ],
    );
    let after = Dataset::new(
        vec![carrier("0051", "Equal", 1), carrier("0052", "New name", 1)],
        vec![area_code("415", 2)],
        vec![
            exchange("415-200", None, "SNFC", Status::Assigned),
            exchange("415-202", None, "SNFC", Status::Assigned),
        ],
    );
    let before = before.following(&Dataset::default(), first.clone());
    let after = after.following(&before, second.clone());
    (before, first, after, second)
}

/// The deletions of so many items, which are as good as any other writes.
fn deletions(count: usize) -> Vec<ItemWrite> {
    let keys = (0..count).map(|n| carrier_key(&format!("{n:04}")));
    keys.map(|key| ItemWrite::Delete(key.into())).collect()
}

#[test]
fn only_the_items_of_records_that_differ_are_written() {
    let (before, _, after, second) = two_versions();
    let changed_keys = Comparison::between(&before, &after).changed_keys;
    let writes: Vec<ItemWrite> = item_writes(&after, &changed_keys).collect();
    let put = |key: RecordKey| {
        let record = after.record_of(key).unwrap();
        ItemWrite::Put(LookupItem { version: second.clone(), record })
    };
    let expected = [
        put(carrier_key("0052")),
        ItemWrite::Delete(exchange_key("415-201").into()),
        put(exchange_key("415-202")),
    ];
    assert_eq!(writes, expected);
    assert_eq!(Items::to_write(&after, &changed_keys), Items { written: 2, deleted: 1 });
    let ItemWrite::Put(LookupItem { record: Record::Carrier(written), .. }) = &writes[0] else {
        panic!("{writes:?}");
    };
    assert_eq!(*written, carrier("0052", "New name", 1));
}

#[test]
fn an_item_names_the_version_that_last_changed_its_record() {
    let (_, first, after, second) = two_versions();
    let keys = [carrier_key("0051"), carrier_key("0052")];
    let versions: Vec<Version> = item_writes(&after, &keys)
        .map(|write| match write {
            ItemWrite::Put(item) => item.version,
            ItemWrite::Delete(key) => panic!("{key:?}"),
        })
        .collect();
    assert_eq!(versions, [first, second]);
}

#[test]
fn the_first_version_follows_none() {
    let empty = baseline(&[], &[]);
    let first = version();
    assert_eq!(following(&empty, &first), [first]);
    assert_eq!(empty.current_version(), None);
    assert!(empty.manifest_to_reimport().is_none());
}

#[test]
fn a_version_follows_the_current_one_and_three_are_retained() {
    let [oldest, second, third, fourth, next] = [(); 5].map(|()| version());
    let started = baseline(&[&oldest, &second, &third, &fourth], &[]);
    assert_eq!(started.current_version(), Some(fourth.clone()));
    assert_eq!(following(&started, &next), [next, fourth, third, second]);
}

#[test]
fn an_unreadable_version_is_not_retained_and_makes_room_for_an_older_one() {
    let [oldest, second, third, fourth, next] = [(); 5].map(|()| version());
    let started = baseline(&[&oldest, &second, &third, &fourth], &[&fourth]);
    assert_eq!(started.current_version(), Some(fourth));
    assert_eq!(following(&started, &next), [next, third, second, oldest]);
}

#[test]
fn files_are_imported_again_only_into_a_version_that_can_be_read() {
    let current = version();
    let readable = baseline(&[&current], &[]);
    let to_reimport = readable.manifest_to_reimport().unwrap();
    assert_eq!(to_reimport.current.version, current);
    let unreadable = baseline(&[&current], &[&current]);
    assert!(unreadable.manifest_to_reimport().is_none());
}

/// The batches in which so many writes are made, and the steps of progress.
async fn batches_of(count: usize) -> (Vec<Vec<ItemWrite>>, Vec<Progress>) {
    let batches = RefCell::new(Vec::new());
    let steps = RefCell::new(Vec::new());
    let write_batch = |batch| {
        batches.borrow_mut().push(batch);
        ready(Ok(()))
    };
    let progress = |step| steps.borrow_mut().push(step);
    write_in_batches(deletions(count).into_iter(), write_batch, None, &progress).await.unwrap();
    (batches.into_inner(), steps.into_inner())
}

#[tokio::test]
async fn each_write_is_made_once_in_batches_that_dynamodb_takes() {
    let (batches, progress) = batches_of(60).await;
    let sizes: Vec<usize> = batches.iter().map(Vec::len).collect();
    assert_eq!(sizes, [WRITES_PER_BATCH, WRITES_PER_BATCH, 10]);
    assert_eq!(batches.concat(), deletions(60));
    let written = [WRITES_PER_BATCH, WRITES_PER_BATCH, 10].map(Progress::Written);
    assert_eq!(progress, [&[Progress::Planned(60)], &written[..]].concat());
    assert_eq!(batches_of(0).await, (Vec::new(), vec![Progress::Planned(0)]));
}

#[tokio::test]
async fn a_refused_batch_ends_the_writing() {
    let calls = RefCell::new(0);
    let write_batch = |batch: Vec<ItemWrite>| {
        *calls.borrow_mut() += 1;
        ready(Err(StoreError::Busy { operation: "BatchWriteItem", left: batch.len() }))
    };
    let writes = deletions(100 * WRITES_PER_BATCH);
    let error = write_in_batches(writes.into_iter(), write_batch, None, &|_| ()).await.unwrap_err();
    assert!(
        matches!(error, IngestError::Store(StoreError::Busy { left: WRITES_PER_BATCH, .. })),
        "{error}"
    );
    assert!(*calls.borrow() <= 2 * CONCURRENT_BATCHES, "{calls:?}");
}

#[tokio::test]
async fn no_more_batches_than_allowed_are_under_way_at_once() {
    let (under_way, most) = (RefCell::new(0_usize), RefCell::new(0));
    let write_batch = async |_: Vec<ItemWrite>| {
        let count = *under_way.borrow() + 1;
        under_way.replace(count);
        most.replace_with(|most| count.max(*most));
        tokio::task::yield_now().await;
        *under_way.borrow_mut() -= 1;
        Ok(())
    };
    write_in_batches(deletions(30 * WRITES_PER_BATCH).into_iter(), write_batch, None, &|_| ())
        .await
        .unwrap();
    assert_eq!(*most.borrow(), CONCURRENT_BATCHES);
}

#[tokio::test]
async fn writing_ends_when_time_runs_out() {
    let write_batch = |_| pending();
    let deadline = Some(Instant::now());
    let error = write_in_batches(deletions(1).into_iter(), write_batch, deadline, &|_| ())
        .await
        .unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
}
