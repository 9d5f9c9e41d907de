//! Tests unreadable versions. Every command skips them, and the newest readable version is served.

use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use ingest::{Options, Outcome, Repair, RollbackTarget, rollback, verify};
use jiff::Timestamp;
use logging::with_causes;
use numbering::records::{LAYOUT, Version};
use serde_json::Value;
use store::{Manifest, Snapshot, Store};

use crate::support::{
    imports::{assert_no_drift, delete_chunk, import, responses, without_gates},
    service::Service,
    small_reports::ReportSet,
};

const SKIPPED_WARNING: &str = "a version cannot be read and is skipped";
const NEWEST: RollbackTarget = RollbackTarget::NewestReadable;

/// The reason why a version is unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    MissingChunk,
    FlippedBit,
    OtherLayout,
}

/// Publishes the current data again as an unreadable version. Returns the snapshot.
async fn publish_unreadable(store: &Store, reason: Reason) -> Snapshot {
    let replaced = store.manifest().await.unwrap().unwrap();
    let mut bytes = store.snapshot(&replaced.current).await.unwrap();
    if reason == Reason::OtherLayout {
        bytes[0] = LAYOUT + 1;
    }
    let Snapshot { statistics, reports, ingested_at, .. } = replaced.current.clone();
    let version = Version::new(Timestamp::now());
    let snapshot = Snapshot::new(version, &bytes, statistics, reports, ingested_at);
    let manifest = Manifest::new(Some(&replaced), snapshot.clone(), |_| false);
    store.write_snapshot(&snapshot.version, &bytes, &replaced.revision).await.unwrap();
    store.publish(&manifest, &replaced.revision).await.unwrap();
    match reason {
        Reason::MissingChunk => delete_chunk(store, &snapshot).await,
        Reason::FlippedBit => flip_bit(store, &snapshot).await,
        Reason::OtherLayout => (),
    }
    snapshot
}

/// Flips a bit in a version's first chunk.
async fn flip_bit(store: &Store, snapshot: &Snapshot) {
    let (client, tables) = store.parts();
    let mut bytes = store.snapshot(snapshot).await.unwrap();
    bytes.truncate(store::CHUNK_BYTES);
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let id = AttributeValue::S(format!("{}#0000", snapshot.version));
    let put = client.put_item().table_name(&tables.dataset).item("id", id);
    put.item("data", AttributeValue::B(Blob::new(bytes))).send().await.unwrap();
}

async fn health(service: &Service) -> Value {
    service.get_json("/health").await.1["status"].take()
}

/// All versions in the manifest, newest first.
async fn versions(store: &Store) -> Vec<String> {
    let manifest = store.manifest().await.unwrap().unwrap();
    manifest.snapshots().map(|snapshot| snapshot.version.to_string()).collect()
}

#[tokio::test]
async fn the_previous_version_is_served_until_an_unreadable_one_is_replaced() {
    for (reason, text) in [
        (Reason::MissingChunk, "#0000 is missing"),
        (Reason::FlippedBit, "its hash is "),
        (Reason::OtherLayout, "its layout is "),
    ] {
        let service = Service::with_small_reports().await;
        let before = responses(&service).await;
        let store = service.database.store();
        let first = versions(&store).await.remove(0);
        let unreadable = publish_unreadable(&store, reason).await;

        let service = service.restart().await;
        assert_eq!(health(&service).await, "degraded", "{reason:?}");
        assert_eq!(responses(&service).await, before, "{reason:?}");
        let path = format!("/v1/npa/415?limit=5&offset=5&version={}", unreadable.version);
        let (status, body) = service.get_json(&path).await;
        let message = body["message"].as_str().unwrap();
        assert!(status == 400 && message.ends_with("without the version parameter"), "{message}");
        let verification = verify(&store, Repair::Yes, None, |_| ()).await.unwrap();
        assert_eq!((verification.version.as_str(), verification.drift.total()), (&first[..], 0));
        let expected = format!("version {} cannot be read", unreadable.version);
        assert!(verification.skipped[0].starts_with(&expected), "{verification:?}");

        let report = import(&store, &ReportSet::first(), Options::default()).await.unwrap();
        assert_eq!(report.outcome, Outcome::Published, "the current version is not this one");
        assert_eq!(report.items.written, 0, "compared with the version before");
        let warning = &report.warnings[SKIPPED_WARNING];
        assert!(warning.examples[0].contains(unreadable.version.as_str()), "{warning:?}");
        assert!(warning.examples[0].contains(text), "{warning:?}");
        assert!(!versions(&store).await.contains(&unreadable.version.to_string()));
        assert_eq!(health(&service.restart().await).await, "healthy");
    }
}

