//! Tests imports that overlap, or that find DynamoDB busy. The publishing model covers crashes and lost responses.

use std::time::{Duration, Instant};

use ingest::{CountrySources, IngestError, Options, Outcome};
use jiff::ToSpan;
use store::Table;

use crate::support::{
    fault_proxy::{Call, Fault, FaultProxy},
    imports::{assert_no_drift, import, responses},
    service::Service,
    small_reports::ReportSet,
};

#[tokio::test]
async fn imports_wait_for_a_busy_database() {
    let service = Service::empty().await;
    let policy = |call: &Call| match (call.operation.as_str(), call.number % 6) {
        ("BatchWriteItem", 0 | 3) => Fault::HalfProcessed,
        (_, 1) => Fault::THROTTLED,
        (_, 2) => Fault::INTERNAL_ERROR,
        ("BatchWriteItem", 4) => Fault::CutOff,
        _ => Fault::None,
    };
    let store = FaultProxy::new(service.database.endpoint(), policy).await.store();
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    assert_no_drift(&service.database.store()).await;
}

#[tokio::test]
async fn imports_stop_cleanly_before_their_deadline_on_a_busy_database() {
    let service = Service::with_small_reports().await;
    let before = responses(&service).await;
    let endpoint = service.database.endpoint();
    let busy =
        FaultProxy::for_operation(endpoint, "BatchWriteItem", Fault::THROTTLED).await.store();
    for (store, seconds) in [(service.database.store(), 5), (busy, 17)] {
        let started = Instant::now();
        let deadline = started + Duration::from_secs(seconds);
        let late = Options { deadline: Some(deadline), ..Options::default() };
        let error = import(&store, &ReportSet::second(), late).await.unwrap_err();
        assert!(matches!(error, IngestError::OutOfTime), "{error}");
        assert!(Instant::now() < deadline, "{:?}", started.elapsed());
    }
    assert!(responses(&service.restart().await).await == before);
}

/// This happens if two reports arrive in the data bucket at once.
#[tokio::test]
async fn concurrent_imports_both_succeed_after_one_restarts() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let sources = ReportSet::second().sources();
    let options = Options { verify: true, ..Options::default() };
    let countries = CountrySources::new();
    let import = || ingest::import(&store, &sources, &countries, options, |_| ());
    let (a, b) = tokio::join!(import(), import());
    let reports = [a.unwrap(), b.unwrap()];
    let count = |outcome| reports.iter().filter(|report| report.outcome == outcome).count();
    assert_eq!((count(Outcome::Published), count(Outcome::Unchanged)), (1, 1));
    // Each import repairs items that the other one has overwritten.
    assert!(reports.iter().all(|report| report.verification.is_some()));
    assert_no_drift(&store).await;
}

/// A crashed import leaves chunks that no manifest lists. They remain while the import could still publish them.
#[tokio::test]
async fn crashed_imports_chunks_are_deleted_once_it_cannot_publish() {
    let service = Service::with_small_reports().await;
    let store = service.database.store();
    let chunks = async || {
        let (client, tables) = store.parts();
        let scan = client.scan().table_name(tables.name(Table::Dataset)).send().await.unwrap();
        scan.items().iter().filter(|item| item["id"].as_s().unwrap().contains("#0")).count()
    };
    let now = store.manifest().await.unwrap().unwrap().current.ingested_at;
    let endpoint = service.database.endpoint();
    let crashing = FaultProxy::for_operation(endpoint, "PutItem", Fault::CutOff).await.store();
    let old = Options { now: now - 48.hours(), ..Options::default() };
    import(&crashing, &ReportSet::second(), old).await.unwrap_err();
    store.sweep(now).await.unwrap();
    assert_eq!(chunks().await, 2, "it may still be published");
    import(&store, &ReportSet::first(), Options::default()).await.unwrap();
    assert_eq!(chunks().await, 1);
}
