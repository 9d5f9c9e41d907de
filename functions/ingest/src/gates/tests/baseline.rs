//! The version that an import is compared with.

use std::sync::Arc;

use store::{Manifest, SAMPLE_DATE};

use super::*;

fn manifest(versions: &[&Snapshot]) -> Option<Manifest> {
    versions.iter().fold(None, |manifest, &version| {
        Some(Manifest::new(manifest.as_ref(), version.clone(), |_| false))
    })
}

/// The baseline after these versions were published, oldest first.
fn baseline(versions: &[&Snapshot], unreadable: &[&Snapshot]) -> Baseline {
    let readable = versions.iter().rev().find(|version| !unreadable.contains(version));
    Baseline {
        manifest: manifest(versions),
        dataset: Arc::default(),
        snapshot: readable.map(|&version| version.clone()),
        unreadable: unreadable.iter().map(|snapshot| snapshot.version.clone()).collect(),
    }
}

#[test]
fn only_a_readable_current_version_can_be_reimported() {
    let [older, current] = [0, 1].map(snapshot);
    for (versions, unreadable, can_be_reimported) in [
        (&[&older, &current][..], &[][..], true),
        (&[], &[], false),
        (&[&current], &[&current], false),
        (&[&older, &current], &[&current], false),
    ] {
        let baseline = baseline(versions, unreadable);
        assert_eq!(baseline.manifest_to_reimport().is_some(), can_be_reimported);
        assert_eq!(baseline.is_current(), unreadable.is_empty(), "{unreadable:?}");
        assert_eq!(baseline.is_unreadable(&current.version), !unreadable.is_empty());
        assert!(!baseline.is_unreadable(&older.version));
    }
}

#[test]
fn published_data_is_not_compared_with_the_sample_and_starts_a_history() {
    let sample_date = SAMPLE_DATE.to_string();
    let sample = Snapshot { reports: dated(ReportName::Nanpa, &sample_date), ..snapshot(0) };
    let published = snapshot(1);
    for (current, next, is_compared) in [
        (&sample, &published, false),
        (&sample, &sample, true),
        (&published, &published, true),
        (&published, &sample, true),
    ] {
        let baseline = baseline(&[current], &[]);
        assert_eq!(baseline.compared_with(next).is_some(), is_compared);
        assert_eq!(baseline.predecessor(next).is_some(), is_compared);
    }
}
