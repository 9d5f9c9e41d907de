use numbering::dataset::Dataset;

use super::*;

/// A snapshot of a new version.
fn snapshot() -> Snapshot {
    let now = Timestamp::UNIX_EPOCH;
    let statistics = Dataset::default().statistics();
    Snapshot::new(Version::new(now), b"snapshot", statistics, FileDates::default(), now)
}

/// The manifest after publishing these snapshots, oldest first.
fn manifest_of(snapshots: &[Snapshot]) -> Manifest {
    let published = snapshots.iter().fold(None, |manifest, snapshot| {
        Some(Manifest::following(manifest.as_ref(), snapshot.clone(), |_| false))
    });
    published.unwrap()
}

fn assert_names<const N: usize>(manifest: &Manifest, expected: [&Snapshot; N]) {
    let found: Vec<&Version> = manifest.snapshots().map(|snapshot| &snapshot.version).collect();
    assert_eq!(found, expected.map(|snapshot| &snapshot.version));
}

#[test]
fn three_older_versions_are_retained() {
    let all = [(); 6].map(|()| snapshot());
    assert_names(&manifest_of(&all), [&all[5], &all[4], &all[3], &all[2]]);
}

#[test]
fn unreadable_versions_are_not_retained_and_make_room_for_older_ones() {
    let all = [(); 5].map(|()| snapshot());
    let manifest = manifest_of(&all[..4]);
    let unreadable = |version: &Version| *version == all[2].version;
    let next = Manifest::following(Some(&manifest), all[4].clone(), unreadable);
    assert_names(&next, [&all[4], &all[3], &all[1], &all[0]]);
    let again = manifest.reimported(Timestamp::UNIX_EPOCH, FileDates::default(), unreadable);
    assert_names(&again, [&all[3], &all[1], &all[0]]);
}

#[test]
fn the_sample_is_not_retained_once_published_data_replaces_it() {
    let sample = || {
        let file_dates = FileDates { nanpa: Some(SAMPLE_DATE), ..FileDates::default() };
        Snapshot { file_dates, ..snapshot() }
    };
    let (first, second, published) = (sample(), sample(), snapshot());
    let samples = manifest_of(&[first.clone(), second.clone()]);
    assert_names(&samples, [&second, &first]);
    let manifest = Manifest::following(Some(&samples), published.clone(), |_| false);
    assert_names(&manifest, [&published]);
    assert!(!manifest.current.is_sample());
}

#[test]
fn a_rollback_returns_to_any_retained_version_and_drops_newer_ones() {
    let all = [(); 4].map(|()| snapshot());
    let manifest = manifest_of(&all);
    let back_to = |snapshot: &Snapshot| manifest.rolled_back_to(&snapshot.version);
    assert_names(&back_to(&all[2]).unwrap(), [&all[2], &all[1], &all[0]]);
    assert_names(&back_to(&all[0]).unwrap(), [&all[0]]);
    assert_ne!(back_to(&all[2]).unwrap().revision, manifest.revision);
    assert!(back_to(&all[3]).is_none(), "the current version");
    assert!(back_to(&snapshot()).is_none(), "a version that is not retained");
}
