use numbering::records::Status;
use store::{ImportedReport, ImportedReports, ReportName, SAMPLE_DATE};

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
    Snapshot::new(version.clone(), b"", statistics, ImportedReports::default(), now)
}

fn manifest(versions: &[&Version]) -> Option<Manifest> {
    versions.iter().fold(None, |manifest, version| {
        Some(Manifest::new(manifest.as_ref(), snapshot(version), |_| false))
    })
}

/// The baseline after these versions were published, oldest first.
fn baseline(versions: &[&Version], unreadable: &[&Version]) -> Baseline {
    let readable = versions.iter().rev().find(|version| !unreadable.contains(version));
    Baseline {
        manifest: manifest(versions),
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

/// Two versions. The second changes a carrier, removes an exchange and adds another.
fn two_versions() -> (Arc<Dataset>, Version, Arc<Dataset>, Version) {
    let (first, second) = (version(), version());
    let dataset = |name: &str, npa_nxx: &str| {
        let exchanges =
            ["415-200", npa_nxx].map(|npa_nxx| exchange(npa_nxx, None, "SNFC", Status::Assigned));
        let carriers = vec![carrier("0051", "Equal", 1), carrier("0052", name, 1)];
        Dataset::new(carriers, vec![area_code("415", 2)], exchanges.to_vec())
    };
    let before = dataset("Old name", "415-201").into_successor(&Dataset::default(), first.clone());
    let after = dataset("New name", "415-202").into_successor(&before, second.clone());
    (before.into(), first, after.into(), second)
}

#[test]
fn items_have_the_version_that_last_changed_their_record() {
    let (before, first, after, second) = two_versions();
    let changed_keys = Changes::between(&before, &after).keys;
    let put = |key: RecordKey, version: &Version| {
        let record = after.record(key).unwrap();
        ItemWrite::Put(LookupItem { version: version.clone(), record })
    };
    let expected = [
        ItemWrite::Delete(exchange_key("415-201").into()),
        put(exchange_key("415-202"), &second),
        put(carrier_key("0052"), &second),
    ];
    assert_eq!(item_writes(&after, &changed_keys).collect::<Vec<_>>(), expected);
    assert_eq!(Items::from_keys(&after, &changed_keys), Items { written: 2, deleted: 1 });
    let equal = [carrier_key("0051")];
    let rewritten: Vec<ItemWrite> = item_writes(&after, &equal).collect();
    assert_eq!(rewritten, [put(equal[0], &first)]);
}

#[test]
fn only_a_readable_current_version_can_be_reimported() {
    let [older, current] = [(); 2].map(|()| version());
    let readable = baseline(&[&older, &current], &[]);
    assert_eq!(readable.manifest_to_reimport().unwrap().current.version, current);
    for (versions, unreadable) in
        [(&[][..], &[][..]), (&[&current], &[&current]), (&[&older, &current], &[&current])]
    {
        assert!(baseline(versions, unreadable).manifest_to_reimport().is_none(), "{versions:?}");
    }
}

#[test]
fn unreadable_current_version_is_replaced_by_an_older_one_as_the_baseline() {
    let [older, current] = [(); 2].map(|()| version());
    for (unreadable, is_current) in [(&[][..], true), (&[&current][..], false)] {
        let baseline = baseline(&[&older, &current], unreadable);
        assert_eq!(baseline.is_current(), is_current, "{unreadable:?}");
        assert_eq!(baseline.is_unreadable(&current), !is_current);
        assert!(!baseline.is_unreadable(&older));
    }
}

#[test]
fn published_data_is_not_compared_with_the_sample_and_starts_a_history() {
    let report = ImportedReport { date: Some(SAMPLE_DATE), ..ImportedReport::default() };
    let reports = ImportedReports([(ReportName::Nanpa, report)].into());
    let sample = Snapshot { reports, ..snapshot(&version()) };
    let published = snapshot(&version());
    for (current, next, is_compared) in [
        (&sample, &published, false),
        (&sample, &sample, true),
        (&published, &published, true),
        (&published, &sample, true),
    ] {
        let baseline = Baseline {
            manifest: Some(Manifest::new(None, current.clone(), |_| false)),
            dataset: Arc::default(),
            snapshot: Some(current.clone()),
            unreadable: Vec::new(),
        };
        assert_eq!(baseline.compared_with(next).is_some(), is_compared);
        assert_eq!(baseline.predecessor(next).is_some(), is_compared);
    }
}
