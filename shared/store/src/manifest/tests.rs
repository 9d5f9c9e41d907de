use aws_sdk_dynamodb::types::AttributeValue::{self, L, M, N, S};
use numbering::dataset::Dataset;

use super::*;
use crate::client::{Item, record_from_item};

/// A snapshot in this layout, each time of another version.
fn snapshot(layout: u8) -> Snapshot {
    let now = Timestamp::UNIX_EPOCH;
    let statistics = Dataset::default().statistics();
    Snapshot::of(Version::new(now), &[layout], statistics, FileDates::default(), now)
}

/// The manifest after snapshots in these layouts were published, the oldest first.
fn manifest_of(layouts: &[u8]) -> Manifest {
    let published = layouts.iter().fold(None, |manifest, &layout| {
        Some(Manifest::following(manifest.as_ref(), snapshot(layout), |_| false))
    });
    published.unwrap()
}

/// The layouts of all versions that a manifest names, the newest first.
fn layouts(manifest: &Manifest) -> Vec<u8> {
    manifest.snapshots().map(|snapshot| snapshot.layout.unwrap()).collect()
}

const OWN: u8 = LAYOUT;
const EARLIER: u8 = LAYOUT - 1;
const LATER: u8 = LAYOUT + 1;

#[test]
fn three_older_versions_are_retained_and_beyond_them_the_newest_of_each_layout() {
    assert_eq!(layouts(&manifest_of(&[OWN; 6])), [OWN; 4]);
    let after_upgrade = [EARLIER, EARLIER, OWN, OWN, OWN, OWN, OWN];
    assert_eq!(layouts(&manifest_of(&after_upgrade)), [OWN, OWN, OWN, OWN, EARLIER]);
    let alternating = [LATER, EARLIER, OWN, LATER, OWN, OWN, OWN, OWN];
    assert_eq!(layouts(&manifest_of(&alternating)), [OWN, OWN, OWN, OWN, LATER, EARLIER]);
}

#[test]
fn a_version_whose_layout_is_not_known_is_one_of_the_newest_three_or_gone() {
    let unstated = Snapshot { layout: None, ..snapshot(OWN) };
    let first = Manifest::following(None, unstated, |_| false);
    let follow = |before: Manifest| Manifest::following(Some(&before), snapshot(OWN), |_| false);
    let third = follow(follow(follow(first)));
    assert_eq!(third.retained.last().unwrap().layout, None);
    assert_eq!(layouts(&follow(third)), [OWN; 4]);
}

#[test]
fn a_damaged_version_is_not_retained_even_as_the_last_of_its_layout() {
    let manifest = manifest_of(&[LATER, OWN, OWN, OWN, OWN]);
    let damaged = manifest.retained.last().unwrap().version.clone();
    let next = Manifest::following(Some(&manifest), snapshot(OWN), |version| *version == damaged);
    assert_eq!(layouts(&next), [OWN; 4]);
}

#[test]
fn the_sample_is_not_retained_once_published_data_replaces_it() {
    let sample = || {
        let file_dates = FileDates { nanpa: Some(SAMPLE_DATE), ..FileDates::default() };
        Snapshot { file_dates, ..snapshot(OWN) }
    };
    let first = Manifest::following(None, sample(), |_| false);
    let again = Manifest::following(Some(&first), sample(), |_| false);
    assert_eq!(layouts(&again), [OWN, OWN], "samples follow each other as any other versions do");
    let published = Manifest::following(Some(&again), snapshot(OWN), |_| false);
    assert_eq!(layouts(&published), [OWN]);
    assert!(!published.current.is_sample() && published.rolled_back().is_none());
}

#[test]
fn a_rollback_goes_to_the_newest_version_that_can_be_read_and_drops_no_foreign_one() {
    let rolled_back = |published: &[u8]| manifest_of(published).rolled_back();
    assert_eq!(layouts(&rolled_back(&[OWN, OWN]).unwrap()), [OWN]);
    assert_eq!(layouts(&rolled_back(&[OWN, LATER, OWN]).unwrap()), [OWN, LATER]);
    assert_eq!(layouts(&rolled_back(&[OWN, OWN, LATER]).unwrap()), [OWN, LATER, OWN]);
    assert!(rolled_back(&[OWN]).is_none());
    assert!(rolled_back(&[LATER, EARLIER, OWN]).is_none());

    let manifest = manifest_of(&[OWN, LATER, OWN]);
    let back = manifest.rolled_back().unwrap();
    assert_eq!(back.current, manifest.retained[1]);
    assert_ne!(back.revision, manifest.revision);
}

#[test]
fn a_snapshot_states_its_layout_and_is_foreign_in_any_other() {
    assert!(!snapshot(OWN).is_foreign());
    assert!(snapshot(EARLIER).is_foreign() && snapshot(LATER).is_foreign());
    assert!(!Snapshot { layout: None, ..snapshot(OWN) }.is_foreign(), "it may be readable");
}

/// The attributes of a stored manifest that names one current version and one retained one.
fn stored_attributes() -> Item {
    let Manifest { revision, current, retained } = manifest_of(&[OWN, OWN]);
    let stored = StoredManifest { revision, current: Some(current), retained };
    item_from_record("dataset", &stored).unwrap()
}

/// Both snapshots of a stored manifest.
fn snapshots(attributes: &mut Item) -> Vec<&mut std::collections::HashMap<String, AttributeValue>> {
    let both = attributes.iter_mut().filter(|(name, _)| *name != "revision");
    let maps = both.map(|(_, value)| match value {
        M(map) => map,
        L(list) => match &mut list[0] {
            M(map) => map,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    });
    maps.collect()
}

fn read(attributes: Item) -> Manifest {
    Option::from(record_from_item::<StoredManifest>("dataset", attributes).unwrap()).unwrap()
}

#[test]
fn the_manifest_of_a_release_that_states_no_layout_is_read() {
    let mut attributes = stored_attributes();
    for snapshot in snapshots(&mut attributes) {
        assert_eq!(snapshot.remove("layout"), Some(N(OWN.to_string())));
    }
    let manifest = read(attributes);
    assert!(manifest.snapshots().all(|snapshot| snapshot.layout.is_none()));
    assert_eq!(manifest.retained.len(), 1);
}

/// So that a release can add attributes, as this one added the layout.
#[test]
fn attributes_that_a_later_release_adds_to_the_manifest_are_passed_over() {
    let mut attributes = stored_attributes();
    for snapshot in snapshots(&mut attributes) {
        snapshot.insert("added_later".to_owned(), S("x".to_owned()));
    }
    attributes.insert("added_later".to_owned(), S("x".to_owned()));
    assert_eq!(layouts(&read(attributes)), [OWN, OWN]);
}

#[test]
fn a_hash_tells_damage_and_leaves_the_snapshot_of_an_earlier_release_to_its_layout() {
    let [hash, other] = [b"snapshot", b"damaged!"].map(|bytes| SnapshotHash::of(bytes));
    assert!(hash.allows(&hash) && !hash.allows(&other));
    let sha256 = SnapshotHash("0".repeat(64));
    assert!(sha256.allows(&hash));
}
