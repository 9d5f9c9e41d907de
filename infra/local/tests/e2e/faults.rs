//! Imports that die, meet a busy DynamoDB, or run into each other.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use ingest::{IngestError, Options, Outcome, Report, ingest, rollback};
use jiff::{Timestamp, ToSpan};
use serde_json::Value;
use shared::store::{Hold, LONGEST_WRITE, Patience, Store, StoreError};

use crate::{
    fault_proxy::{Fault, FaultProxy},
    service::Service,
    small_set::{Texts, dump},
};

/// What the API answers, every record of it, read as lists and as single items.
async fn answers(service: &Service) -> BTreeMap<String, Value> {
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
    answers
}

async fn import(store: &Store, texts: &Texts, options: Options) -> Result<Report, IngestError> {
    ingest(store, &texts.sources(), options, |_| ()).await
}

async fn with_first(options: Options) -> Service {
    let service = Service::empty().await;
    import(&service.database.store(), &Texts::first(), options).await.unwrap();
    service
}

/// A store that dies with the call after `calls`.
async fn dying(service: &Service, calls: usize) -> (Store, FaultProxy) {
    let policy = move |call, _: &str| if call > calls { Fault::Dead } else { Fault::None };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    (Store::at(&proxy.endpoint, Patience::Loading).await, proxy)
}

#[tokio::test]
async fn killed_after_any_call_the_old_version_serves_whole_and_the_next_run_completes() {
    let options = Options::default();
    let (first, second) = (Texts::first(), Texts::second());
    let unkilled = with_first(options).await;
    let before = answers(&unkilled).await;
    let (store, proxy) = dying(&unkilled, usize::MAX).await;
    import(&store, &second, options).await.unwrap();
    let calls = proxy.calls();
    let unkilled = unkilled.restarted().await;
    let (after, items) = (answers(&unkilled).await, dump(&unkilled.database.store()).await);
    assert_ne!(before, after);
    assert!(calls > 8, "{calls}");

    for killed_after in 0..calls {
        let service = with_first(options).await;
        let (store, _proxy) = dying(&service, killed_after).await;
        let died = import(&store, &second, options).await;
        let service = service.restarted().await;
        let served = answers(&service).await;
        let flipped = served["/v1/stats"] == after["/v1/stats"];
        // what is left to clean up after the flip is no failure
        assert_eq!(died.is_ok(), flipped, "after {killed_after} of {calls} calls");
        let expected = if flipped { &after } else { &before };
        assert!(served == *expected, "after {killed_after} of {calls} calls");

        import(&service.database.store(), &second, options).await.unwrap();
        let service = service.restarted().await;
        assert!(dump(&service.database.store()).await == items, "after {killed_after}");
        assert!(answers(&service).await == after, "after {killed_after}");
    }

    // the next run need not be of the same files
    for killed_after in 0..calls {
        let service = with_first(options).await;
        let (store, _proxy) = dying(&service, killed_after).await;
        _ = import(&store, &second, options).await;
        let again = Options { allow_older: true, ..options };
        import(&service.database.store(), &first, again).await.unwrap();
        let served = answers(&service.restarted().await).await;
        assert!(served == before, "after {killed_after} of {calls} calls");
    }
}

