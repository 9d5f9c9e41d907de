//! Imports that die, meet a busy DynamoDB, or overlap.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use ingest::{
    IngestError, Options, Outcome, Progress, RollbackTarget, ingest_after_others, rollback,
};
use store::StoreError;

use crate::support::{
    fault_proxy::{Fault, at_operation},
    imports::{answers, assert_no_drift, import, store_with_faults},
    service::Service,
    small_reports::ReportTexts,
};

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
async fn rollback_is_one_write() {
    let options = Options::default();
    let service = Service::with_small_reports().await;
    let before = answers(&service).await;
    import(&service.database.store(), &ReportTexts::second(), options).await.unwrap();
    let writes = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&writes);
    let policy = move |_, operation: &str| {
        if !operation.contains("Get") {
            noted.lock().unwrap().push(operation.to_owned());
        }
        Fault::None
    };
    let (counted, _proxy) = store_with_faults(&service, policy).await;
    let newest = RollbackTarget::NewestReadable;
    let dry = Options { dry_run: true, ..options };
    let planned = rollback(&counted, &newest, dry, |_| ()).await.unwrap();
    assert_eq!((planned.outcome, writes.lock().unwrap().len()), (Outcome::Planned, 0));
    let report = rollback(&counted, &newest, options, |_| ()).await.unwrap();
    assert_eq!(report.outcome, Outcome::RolledBack);
    assert_eq!(*writes.lock().unwrap(), ["PutItem"]);
    assert!(answers(&service.restarted().await).await == before);
}
