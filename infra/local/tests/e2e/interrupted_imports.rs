//! Imports that die, meet a busy DynamoDB, or run into each other.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{
    Drift, ImportReport, IngestError, Options, Outcome, Repair, Verification, ingest, rollback,
    verify,
};
use jiff::ToSpan;
use serde_json::Value;
use store::{Store, StoreError, TimeoutProfile};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::Service,
    small_set::{Texts, dump},
};

/// What the API answers, every record of it, read as lists and as single items.
pub async fn answers(service: &Service) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    let mut paths = vec!["/v1/stats".to_owned(), "/v1/search?q=sample&limit=100".to_owned()];
    for npa in ["415", "416"] {
        for offset in [0, 100] {
            let path = format!("/v1/npa/{npa}?limit=100&offset={offset}");
            let page = service.ok(&path).await;
            for exchange in page["exchanges"].as_array().unwrap() {
                paths.push(format!("/v1/npa/{npa}/nxx/{}", exchange["nxx"].as_str().unwrap()));
            }
            answers.insert(path, page);
        }
    }
    // exchanges that only one of the versions has
    for nxx in ["206", "207", "234"] {
        paths.push(format!("/v1/npa/415/nxx/{nxx}"));
        paths.push(format!("/v1/format/+1415{nxx}5678"));
    }
    for offset in [0, 100] {
        let path = format!("/v1/carriers?limit=100&offset={offset}");
        let page = service.ok(&path).await;
        for carrier in page["carriers"].as_array().unwrap() {
            paths.push(format!("/v1/carrier/{}", carrier["ocn"].as_str().unwrap()));
        }
        answers.insert(path, page);
    }
    for path in paths {
        let (status, body) = service.answer(&path).await;
        answers.insert(path, serde_json::json!({ "status": status.as_u16(), "body": body }));
    }
    // When an import was made sets no two services apart.
    answers.get_mut("/v1/stats").unwrap()["body"]["last_updated"].take();
    answers
}

pub async fn import(
    store: &Store,
    texts: &Texts,
    options: Options,
) -> Result<ImportReport, IngestError> {
    ingest(store, &texts.sources(), options, |_| ()).await
}

pub async fn with_first() -> Service {
    let service = Service::empty().await;
    import(&service.database.store(), &Texts::first(), Options::default()).await.unwrap();
    service
}

pub async fn repaired(store: &Store) -> Verification {
    verify(store, Repair::Yes, None, |_| ()).await.unwrap()
}

/// Asserts that each item is as the current version has it.
pub async fn assert_no_drift(store: &Store) {
    let verification = verify(store, Repair::No, None, |_| ()).await.unwrap();
    assert_eq!(verification.drift, Drift::default());
}

/// A store that dies with the call after `calls`.
async fn dying(service: &Service, calls: usize) -> (Store, FaultProxy) {
    let policy = move |call, _: &str| if call > calls { Fault::Dead } else { Fault::None };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    (Store::at(&proxy.endpoint, TimeoutProfile::Batch).await, proxy)
}

#[tokio::test]
async fn killed_after_any_call_one_version_serves_whole_and_the_next_run_completes() {
    let options = Options { allow_older: true, ..Options::default() };
    let (first, second) = (Texts::first(), Texts::second());
    let unkilled = with_first().await;
    let before = answers(&unkilled).await;
    let (store, proxy) = dying(&unkilled, usize::MAX).await;
    import(&store, &second, options).await.unwrap();
    let calls = proxy.calls();
    let after = answers(&unkilled.restarted().await).await;
    assert_ne!(before, after);
    assert!(calls > 5, "{calls}");

    for killed_after in 0..calls {
        let service = with_first().await;
        let (store, _proxy) = dying(&service, killed_after).await;
        let died = import(&store, &second, options).await;
        let service = service.restarted().await;
        let served = answers(&service).await;
        let published = served["/v1/stats"] == after["/v1/stats"];
        // What is left to sweep once the version is published is no failure.
        assert_eq!(died.is_ok(), published, "after {killed_after} of {calls} calls");
        let expected = if published { &after } else { &before };
        assert!(served == *expected, "after {killed_after} of {calls} calls");

        // The next run may be of the same files or of others.
        let (next, expected) = match killed_after % 2 {
            0 => (&second, &after),
            _ => (&first, &before),
        };
        import(&service.database.store(), next, options).await.unwrap();
        let service = service.restarted().await;
        assert!(answers(&service).await == *expected, "after {killed_after}");
        repaired(&service.database.store()).await;
        assert_no_drift(&service.database.store()).await;
        assert!(answers(&service).await == *expected, "repaired after {killed_after}");
    }
}

