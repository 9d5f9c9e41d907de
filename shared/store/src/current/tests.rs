use jiff::Timestamp;
use numbering::dataset::Dataset;

use super::*;

fn dataset_without_dynamodb() -> CurrentDataset {
    CurrentDataset::new(Store::unreachable())
}

fn version() -> LoadedVersion {
    LoadedVersion { version: Version::new(Timestamp::UNIX_EPOCH), dataset: Arc::default() }
}

fn manifest(version: Version) -> Manifest {
    let snapshot = Snapshot::of(&Dataset::default(), version, Timestamp::UNIX_EPOCH);
    Manifest::new(None, snapshot, |_| false)
}

#[tokio::test]
async fn an_older_version_is_served_if_the_current_one_was_skipped() {
    let dataset = dataset_without_dynamodb();
    let (loaded, manifest) = (version(), manifest(version().version));
    dataset.state.lock().switch_to(loaded.clone(), RECHECK_INTERVAL);
    assert!(matches!(dataset.find_serving(&manifest).await, ServedVersion::Current(_)));
    let version = manifest.current.version.clone();
    let skipped = SkippedVersion { version, reason: "damaged".into() };
    dataset.record_skipped(vec![skipped], &loaded);
    assert!(matches!(dataset.find_serving(&manifest).await, ServedVersion::Older(_)));
}

#[tokio::test]
async fn nothing_is_in_memory_before_the_first_load() {
    let dataset = dataset_without_dynamodb();
    assert!(
        dataset.state.lock().fresh(Instant::now()).is_none()
            && dataset.state.lock().find("any").is_none()
    );
    assert!(matches!(dataset.get().await, Err(DatasetError::Store(_))));
    assert!(matches!(dataset.serving().await, ServedVersion::Unavailable(_)));
}

#[tokio::test]
async fn the_version_in_memory_is_used_during_an_outage_and_rechecked_after_five_seconds() {
    let dataset = dataset_without_dynamodb();
    let in_memory = version();
    dataset.state.lock().switch_to(in_memory.clone(), Duration::ZERO);
    assert!(dataset.state.lock().fresh(Instant::now()).is_none());
    assert_eq!(dataset.get().await.unwrap().version, in_memory.version);
    let is_fresh_after = |seconds| {
        dataset.state.lock().fresh(Instant::now() + Duration::from_secs(seconds)).is_some()
    };
    assert_eq!([0, 3, 5].map(is_fresh_after), [true, true, false]);
}

#[tokio::test]
async fn unreadable_versions_are_not_read_again_for_a_while() {
    let dataset = dataset_without_dynamodb();
    dataset.state.lock().recheck_in(RECHECK_INTERVAL);
    assert!(matches!(dataset.get().await, Err(DatasetError::StillUnreadable)));
    dataset.state.lock().recheck_in(Duration::ZERO);
    assert!(matches!(dataset.get().await, Err(DatasetError::Store(_))));
}

#[tokio::test]
async fn replaced_version_stays_in_memory_and_others_come_from_the_manifest() {
    let dataset = dataset_without_dynamodb();
    let (first, current) = (version(), version());
    // The last one is a refresh without a new version.
    for loaded in [&first, &current, &current] {
        dataset.state.lock().switch_to(loaded.clone(), Duration::ZERO);
    }
    for known in [first.version, current.version.clone()] {
        let found = dataset.version(known.as_str()).await.unwrap().unwrap();
        assert_eq!(found.version, known);
    }
    assert!(matches!(dataset.version("old").await, Err(DatasetError::Store(_))));

    // A newer manifest may list the version, but cannot be read.
    dataset.set_manifest(manifest(current.version));
    assert!(matches!(dataset.version("old").await, Err(DatasetError::Store(_))));
}

#[tokio::test]
async fn loaded_version_is_used_until_the_manifest_names_a_new_one() {
    let (loaded, known) = (version(), manifest(version().version));
    let newer = manifest(Version::new(Timestamp::MAX));
    let dataset = CurrentDataset::with_loaded(Store::unreachable(), loaded, known.clone());
    for (manifest, is_fresh) in [(known, true), (newer, false)] {
        dataset.set_manifest(manifest);
        let later = Instant::now() + RECHECK_INTERVAL / 2;
        assert_eq!(dataset.state.lock().fresh(later).is_some(), is_fresh);
    }
}
