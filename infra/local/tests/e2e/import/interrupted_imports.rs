//! Imports that die, meet a busy DynamoDB, or run into each other.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::types::AttributeValue;
use ingest::{
    IngestError, Options, Outcome, Progress, RollbackTarget, ingest_after_others, rollback,
};
use store::StoreError;

use crate::support::{
    fault_proxy::{Fault, at_operation},
    imports::{
        allowing_older, answers, assert_no_drift, dying_store, import, repair, store_with_faults,
    },
    service::Service,
    small_reports::ReportTexts,
};

const NEWEST: RollbackTarget = RollbackTarget::NewestReadable;

#[tokio::test]
async fn killed_after_any_call_one_version_serves_whole_and_the_next_run_completes() {
    let options = allowing_older();
    let (first, second) = (ReportTexts::first(), ReportTexts::second());
    let unkilled = Service::with_small_reports().await;
    let before = answers(&unkilled).await;
    let (store, proxy) = dying_store(&unkilled, usize::MAX).await;
    import(&store, &second, options).await.unwrap();
    let calls = proxy.calls();
    let after = answers(&unkilled.restarted().await).await;
    assert_ne!(before, after);
    assert!(calls > 5, "{calls}");

    for killed_after in 0..calls {
        let service = Service::with_small_reports().await;
        let (store, _proxy) = dying_store(&service, killed_after).await;
        let died = import(&store, &second, options).await;
        let service = service.restarted().await;
        let served = answers(&service).await;
        let published = served["/v1/stats"] == after["/v1/stats"];
        // An import that dies after it has published has not failed: only sweeping was left.
        assert_eq!(died.is_ok(), published, "after {killed_after} of {calls} calls");
        let expected = if published { &after } else { &before };
        assert!(served == *expected, "after {killed_after} of {calls} calls");

        // The next run may be of the same files or of others.
        let is_same = killed_after % 2 == 0;
        let (next, expected) = if is_same { (&second, &after) } else { (&first, &before) };
        import(&service.database.store(), next, options).await.unwrap();
        let service = service.restarted().await;
        assert!(answers(&service).await == *expected, "after {killed_after}");
        repair(&service.database.store()).await;
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
    let (store, _proxy) = store_with_faults(&service, policy).await;
    import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
    assert_no_drift(&service.database.store()).await;
}

#[tokio::test]
async fn near_its_deadline_an_import_stops_cleanly_and_says_so() {
    let service = Service::with_small_reports().await;
    let before = answers(&service).await;
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let store = service.database.store();
    let late = Options { deadline, ..Options::default() };
    let error = import(&store, &ReportTexts::second(), late).await.unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
    assert!(answers(&service.restarted().await).await == before);
}

#[tokio::test]
async fn a_database_that_stays_busy_is_given_up_near_the_deadline() {
    let service = Service::with_small_reports().await;
    let policy = at_operation("BatchWriteItem", Fault::Throttled);
    let (store, _proxy) = store_with_faults(&service, policy).await;
    let started = Instant::now();
    let deadline = Some(started + Duration::from_secs(17));
    let late = Options { deadline, ..Options::default() };
    let error = import(&store, &ReportTexts::second(), late).await.unwrap_err();
    assert!(matches!(error, IngestError::OutOfTime), "{error}");
    assert!(started.elapsed() < Duration::from_secs(17), "{:?}", started.elapsed());
    import(&service.database.store(), &ReportTexts::second(), Options::default()).await.unwrap();
}

#[tokio::test]
async fn of_two_imports_at_once_one_wins_and_nothing_mixes() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let (second, third) = (ReportTexts::second(), ReportTexts::third());
    let (a, b) = tokio::join!(import(&store, &second, options), import(&store, &third, options));
    let won = match (&a, &b) {
        (Ok(_), Err(IngestError::Store(StoreError::Overtaken))) => second,
        (Err(IngestError::Store(StoreError::Overtaken)), Ok(_)) => third,
        both => panic!("{both:?}"),
    };
    let expected = Service::with_small_reports().await;
    import(&expected.database.store(), &won, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let served = answers(&service.restarted().await).await;
    assert!(served == expected);
}

/// As two reports that land in the data bucket at once do.
#[tokio::test]
async fn of_two_imports_at_once_in_lambda_the_later_starts_anew_and_neither_fails() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let second = ReportTexts::second();
    let sources = second.sources();
    let (a, b) = tokio::join!(
        ingest_after_others(&store, &sources, options, |_| ()),
        ingest_after_others(&store, &sources, options, |_| ()),
    );
    let outcomes = [a.unwrap().outcome, b.unwrap().outcome];
    let published = |outcome: &Outcome| matches!(outcome, Outcome::Published);
    assert_eq!(outcomes.iter().filter(|outcome| published(outcome)).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Unchanged)), "{outcomes:?}");
    let expected = Service::with_small_reports().await;
    import(&expected.database.store(), &second, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    let served = answers(&service.restarted().await).await;
    assert!(served == expected);
}