#[tokio::test]
async fn the_service_is_unhealthy_without_a_readable_version_until_an_import() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    publish_unreadable(&store, Reason::FlippedBit).await;
    let manifest = store.manifest().await.unwrap().unwrap();
    let alone = Manifest::new(None, manifest.current.clone(), |_| false);
    store.publish(&alone, &manifest.revision).await.unwrap();
    let service = service.restart().await;
    for path in ["/v1/npa/415", "/v1/npa/415/nxx/234", "/v1/carriers", "/v1/stats"] {
        let (status, body) = service.get_json(path).await;
        let message = body["message"].as_str().unwrap();
        assert!(status == 503 && message.contains("must be imported again"), "{path}: {message}");
    }
    let (status, body) = service.get_json("/health").await;
    assert_eq!((status.as_u16(), &body["status"]), (503, &"unhealthy".into()));
    assert_eq!(body["last_ingestion"], Value::Null, "no data from any import is left");

    let error = rollback(&store, &NEWEST, Options::default(), |_| ()).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no older version to roll back to");
    let error = verify(&store, Repair::Yes, None, |_| ()).await.unwrap_err();
    let message = with_causes(&error);
    assert!(message.contains("'tnr import --fetch' imports"), "{message}");

    let report = import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    let warning = "no version can be read, so the gates had nothing to compare with";
    assert!(report.warnings.contains_key(warning), "{:?}", report.warnings);
    assert_eq!(health(&service.restart().await).await, "healthy");
    assert_no_drift(&store).await;
}

#[tokio::test]
async fn rollbacks_and_repeated_imports_skip_unreadable_versions() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    import(&store, &ReportSet::second(), without_gates()).await.unwrap();
    let second = store.manifest().await.unwrap().unwrap().current;
    import(&store, &ReportSet::third(), without_gates()).await.unwrap();
    flip_bit(&store, &second).await;

    let names = versions(&store).await;
    for (name, expected) in [(&names[1], "its hash is"), (&names[0], "is not retained")] {
        let target = RollbackTarget::Named(name.clone());
        let error = rollback(&store, &target, Options::default(), |_| ()).await.unwrap_err();
        let message = with_causes(&error);
        assert!(message.contains(name) && message.contains(expected), "{message}");
    }
    assert_eq!(versions(&store).await, names, "nothing has changed");

    let again = import(&store, &ReportSet::third(), Options::default()).await.unwrap();
    assert_eq!(again.outcome, Outcome::Unchanged);
    assert!(again.warnings.contains_key(SKIPPED_WARNING), "{:?}", again.warnings);
    let [third, second_name, first] = &names[..] else { panic!("{names:?}") };
    assert_eq!(versions(&store).await, [third.clone(), first.clone()], "without {second_name}");

    import(&store, &ReportSet::second(), without_gates()).await.unwrap();
    let manifest = store.manifest().await.unwrap().unwrap();
    flip_bit(&store, &manifest.retained[0]).await;
    let report = rollback(&store, &NEWEST, Options::default(), |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    assert_eq!(&versions(&store).await, std::slice::from_ref(first));
    assert!(report.warnings[SKIPPED_WARNING].examples[0].contains(third), "{report:?}");
}
