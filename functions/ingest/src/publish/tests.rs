use numbering::records::Status;
use store::FileDates;

use super::*;
use crate::{
    changes::Changes,
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
fn two_versions() -> (Arc<Dataset>, Version, Arc<Dataset>, Version) {
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
    (before.into(), first, after.into(), second)
}

#[test]
fn items_name_the_version_that_last_changed_their_record() {
    let (before, first, after, second) = two_versions();
    let changed_keys = Changes::between(&before, &after).keys;
    let put = |key: RecordKey, version: &Version| {
        let record = after.record_of(key).unwrap();
        ItemWrite::Put(LookupItem { version: version.clone(), record })
    };
    let expected = [
        ItemWrite::Delete(exchange_key("415-201").into()),
        put(exchange_key("415-202"), &second),
        put(carrier_key("0052"), &second),
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
