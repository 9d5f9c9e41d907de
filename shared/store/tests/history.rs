//! Tests the history against a stub for its table.

// A failed unwrap fails the test.
#![allow(clippy::unwrap_used)]

use jiff::{SignedDuration, Timestamp};
use numbering::{
    changes::RecordPair,
    dataset::Dataset,
    records::{Record, RecordKey, Version},
    time::this_second,
};
use store::{Gap, History, Manifest, Store, StoreError};
use test_api::{AppWithHistory, app_with_history, changed_dataset, small_dataset};

/// The small dataset with a different name for a carrier.
fn renamed(name: &str) -> Dataset {
    changed_dataset(|record| match record {
        Record::Carrier(it) if it.ocn.to_string() == "8821" => {
            it.common_name = Some(name.to_owned());
        }
        _ => (),
    })
}

fn key() -> RecordKey {
    RecordKey::Carrier("8821".parse().unwrap())
}

async fn three_versions() -> AppWithHistory {
    let start = this_second() - SignedDuration::from_hours(24 * 4);
    app_with_history(start, vec![small_dataset(), renamed("One"), renamed("Two")]).await
}

async fn history(store: &Store, manifest: &Manifest) -> History {
    store.history(manifest, Timestamp::now()).await.unwrap()
}

fn is_damage<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::DamagedHistory { .. }))
}

/// The carrier's common name before and after a change.
fn names(pair: &RecordPair) -> [&str; 2] {
    [&pair.before, &pair.after].map(|record| match record {
        Some(Record::Carrier(carrier)) => carrier.common_name.as_deref().unwrap(),
        other => panic!("{other:?}"),
    })
}

#[tokio::test]
async fn history_is_read_at_half_the_cost_unless_parts_are_missing() {
    let AppWithHistory { app, table, manifest, .. } = three_versions().await;
    let found = history(&app.store, &manifest).await;
    assert_eq!((found.publications().count(), found.gap()), (3, None));
    assert_eq!(table.take_calls(), ["Query"]);
    let difference = app.store.difference(&found.differences_after(0)[0]).await.unwrap();
    assert_eq!(difference.changes().count(), 1);
    assert_eq!(table.take_calls(), ["Query"]);
    let changes = app.store.changes(&found, &[(2, key()), (1, key())]).await.unwrap();
    assert!(changes.iter().map(names).eq([["One", "Two"], ["Rogers", "One"]]));
    assert_eq!(table.take_calls(), ["BatchGetItem"]);
    assert!(app.store.changes(&found, &[]).await.unwrap().is_empty());
    assert!(table.take_calls().is_empty());

    table.remove("8821", "#0000000001");
    assert!(is_damage(&app.store.changes(&found, &[(1, key())]).await));
    assert_eq!(table.take_calls(), ["BatchGetItem", "BatchGetItem, consistent"]);
    assert!(app.store.changes(&found, &[(2, key())]).await.is_ok());
    table.remove(found.publication(1).unwrap().id.as_str(), "0000");
    table.take_calls();
    assert!(is_damage(&app.store.difference(&found.differences_after(0)[0]).await));
    assert_eq!(table.take_calls(), ["Query", "Query, consistent"]);
    table.remove("publications", found.publication(1).unwrap().id.as_str());
    let damaged = history(&app.store, &manifest).await;
    assert_eq!((damaged.publications().count(), damaged.gap()), (2, Some(Gap::Damaged)));
    assert_eq!(table.take_calls(), ["Query", "Query, consistent"]);
}

#[tokio::test]
async fn the_current_version_is_rebuilt_from_an_older_one_and_the_differences() {
    let AppWithHistory { app, table, manifest, .. } = three_versions().await;
    let found = history(&app.store, &manifest).await;
    let first = found.start().version.clone();
    let base = small_dataset().into_successor(&Dataset::default(), first.clone());
    let rebuilt = app.store.rebuild(&manifest, &base, &first).await.unwrap();
    assert!(rebuilt.records().eq(renamed("Two").records()));
    // A record has the version that last changed it, so lookups use its item.
    assert_eq!(rebuilt.last_changed(key()), Some(manifest.current.version.clone()));
    let unchanged = RecordKey::Carrier("9740".parse().unwrap());
    assert_eq!(rebuilt.last_changed(unchanged), Some(first.clone()));

    let unknown = Version::new(Timestamp::UNIX_EPOCH);
    assert!(is_damage(&app.store.rebuild(&manifest, &base, &unknown).await));
    let mut other = manifest.clone();
    other.current.statistics.total_records += 1;
    assert!(is_damage(&app.store.rebuild(&other, &base, &first).await), "it is another version");
    table.remove(found.publication(1).unwrap().id.as_str(), "0000");
    assert!(is_damage(&app.store.rebuild(&manifest, &base, &first).await));
    let second = found.publication(1).unwrap().version.clone();
    assert!(app.store.rebuild(&manifest, &renamed("One"), &second).await.is_ok());
}

#[tokio::test]
async fn leftover_chunks_after_a_smaller_repair_are_ignored() {
    let AppWithHistory { app, manifest, .. } = three_versions().await;
    let found = history(&app.store, &manifest).await;
    let published = &found.differences_after(0)[0];
    let packed = app.store.packed_difference(published).await.unwrap();
    let longer = vec![0; 1_000_000];
    for packing in [&longer, &packed] {
        app.store.write_difference(published, packing).await.unwrap();
    }
    assert_eq!(app.store.packed_difference(published).await.unwrap(), packed);
}
