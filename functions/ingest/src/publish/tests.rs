use std::{
    cell::RefCell,
    future::{pending, ready},
};

use numbering::records::Status;
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
    Snapshot::new(version.clone(), b"", statistics, FileDates::default(), now)
}

/// A manifest of these versions, oldest first.
fn manifest_of(versions: &[&Version]) -> Option<Manifest> {
    versions.iter().fold(None, |manifest, version| {
        Some(Manifest::following(manifest.as_ref(), snapshot(version), |_| false))
    })
}

/// The baseline after these versions, oldest first.
fn baseline(versions: &[&Version], unreadable: &[&Version]) -> Baseline {
    let readable = versions.iter().rev().find(|version| !unreadable.contains(version));
    Baseline {
        manifest: manifest_of(versions),
        dataset: Arc::default(),
        snapshot: readable.map(|version| snapshot(version)),
        unreadable: unreadable.iter().copied().cloned().collect(),
    }
}

fn carrier_key(ocn: &str) -> RecordKey {
    RecordKey::Carrier(ocn.parse().unwrap())
}

fn exchange_key(npa_nxx: &str) -> RecordKey {
    RecordKey::Exchange(npa_nxx.parse().unwrap())
}

/// A version and its successor: one carrier changes, one exchange is removed and another added. All other records are
/// equal.
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

/// This many deletions, as arbitrary writes.
fn deletions(count: usize) -> Vec<ItemWrite> {
    let keys = (0..count).map(|n| carrier_key(&format!("{n:04}")));
    keys.map(|key| ItemWrite::Delete(key.into())).collect()
}

#[test]
fn items_name_the_version_that_last_changed_their_record() {
    let (before, first, after, second) = two_versions();
    let changed_keys = Comparison::between(&before, &after).changed_keys;
    let put = |key: RecordKey, version: &Version| {
        let record = after.record_of(key).unwrap();
        ItemWrite::Put(LookupItem { version: version.clone(), record })
    };
    let expected = [
        put(carrier_key("0052"), &second),
        ItemWrite::Delete(exchange_key("415-201").into()),
        put(exchange_key("415-202"), &second),
    ];
    assert_eq!(item_writes(&after, &changed_keys).collect::<Vec<_>>(), expected);
    assert_eq!(Items::to_write(&after, &changed_keys), Items { written: 2, deleted: 1 });
    let equal = [carrier_key("0051")];
    let rewritten: Vec<ItemWrite> = item_writes(&after, &equal).collect();
    assert_eq!(rewritten, [put(equal[0], &first)]);
}

#[test]
fn files_are_reimported_only_into_a_readable_version() {
    let [older, current] = [(); 2].map(|()| version());
    let readable = baseline(&[&older, &current], &[]);
    assert_eq!(readable.manifest_to_reimport().unwrap().current.version, current);
    for (versions, unreadable) in
        [(&[][..], &[][..]), (&[&current], &[&current]), (&[&older, &current], &[&current])]
    {
        assert!(baseline(versions, unreadable).manifest_to_reimport().is_none(), "{versions:?}");
    }
}

/// The batches for this many writes, and the progress steps.
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
async fn each_write_is_made_once_in_batches_dynamodb_accepts() {
    let (batches, progress) = batches_of(60).await;
    let sizes: Vec<usize> = batches.iter().map(Vec::len).collect();
    assert_eq!(sizes, [WRITES_PER_BATCH, WRITES_PER_BATCH, 10]);
    assert_eq!(batches.concat(), deletions(60));
    let written = [WRITES_PER_BATCH, WRITES_PER_BATCH, 10].map(Progress::Written);
    assert_eq!(progress, [&[Progress::Planned(60)], &written[..]].concat());
    assert_eq!(batches_of(0).await, (Vec::new(), vec![Progress::Planned(0)]));
}

#[tokio::test]
async fn refused_batch_ends_the_writing() {
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
async fn concurrent_batches_are_limited() {
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
