//! Imports that crash, run into a busy DynamoDB, or overlap.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use ingest::{
    IngestError, Options, Outcome, Progress, RollbackTarget, ingest_with_restarts, rollback,
};
use store::{StoreError, WRITES_PER_BATCH};

use crate::support::{
    database_calls::operations,
    fault_proxy::{Fault, for_first_calls, for_operation},
    imports::{assert_no_drift, import, responses, store_with_faults},
    service::Service,
    small_reports::ReportSet,
};

#[tokio::test]
async fn imports_wait_for_a_busy_database() {
    let service = Service::empty().await;
    let policy = |call, operation: &str| match (operation, call % 6) {
        ("BatchWriteItem", 0 | 3) => Fault::HalfProcessed,
        (_, 1) => Fault::Throttled,
        (_, 2) => Fault::InternalError,
        ("BatchWriteItem", 4) => Fault::CutOff,
        _ => Fault::None,
    };
    let (store, _proxy) = store_with_faults(&service, policy).await;
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    assert_no_drift(&service.database.store()).await;
}

#[tokio::test]
async fn imports_stop_cleanly_before_their_deadline_on_a_busy_database() {
    let service = Service::with_small_reports().await;
    let before = responses(&service).await;
    let policy = for_operation("BatchWriteItem", Fault::Throttled);
    let (busy, _proxy) = store_with_faults(&service, policy).await;
    for (store, seconds) in [(service.database.store(), 5), (busy, 17)] {
        let started = Instant::now();
        let deadline = started + Duration::from_secs(seconds);
        let late = Options { deadline: Some(deadline), ..Options::default() };
        let error = import(&store, &ReportSet::second(), late).await.unwrap_err();
        assert!(matches!(error, IngestError::OutOfTime), "{error}");
        assert!(Instant::now() < deadline, "{:?}", started.elapsed());
    }
    let service = service.restart().await;
    assert!(responses(&service).await == before);
    import(&service.database.store(), &ReportSet::second(), Options::default()).await.unwrap();
}

#[tokio::test]
async fn an_import_succeeds_even_if_its_last_response_is_lost() {
    let service = Service::with_small_reports().await;
    // Importing the same files again writes only the manifest. The client retries the call, which fails since
    // the first attempt replaced the manifest.
    let policy = for_first_calls(1, "PutItem", Fault::CutOff);
    let (store, proxy) = store_with_faults(&service, policy).await;
    let report = import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    assert_eq!(operations(&proxy.take_answered()).iter().filter(|it| **it == "PutItem").count(), 2);
}

/// Happens when two reports arrive in the data bucket at once.
#[tokio::test]
async fn concurrent_lambda_imports_both_succeed_because_the_later_one_restarts() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let second = ReportSet::second();
    let sources = second.sources();
    let (a, b) = tokio::join!(
        ingest_with_restarts(&store, &sources, options, |_| ()),
        ingest_with_restarts(&store, &sources, options, |_| ()),
    );
    let outcomes = [a.unwrap().outcome, b.unwrap().outcome];
    let published = |outcome: &Outcome| matches!(outcome, Outcome::Published);
    assert_eq!(outcomes.iter().filter(|outcome| published(outcome)).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Unchanged)), "{outcomes:?}");
    let expected = Service::with_small_reports().await;
    import(&expected.database.store(), &second, options).await.unwrap();
    let expected = responses(&expected.restart().await).await;
    let served = responses(&service.restart().await).await;
    assert!(served == expected);
}

/// An import must stop even if a bug makes every version fail to publish, however long Lambda would let it run.
#[tokio::test]
async fn an_import_that_is_always_overtaken_gives_up_after_three_restarts() {
    let service = Service::with_small_reports().await;
    let policy = for_operation("PutItem", Fault::ConditionFailed);
    let (store, _proxy) = store_with_faults(&service, policy).await;
    let starts = AtomicUsize::new(0);
    let progress = |progress| {
        if progress == Progress::Comparing {
            starts.fetch_add(1, Ordering::SeqCst);
        }
    };
    // The current version's reports, so that only the manifest is written.
    let first = ReportSet::first().sources();
    let error =
        ingest_with_restarts(&store, &first, Options::default(), progress).await.unwrap_err();
    assert!(matches!(error, IngestError::Store(StoreError::Overtaken)), "{error}");
    assert_eq!(starts.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_rollback_takes_effect_with_its_last_write() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let before = responses(&service).await;
    import(&service.database.store(), &ReportSet::second(), options).await.unwrap();
    let (counted, proxy) = store_with_faults(&service, |_, _| Fault::None).await;
    let writes = || {
        let calls = proxy.take_answered().into_iter().map(|call| call.operation);
        calls.filter(|operation| !operation.contains("Get")).collect::<Vec<_>>()
    };
    let newest = RollbackTarget::NewestReadable;
    let dry = Options { dry_run: true, ..options };
    let planned = rollback(&counted, &newest, dry, |_| ()).await.unwrap();
    assert_eq!((planned.outcome, writes()), (Outcome::Planned, vec![]));
    let report = rollback(&counted, &newest, options, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    // The changes, the difference's chunk, its publication and the copy, and the manifest.
    let changes = report.changes.total().div_ceil(WRITES_PER_BATCH);
    let expected = vec!["BatchWriteItem"; changes].into_iter().chain(["PutItem"; 4]);
    assert_eq!(writes(), expected.collect::<Vec<_>>());
    assert!(responses(&service.restart().await).await == before);
}