#[tokio::test]
async fn a_busy_database_is_waited_for() {
    let service = Service::empty().await;
    let policy = |call, operation: &str| match (operation, call % 6) {
        ("BatchWriteItem", 0 | 3) => Fault::HalfProcessed,
        (_, 1) => Fault::Throttled,
        (_, 2) => Fault::InternalError,
        ("BatchWriteItem", 4) => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let store = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    import(&store, &Texts::first(), Options::default()).await.unwrap();
    assert_no_drift(&service.database.store()).await;
}

#[tokio::test]
async fn near_its_deadline_an_import_stops_cleanly_and_says_so() {
    let service = with_first().await;
    let before = answers(&service).await;
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let store = service.database.store();
    let late = Options { deadline, ..Options::default() };
    let error = import(&store, &Texts::second(), late).await.unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
    assert!(answers(&service.restarted().await).await == before);
}

#[tokio::test]
async fn a_database_that_stays_busy_is_given_up_near_the_deadline() {
    let service = with_first().await;
    let policy = |_, operation: &str| match operation {
        "BatchWriteItem" => Fault::Throttled,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let store = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    let started = Instant::now();
    let deadline = Some(started + Duration::from_secs(17));
    let late = Options { deadline, ..Options::default() };
    let error = import(&store, &Texts::second(), late).await.unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    import(&service.database.store(), &Texts::second(), Options::default()).await.unwrap();
}

#[tokio::test]
async fn of_two_imports_at_once_one_wins_and_nothing_mixes() {
    let options = Options::default();
    let service = with_first().await;
    let store = service.database.store();
    let (second, third) = (Texts::second(), Texts::third());
    let (a, b) = tokio::join!(import(&store, &second, options), import(&store, &third, options));
    let won = match (&a, &b) {
        (Ok(_), Err(IngestError::Store(StoreError::Overtaken))) => second,
        (Err(IngestError::Store(StoreError::Overtaken)), Ok(_)) => third,
        both => panic!("{both:?}"),
    };
    let expected = with_first().await;
    import(&expected.database.store(), &won, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let served = answers(&service.restarted().await).await;
    assert!(served == expected);
}

#[tokio::test]
async fn two_first_imports_at_once_publish_one_version() {
    let service = Service::empty().await;
    let store = service.database.store();
    let (first, options) = (Texts::first(), Options::default());
    let (a, b) = tokio::join!(import(&store, &first, options), import(&store, &first, options));
    assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
    let expected = answers(&with_first().await).await;
    let served = answers(&service).await;
    assert!(served == expected);
}

#[tokio::test]
async fn rollback_makes_the_version_before_current_with_one_write() {
    let options = Options::default();
    let service = with_first().await;
    let before = answers(&service).await;
    let store = service.database.store();
    let error = rollback(&store, options, |_| ()).await.unwrap_err();
    assert!(matches!(error, IngestError::NothingBefore), "{error}");
    import(&store, &Texts::second(), options).await.unwrap();

    let planned = rollback(&store, Options { dry_run: true, ..options }, |_| ()).await.unwrap();
    assert_eq!(planned.outcome, Outcome::Planned);
    let service = service.restarted().await;
    assert!(answers(&service).await != before);

    let writes = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noted = std::sync::Arc::clone(&writes);
    let policy = move |_, operation: &str| {
        if !operation.contains("Get") {
            noted.lock().unwrap().push(operation.to_owned());
        }
        Fault::None
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let counted = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    let report = rollback(&counted, options, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    assert_eq!(*writes.lock().unwrap(), ["PutItem"]);
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    assert!(rollback(&store, options, |_| ()).await.is_err());
}

#[tokio::test]
async fn versions_beyond_three_old_ones_are_swept_a_day_later() {
    let service = with_first().await;
    let store = service.database.store();
    let first = store.manifest().await.unwrap().unwrap().current.ingested_at;
    for day in 1..=5 {
        let mut texts = Texts::first();
        texts.nanpa = texts.nanpa.replace("415-234", &format!("415-{day:03}"));
        let options = Options { now: first + (25 * day).hours(), ..Options::default() };
        import(&store, &texts, options).await.unwrap();
    }
    let manifest = store.manifest().await.unwrap().unwrap();
    assert_eq!(manifest.retained.len(), 3);
    let items = dump(&store).await.into_keys().filter(|key| key.starts_with("dataset "));
    let chunks = items.filter(|key| key.contains('#') && !key.contains("quality"));
    assert_eq!(chunks.count(), 1 + 3);
}

/// An import that dies leaves chunks which no other names; those of one that may still publish stay.
#[tokio::test]
async fn chunks_of_an_import_that_can_no_longer_publish_are_swept() {
    let service = with_first().await;
    let store = service.database.store();
    let chunks = async || {
        let items = dump(&store).await.into_keys();
        items.filter(|key| key.starts_with("dataset ") && key.contains("#0")).count()
    };
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let policy = |_, operation: &str| match operation {
        "PutItem" => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let dying = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    let old = Options { now: now - 48.hours(), ..Options::default() };
    import(&dying, &Texts::second(), old).await.unwrap_err();
    assert_eq!(chunks().await, 2, "of the current version and of the dead import");

    store.sweep(now).await.unwrap();
    assert_eq!(chunks().await, 2, "it may still be published");
    import(&store, &Texts::first(), Options::default()).await.unwrap();
    assert_eq!(chunks().await, 1);
}

/// The model found this: a sweep that took long knew an outdated manifest, and deleted the chunks
/// of a version that two other imports had brought meanwhile, on a clock a day behind.
#[tokio::test]
async fn a_sweep_that_is_overtaken_deletes_no_chunk_of_the_current_version() {
    let service = with_first().await;
    let store = service.database.store();
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let policy = |_, operation: &str| match operation {
        "Scan" => Fault::Held,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let sweeping = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    let import_and_publish = async |texts: &Texts, hours: i64| {
        let options = Options { now: now - hours.hours(), ..Options::default() };
        import(&store, texts, options).await.unwrap();
    };
    let overtake = async {
        proxy.held().await;
        import_and_publish(&Texts::second(), 48).await;
        import_and_publish(&Texts::third(), 48).await;
        proxy.release();
    };
    let (swept, ()) = tokio::join!(sweeping.sweep(now), overtake);
    swept.unwrap();
    let service = service.restarted().await;
    assert_eq!(service.answer("/v1/npa/415/nxx/209").await.0, 200);
}

/// A rollback killed half-way, then an import with newer data: lookups used to contradict lists.
#[tokio::test]
async fn an_import_after_a_killed_rollback_leaves_no_contradiction() {
    let options = Options::default();
    let (second, third) = (Texts::second(), Texts::third());
    let expected = with_first().await;
    import(&expected.database.store(), &third, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    for killed_after in 0..5 {
        let service = with_first().await;
        import(&service.database.store(), &second, options).await.unwrap();
        let (store, _proxy) = dying(&service, killed_after).await;
        _ = rollback(&store, options, |_| ()).await;
        import(&service.database.store(), &third, options).await.unwrap();
        let service = service.restarted().await;
        let served = answers(&service).await;
        assert!(served == expected, "killed after {killed_after}");
    }
}

/// One import dies after it has published, the next while it writes; a third follows.
#[tokio::test]
async fn an_import_after_two_deaths_leaves_no_contradiction() {
    let options = Options { allow_older: true, ..Options::default() };
    let expected = answers(&with_first().await).await;
    for killed_after in 2..7 {
        let service = with_first().await;
        let policy = |_, operation: &str| match operation {
            "Scan" | "DeleteItem" => Fault::Dead,
            _ => Fault::None,
        };
        let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
        let unswept = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
        import(&unswept, &Texts::second(), options).await.unwrap();
        let (store, _proxy) = dying(&service, killed_after).await;
        _ = import(&store, &Texts::third(), options).await;
        import(&service.database.store(), &Texts::first(), options).await.unwrap();
        let service = service.restarted().await;
        let served = answers(&service).await;
        assert!(served == expected, "killed after {killed_after}");
    }
}

/// A death in the middle of an import, and one of the import that cleans up after it, used to lock
/// all later imports out.
#[tokio::test]
async fn a_death_while_sweeping_after_a_death_locks_nobody_out() {
    let service = with_first().await;
    let store = service.database.store();
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let lost_manifest = |_, operation: &str| match operation {
        "PutItem" => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), lost_manifest).await;
    let dying = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    let old = Options { now: now - 48.hours(), ..Options::default() };
    import(&dying, &Texts::second(), old).await.unwrap_err();
    let dead_at_sweep = |_, operation: &str| match operation {
        "DeleteItem" => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), dead_at_sweep).await;
    let sweeping = Store::at(&proxy.endpoint, TimeoutProfile::Batch).await;
    import(&sweeping, &Texts::first(), Options::default()).await.unwrap();

    import(&store, &Texts::second(), Options::default()).await.unwrap();
    let service = service.restarted().await;
    assert_eq!(service.answer("/v1/npa/415/nxx/207").await.0, 200);
}

/// A damaged snapshot used to end every import before it began.
#[tokio::test]
async fn a_current_version_that_cannot_be_read_keeps_no_import_out() {
    let service = with_first().await;
    let store = service.database.store();
    import(&store, &Texts::second(), Options::default()).await.unwrap();
    let current = store.manifest().await.unwrap().unwrap().current.version;
    let (client, tables) = store.parts();
    let chunk = AttributeValue::S(format!("{current}#0000"));
    client.delete_item().table_name(&tables.dataset).key("id", chunk).send().await.unwrap();

    let report = import(&store, &Texts::second(), Options::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert!(report.warnings.keys().any(|kind| kind.contains("cannot be read")), "{report:?}");
    let manifest = store.manifest().await.unwrap().unwrap();
    assert!(manifest.snapshot(current.as_str()).is_none(), "no rollback leads to it");
    let service = service.restarted().await;
    assert_eq!(service.answer("/v1/npa/415/nxx/207").await.0, 200);
}
