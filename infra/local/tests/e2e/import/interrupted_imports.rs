//! Imports that die, meet a busy DynamoDB, or overlap.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
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
async fn an_import_killed_at_any_call_leaves_one_whole_version_and_the_next_completes() {
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

    let kill = async |killed_after| {
        let service = Service::with_small_reports().await;
        let (store, _proxy) = dying_store(&service, killed_after).await;
        let died = import(&store, &second, options).await;
        let service = service.restarted().await;
        let served = answers(&service).await;
        let published = served["/v1/stats"] == after["/v1/stats"];
        // An import that dies after publishing has succeeded: only sweeping was left.
        assert_eq!(died.is_ok(), published, "after {killed_after} of {calls} calls");
        let expected = if published { &after } else { &before };
        assert!(served == *expected, "after {killed_after} of {calls} calls");

        // The next run may have the same files or others.
        let is_same = killed_after % 2 == 0;
        let (next, expected) = if is_same { (&second, &after) } else { (&first, &before) };
        import(&service.database.store(), next, options).await.unwrap();
        let service = service.restarted().await;
        assert!(answers(&service).await == *expected, "after {killed_after}");
        repair(&service.database.store()).await;
        assert_no_drift(&service.database.store()).await;
    };
    // A dying import mostly waits between retries.
    stream::iter(0..calls).for_each_concurrent(4, kill).await;
}

#[tokio::test]
async fn imports_wait_for_a_busy_database() {
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
async fn imports_stop_cleanly_before_their_deadline_on_a_busy_database() {
    let service = Service::with_small_reports().await;
    let before = answers(&service).await;
    let policy = at_operation("BatchWriteItem", Fault::Throttled);
    let (busy, _proxy) = store_with_faults(&service, policy).await;
    for (store, seconds) in [(service.database.store(), 5), (busy, 17)] {
        let started = Instant::now();
        let deadline = started + Duration::from_secs(seconds);
        let late = Options { deadline: Some(deadline), ..Options::default() };
        let error = import(&store, &ReportTexts::second(), late).await.unwrap_err();
        assert!(matches!(error, IngestError::OutOfTime), "{error}");
        assert!(Instant::now() < deadline, "{:?}", started.elapsed());
    }
    let service = service.restarted().await;
    assert!(answers(&service).await == before);
    import(&service.database.store(), &ReportTexts::second(), Options::default()).await.unwrap();
}

#[tokio::test]
async fn an_import_succeeds_even_if_its_last_response_is_lost() {
    let service = Service::with_small_reports().await;
    let is_lost = Arc::new(AtomicBool::new(false));
    let was_lost = Arc::clone(&is_lost);
    // The same files again write only the manifest. The client retries the call, which is refused, since
    // the first attempt replaced the manifest.
    let policy = move |_, operation: &str| match operation {
        "PutItem" if !is_lost.swap(true, Ordering::SeqCst) => Fault::BrokenOff,
        _ => Fault::None,
    };
    let (store, _proxy) = store_with_faults(&service, policy).await;
    let report = import(&store, &ReportTexts::first(), Options::default()).await.unwrap();
    assert_eq!(report.outcome, Outcome::Unchanged);
    assert!(was_lost.load(Ordering::SeqCst));
}

/// Happens when two reports arrive in the data bucket at once.
#[tokio::test]
async fn concurrent_lambda_imports_both_succeed_because_the_later_one_restarts() {
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

/// An import must end even if a defect refuses every version, however long Lambda would let it run.
#[tokio::test]
async fn an_import_that_is_always_overtaken_gives_up_after_three_restarts() {
    let service = Service::with_small_reports().await;
    let policy = at_operation("PutItem", Fault::Overtaken);
    let (store, _proxy) = store_with_faults(&service, policy).await;
    let starts = AtomicUsize::new(0);
    let progress = |progress| {
        if progress == Progress::Comparing {
            starts.fetch_add(1, Ordering::SeqCst);
        }
    };
    // The current version's reports, so that only the manifest is written.
    let first = ReportTexts::first().sources();
    let error =
        ingest_after_others(&store, &first, Options::default(), progress).await.unwrap_err();
    assert!(matches!(error, IngestError::Store(StoreError::Overtaken)), "{error}");
    assert_eq!(starts.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn one_of_two_concurrent_first_imports_is_overtaken() {
    let service = Service::empty().await;
    let store = service.database.store();
    let (first, options) = (ReportTexts::first(), Options::default());
    let both = tokio::join!(import(&store, &first, options), import(&store, &first, options));
    let ((Ok(_), Err(error)) | (Err(error), Ok(_))) = both else { panic!("{both:?}") };
    assert!(matches!(error, IngestError::Store(StoreError::Overtaken)), "{error}");
    let expected = answers(&Service::with_small_reports().await).await;
    assert!(answers(&service).await == expected);
}

#[tokio::test]
async fn rollback_restores_the_previous_version_with_one_write() {
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