/// A defect that refuses every version must end an import, however long Lambda would let it run.
#[tokio::test]
async fn an_import_that_others_always_precede_gives_up_after_three_restarts() {
    let service = Service::with_small_reports().await;
    let policy = at_operation("PutItem", Fault::Overtaken);
    let (store, _proxy) = store_with_faults(&service, policy).await;
    let starts = AtomicUsize::new(0);
    let progress = |progress| {
        if progress == Progress::Comparing {
            starts.fetch_add(1, Ordering::SeqCst);
        }
    };
    // The reports of the current version, so that nothing but the manifest is written.
    let first = ReportTexts::first().sources();
    let error =
        ingest_after_others(&store, &first, Options::default(), progress).await.unwrap_err();
    assert!(matches!(error, IngestError::Store(StoreError::Overtaken)), "{error}");
    assert_eq!(starts.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn two_first_imports_at_once_publish_one_version() {
    let service = Service::empty().await;
    let store = service.database.store();
    let (first, options) = (ReportTexts::first(), Options::default());
    let (a, b) = tokio::join!(import(&store, &first, options), import(&store, &first, options));
    assert!(a.is_ok() != b.is_ok(), "{a:?} {b:?}");
    let expected = answers(&Service::with_small_reports().await).await;
    let served = answers(&service).await;
    assert!(served == expected);
}

#[tokio::test]
async fn rollback_makes_the_version_before_current_with_one_write() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let before = answers(&service).await;
    let store = service.database.store();
    let error = rollback(&store, &NEWEST, options, |_| ()).await.unwrap_err();
    assert!(matches!(error, IngestError::NothingBefore), "{error}");
    import(&store, &ReportTexts::second(), options).await.unwrap();

    let planned =
        rollback(&store, &NEWEST, Options { dry_run: true, ..options }, |_| ()).await.unwrap();
    assert_eq!(planned.outcome, Outcome::Planned);
    let service = service.restarted().await;
    assert!(answers(&service).await != before);

    let writes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&writes);
    let policy = move |_, operation: &str| {
        if !operation.contains("Get") {
            noted.lock().unwrap().push(operation.to_owned());
        }
        Fault::None
    };
    let (counted, _proxy) = store_with_faults(&service, policy).await;
    let report = rollback(&counted, &NEWEST, options, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    assert_eq!(*writes.lock().unwrap(), ["PutItem"]);
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    assert!(rollback(&store, &NEWEST, options, |_| ()).await.is_err());
}

/// After a rollback that was killed half-way and an import of newer data, lookups used to
/// contradict lists.
#[tokio::test]
async fn an_import_after_a_killed_rollback_leaves_no_contradiction() {
    let options = Options::default();
    let (second, third) = (ReportTexts::second(), ReportTexts::third());
    let expected = Service::with_small_reports().await;
    import(&expected.database.store(), &third, options).await.unwrap();
    let expected = answers(&expected.restarted().await).await;
    for killed_after in 0..5 {
        let service = Service::with_small_reports().await;
        import(&service.database.store(), &second, options).await.unwrap();
        let (store, _proxy) = dying_store(&service, killed_after).await;
        _ = rollback(&store, &NEWEST, options, |_| ()).await;
        import(&service.database.store(), &third, options).await.unwrap();
        let service = service.restarted().await;
        let served = answers(&service).await;
        assert!(served == expected, "killed after {killed_after}");
    }
}

/// The first import dies after it has published, the second while it writes.
#[tokio::test]
async fn an_import_after_two_that_died_leaves_no_contradiction() {
    let options = allowing_older();
    let expected = answers(&Service::with_small_reports().await).await;
    for killed_after in 2..7 {
        let service = Service::with_small_reports().await;
        let policy = |_, operation: &str| match operation {
            "Scan" | "DeleteItem" => Fault::Dead,
            _ => Fault::None,
        };
        let (unswept, _proxy) = store_with_faults(&service, policy).await;
        import(&unswept, &ReportTexts::second(), options).await.unwrap();
        let (store, _proxy) = dying_store(&service, killed_after).await;
        _ = import(&store, &ReportTexts::third(), options).await;
        import(&service.database.store(), &ReportTexts::first(), options).await.unwrap();
        let service = service.restarted().await;
        let served = answers(&service).await;
        assert!(served == expected, "killed after {killed_after}");
    }
}

/// A damaged snapshot used to end every later import before it began.
#[tokio::test]
async fn a_current_version_that_cannot_be_read_keeps_no_import_out() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    import(&store, &ReportTexts::second(), Options::default()).await.unwrap();
    let current = store.manifest().await.unwrap().unwrap().current.version;
    let (client, tables) = store.parts();
    let chunk = AttributeValue::S(format!("{current}#0000"));
    client.delete_item().table_name(&tables.dataset).key("id", chunk).send().await.unwrap();

    let report = import(&store, &ReportTexts::second(), Options::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Published);
    assert!(report.warnings.keys().any(|kind| kind.contains("cannot be read")), "{report:?}");
    let manifest = store.manifest().await.unwrap().unwrap();
    assert!(manifest.snapshot(current.as_str()).is_none(), "no rollback leads to it");
    let service = service.restarted().await;
    assert_eq!(service.answer("/v1/npa/415/nxx/207").await.0, 200);
}