#[tokio::test]
async fn a_busy_database_is_waited_for() {
    let options = Options::default();
    let expected = with_first(options).await;
    let expected = dump(&expected.database.store()).await;
    let service = Service::empty().await;
    let policy = |call, operation: &str| match (operation, call % 6) {
        ("BatchWriteItem", 0 | 3) => Fault::HalfProcessed,
        (_, 1) => Fault::Throttled,
        (_, 2) => Fault::InternalError,
        ("BatchWriteItem", 4) => Fault::BrokenOff,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let store = Store::at(&proxy.endpoint, Patience::Loading).await;
    import(&store, &Texts::first(), options).await.unwrap();
    assert!(dump(&service.database.store()).await == expected);
}

#[tokio::test]
async fn near_its_deadline_an_import_stops_cleanly_and_says_so() {
    let service = with_first(Options::default()).await;
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
    let service = with_first(Options::default()).await;
    let policy = |_, operation: &str| match operation {
        "BatchWriteItem" => Fault::Throttled,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let store = Store::at(&proxy.endpoint, Patience::Loading).await;
    let started = Instant::now();
    let late = Options { deadline: Some(started + Duration::from_secs(17)), ..Options::default() };
    let error = import(&store, &Texts::second(), late).await.unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    import(&service.database.store(), &Texts::second(), Options::default()).await.unwrap();
}

#[tokio::test]
async fn of_two_imports_at_once_one_is_refused_and_nothing_mixes() {
    let options = Options::default();
    let service = with_first(options).await;
    let store = service.database.store();
    let second = Texts::second();
    let mut third = Texts::second();
    third.nanpa = third.nanpa.replace("415-207", "415-209");
    let (a, b) = tokio::join!(import(&store, &second, options), import(&store, &third, options));
    let won = match (&a, &b) {
        (Ok(_), Err(_)) => second,
        (Err(_), Ok(_)) => third,
        both => panic!("{both:?}"),
    };
    let expected = with_first(options).await;
    import(&expected.database.store(), &won, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let mut served = answers(&service.restarted().await).await;
    served.insert("/v1/stats".to_owned(), expected["/v1/stats"].clone());
    assert!(served == expected);
}

#[tokio::test]
async fn a_hold_that_is_not_renewed_is_waited_for() {
    let service = with_first(Options::default()).await;
    let store = service.database.store();
    let until = Timestamp::now() + 3.seconds();
    let dead = Hold { token: "dead".to_owned(), until, snapshots: Vec::new() };
    store.put_hold(&dead, None).await.unwrap();
    let report = import(&store, &Texts::second(), Options::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert!(Timestamp::now() >= until);
}

/// Another import may take the hold then, and late writes would mix with its own.
#[tokio::test]
async fn an_import_that_cannot_renew_its_hold_stops_writing_before_it_ends() {
    let service = with_first(Options::default()).await;
    let begun = AtomicBool::new(false);
    let policy = move |_, operation: &str| match operation {
        "BatchWriteItem" => {
            begun.store(true, Ordering::SeqCst);
            Fault::Throttled
        }
        "PutItem" if begun.load(Ordering::SeqCst) => Fault::Throttled,
        _ => Fault::None,
    };
    let proxy = FaultProxy::before(service.database.endpoint(), policy).await;
    let store = Store::at(&proxy.endpoint, Patience::Loading).await;
    let lasts = LONGEST_WRITE + Duration::from_secs(3);
    let started = Instant::now();
    let short = Options { hold_lasts: lasts, ..Options::default() };
    let error = import(&store, &Texts::second(), short).await.unwrap_err();
    assert!(matches!(error, IngestError::Store(StoreError::Held)), "{error}");
    assert!(started.elapsed() < lasts, "{:?}", started.elapsed());
    import(&service.database.store(), &Texts::second(), Options::default()).await.unwrap();
}

/// An import that was taken over, whatever it still believes, cannot put its version in force.
#[tokio::test]
async fn an_import_that_was_taken_over_cannot_flip() {
    let service = with_first(Options::default()).await;
    let store = service.database.store();
    let manifest = store.manifest().await.unwrap().unwrap();
    let until = Timestamp::now() + 60.seconds();
    let ours = Hold { token: "ours".to_owned(), until, snapshots: Vec::new() };
    let theirs = Hold { token: "theirs".to_owned(), ..ours.clone() };
    store.put_hold(&theirs, None).await.unwrap();
    let refused = store.publish(&manifest, Some(&manifest), &ours).await.unwrap_err();
    assert!(matches!(refused, StoreError::Overtaken), "{refused}");
    store.publish(&manifest, Some(&manifest), &theirs).await.unwrap();
}

#[tokio::test]
async fn rollback_puts_the_version_before_in_force_with_its_items() {
    let options = Options::default();
    let service = with_first(options).await;
    let before = answers(&service).await;
    let store = service.database.store();
    let error = rollback(&store, options, |_| ()).await.unwrap_err();
    assert!(matches!(error, IngestError::NothingBefore), "{error}");
    import(&store, &Texts::second(), options).await.unwrap();

    let planned = rollback(&store, Options { dry_run: true, ..options }, |_| ()).await.unwrap();
    assert_eq!(planned.outcome, Outcome::Planned);
    let service = service.restarted().await;
    assert!(answers(&service).await != before);

    let report = rollback(&store, options, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    assert!(rollback(&store, options, |_| ()).await.is_err());
}

#[tokio::test]
async fn a_rollback_killed_after_any_call_is_completed_by_the_next() {
    let options = Options::default();
    let (first, second) = (with_first(options).await, with_first(options).await);
    import(&second.database.store(), &Texts::second(), options).await.unwrap();
    let (before, after) = (answers(&first).await, answers(&second.restarted().await).await);
    for killed_after in 0.. {
        let service = with_first(options).await;
        import(&service.database.store(), &Texts::second(), options).await.unwrap();
        let (store, _proxy) = dying(&service, killed_after).await;
        if rollback(&store, options, |_| ()).await.is_ok() {
            assert!(killed_after > 8, "{killed_after}");
            break;
        }
        let service = service.restarted().await;
        let served = answers(&service).await;
        assert!(served == before || served == after, "after {killed_after} calls");
        if served == after {
            rollback(&service.database.store(), options, |_| ()).await.unwrap();
        } else {
            import(&service.database.store(), &Texts::first(), options).await.unwrap();
        }
        assert!(answers(&service.restarted().await).await == before, "after {killed_after} calls");
    }
}

#[tokio::test]
async fn snapshots_beyond_three_old_ones_are_deleted() {
    let service = with_first(Options::default()).await;
    let store = service.database.store();
    for nxx in 1..=5 {
        let mut texts = Texts::first();
        texts.nanpa = texts.nanpa.replace("415-234", &format!("415-{nxx:03}"));
        import(&store, &texts, Options::default()).await.unwrap();
    }
    let manifest = store.manifest().await.unwrap().unwrap();
    assert_eq!((manifest.sequence, manifest.retained.len()), (6, 3));
    let chunks = dump(&store).await.into_keys().filter(|key| key.starts_with("dataset "));
    assert_eq!(chunks.count(), 4 + 1);
}
