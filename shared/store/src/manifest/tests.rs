use super::*;
use crate::{CountryData, ImportedReport};

/// A snapshot of a new version.
fn snapshot() -> Snapshot {
    let now = Timestamp::UNIX_EPOCH;
    Snapshot::of(&Dataset::default(), Version::new(now), now)
}

/// The manifest after publishing these snapshots, oldest first.
fn publish_all(snapshots: &[Snapshot]) -> Manifest {
    let published = snapshots.iter().fold(None, |manifest, snapshot| {
        Some(Manifest::new(manifest.as_ref(), snapshot.clone(), |_| false))
    });
    published.unwrap()
}

#[track_caller]
fn assert_versions(manifest: &Manifest, expected: &[&Snapshot]) {
    let versions = manifest.snapshots().map(|snapshot| &snapshot.version);
    assert!(versions.eq(expected.iter().map(|snapshot| &snapshot.version)), "{manifest:?}");
}

#[test]
fn three_older_readable_versions_are_retained() {
    let all = [(); 5].map(|()| snapshot());
    let manifest = publish_all(&all[..4]);
    assert_versions(&manifest, &[&all[3], &all[2], &all[1], &all[0]]);
    let unreadable = |version: &Version| *version == all[2].version;
    let next = Manifest::new(Some(&manifest), all[4].clone(), unreadable);
    assert_versions(&next, &[&all[4], &all[3], &all[1], &all[0]]);
    let next = Manifest::new(Some(&manifest), all[4].clone(), |_| false);
    assert_versions(&next, &[&all[4], &all[3], &all[2], &all[1]]);
    let again =
        manifest.after_reimport(Timestamp::UNIX_EPOCH, ImportedReports::default(), unreadable);
    assert_versions(&again, &[&all[3], &all[1], &all[0]]);
}

#[test]
fn importing_the_same_reports_again_changes_only_the_time_and_the_revision() {
    let manifest = publish_all(&[snapshot()]);
    let ingested_at = Timestamp::UNIX_EPOCH + jiff::SignedDuration::from_secs(1);
    let again = manifest.after_reimport(ingested_at, ImportedReports::default(), |_| false);
    assert_ne!(again.revision, manifest.revision);
    let current = Snapshot { ingested_at, ..manifest.current.clone() };
    let revision = again.revision.clone();
    assert_eq!(again, Manifest { revision, current, ..manifest });
}

/// Otherwise a sweep would delete data that the history still needs.
#[test]
fn a_version_is_needed_while_its_difference_is_unrecorded() {
    let [older, current, other] = [(); 3].map(|()| snapshot());
    let mut manifest = publish_all(&[older.clone(), current.clone()]);
    assert!(manifest.needs(&older.version) && manifest.needs(&current.version));
    assert!(!manifest.needs(&other.version));
    let [publication, predecessor] = [(); 2].map(|()| manifest.publication.clone());
    let before = other.clone();
    manifest.unrecorded.push(UnrecordedPublication { publication, predecessor, before });
    assert!(manifest.needs(&other.version));
}

#[test]
fn the_sample_is_not_retained_once_published_data_replaces_it() {
    let sample = || {
        let report = ImportedReport { date: Some(SAMPLE_DATE), ..ImportedReport::default() };
        let reports = ImportedReports([(ReportName::Nanpa, report)].into());
        Snapshot { reports, ..snapshot() }
    };
    let (first, second, published) = (sample(), sample(), snapshot());
    let samples = publish_all(&[first.clone(), second.clone()]);
    assert_versions(&samples, &[&second, &first]);
    let manifest = Manifest::new(Some(&samples), published.clone(), |_| false);
    assert_versions(&manifest, &[&published]);
    assert!(!manifest.current.is_sample());
}

#[test]
fn rollback_restores_any_retained_version_and_drops_newer_ones() {
    let all = [(); 4].map(|()| snapshot());
    let manifest = publish_all(&all);
    let at = Timestamp::UNIX_EPOCH;
    let roll_back_to = |snapshot: &Snapshot| manifest.after_rollback_to(&snapshot.version, at);
    assert_versions(&roll_back_to(&all[2]).unwrap(), &[&all[2], &all[1], &all[0]]);
    assert_versions(&roll_back_to(&all[0]).unwrap(), &[&all[0]]);
    let rolled_back = roll_back_to(&all[2]).unwrap();
    assert_ne!(rolled_back.revision, manifest.revision);
    assert_eq!((manifest.publication.number, rolled_back.publication.number), (3, 4));
    assert_eq!(rolled_back.publication.version, all[2].version);
    assert_ne!(rolled_back.publication.id, all[2].version, "it is another publication");
    assert!(roll_back_to(&all[3]).is_none(), "the current version");
    assert!(roll_back_to(&snapshot()).is_none(), "a version that is not retained");
}

#[test]
fn a_replaced_country_is_needed_until_the_next_change() {
    let pieces = ["first", "second", "third"]
        .map(|bytes| Piece::new(Version::new(Timestamp::UNIX_EPOCH), bytes.as_bytes()));
    let import = |manifest: &Manifest, piece: &Piece| {
        let country = CountryData::sample(piece.clone());
        manifest.with_countries(Countries([("GB".to_owned(), country)].into()))
    };
    let needed = |manifest: &Manifest| pieces.each_ref().map(|it| manifest.needs(&it.version));
    let first = import(&publish_all(&[snapshot()]), &pieces[0]);
    assert_eq!(needed(&first), [true, false, false]);
    let second = import(&first, &pieces[1]);
    assert_eq!(needed(&second), [true, true, false]);
    let unchanged = import(&second, &pieces[1]);
    assert_eq!(needed(&unchanged), [true, true, false]);
    assert_eq!(needed(&import(&unchanged, &pieces[2])), [false, true, true]);
    let rolled_back = import(&publish_all(&[snapshot(), snapshot()]), &pieces[0]);
    let target = rolled_back.retained[0].version.clone();
    let rolled_back = rolled_back.after_rollback_to(&target, Timestamp::UNIX_EPOCH).unwrap();
    assert_eq!(needed(&rolled_back), [true, false, false]);
}
