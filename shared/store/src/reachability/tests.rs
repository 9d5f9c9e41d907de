use std::future::pending;

use aws_sdk_dynamodb::{
    config::http::HttpResponse, error::ErrorMetadata, operation::get_item::GetItemError,
};
use futures_util::{FutureExt, future::try_join_all};
use tokio::task::yield_now;

use super::*;
use crate::TimeoutProfile;

async fn succeed() -> Result<(), StoreError> {
    Ok(())
}

async fn hang() -> Result<(), StoreError> {
    pending().await
}

async fn fail() -> Result<(), StoreError> {
    Err(StoreError::Busy { operation: "Query", left: 1 })
}

fn is_not_called(result: &Result<(), StoreError>) -> bool {
    matches!(result, Err(StoreError::NotCalled { .. }))
}

/// Creates a store whose history table failed long enough ago that a request may probe it.
fn store_to_probe() -> Store {
    let store = Store::unreachable();
    let failed_at = Instant::now() - PROBE_INTERVAL;
    let table = &store.reachability.tables[Table::History as usize];
    for breaker in [&table.brief, &table.patient] {
        breaker.record_failure(FailureKind::Throttled, failed_at, metering::request_number());
    }
    store
}

/// A request's second read used to be refused, which canceled the first, so one failure disabled the history for good.
#[tokio::test]
async fn a_request_with_several_reads_recovers_a_table() {
    let store = store_to_probe();
    let read = || store.read_patiently(Table::History, yield_now().map(Ok));
    let (reads, _) = metering::measure_reads(try_join_all([read(), read(), read()])).await;
    assert!(reads.is_ok(), "{reads:?}");
    assert!(read().await.is_ok());
}

#[tokio::test]
async fn a_slow_success_does_not_close_the_breaker_for_brief_reads() {
    let limit = Store::unreachable().timeouts.brief_reads().unwrap();
    for (took, is_open) in [(limit + Duration::from_millis(1), true), (Duration::ZERO, false)] {
        let store = store_to_probe();
        let read = tokio::time::sleep(took).map(Ok);
        assert!(store.read_patiently(Table::History, read).await.is_ok());
        let brief = &store.reachability.tables[Table::History as usize].brief;
        assert_eq!(brief.has_failed_recently(Instant::now()), is_open, "{took:?}");
    }
}

#[test]
fn dynamodb_errors_are_classified() {
    for (status, code, kind) in [
        (400, "ThrottlingException", FailureKind::Throttled),
        (400, "ProvisionedThroughputExceededException", FailureKind::Throttled),
        (400, "RequestLimitExceeded", FailureKind::Throttled),
        (500, "Throttling", FailureKind::Throttled),
        (400, "ResourceNotFoundException", FailureKind::Refused),
        (500, "InternalServerError", FailureKind::ServerError),
    ] {
        let error = GetItemError::generic(ErrorMetadata::builder().code(code).build());
        let response = HttpResponse::new(status.try_into().unwrap(), "".into());
        assert_eq!(FailureKind::from_sdk(&SdkError::service_error(error, response)), kind);
    }
    let timeout = SdkError::<GetItemError>::timeout_error("late");
    assert_eq!(FailureKind::from_sdk(&timeout), FailureKind::Timeout);
}

/// Otherwise no alarm would show that requests fail.
#[tokio::test]
async fn refused_read_counts_as_the_failure_that_caused_it() {
    let store = Store::unreachable();
    let reads = async {
        assert!(store.read_patiently(Table::History, fail()).await.is_err());
        let refused = store.read_patiently(Table::History, succeed()).await.unwrap_err();
        assert!(refused.to_string().contains("throttled"), "{refused}");
    };
    let ((), consumption) = metering::measure_reads(reads).await;
    assert_eq!(consumption.failed_calls, 2);
    let counted: Vec<_> = store.failed_calls().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted, [(FailureKind::Throttled, 2)]);
}

/// Without the limit, this test would hang.
#[tokio::test]
async fn brief_reads_in_a_request_share_one_limit_and_each_table_has_its_own_breaker() {
    let store = Store::unreachable();
    let (second, _) = metering::measure_reads(async {
        let first = store.read_briefly(Table::ApiKeys, hang()).await;
        assert!(matches!(first, Err(StoreError::TooSlow { .. })));
        store.read_briefly(Table::Dataset, hang()).await
    })
    .await;
    assert!(is_not_called(&second), "the limit is used up");
    assert!(store.read_briefly(Table::Dataset, succeed()).await.is_ok(), "its breaker is closed");
    assert!(is_not_called(&store.read_briefly(Table::ApiKeys, hang()).await));
    assert!(!store.is_reachable());
}

#[tokio::test]
async fn patient_reads_still_call_a_table_that_failed_brief_reads() {
    let store = Store::unreachable();
    assert!(store.read_briefly(Table::ApiKeys, hang()).await.is_err());
    assert!(is_not_called(&store.read_briefly(Table::ApiKeys, succeed()).await));
    assert!(store.read_patiently(Table::ApiKeys, succeed()).await.is_ok());
    assert!(store.read_briefly(Table::ApiKeys, succeed()).await.is_ok(), "it was fast");
    assert!(store.read_patiently(Table::ApiKeys, fail()).await.is_err());
    assert!(is_not_called(&store.read_patiently(Table::ApiKeys, hang()).await));
}

#[tokio::test]
async fn connection_errors_count_as_failures_and_unreadable_items_do_not() {
    let store = Store::unreachable();
    let unreadable = async { Err::<(), _>(StoreError::item("exchanges")("no such field")) };
    assert!(store.read_briefly(Table::Exchanges, unreadable).await.is_err());
    assert!(store.is_reachable());
    assert!(store.failed_calls().all(|(_, count)| count == 0));
    assert!(store.read_patiently(Table::Dataset, store.manifest()).await.is_err());
    let counted: Vec<_> = store.failed_calls().filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted, [(FailureKind::Connection, 1)]);
}

#[tokio::test]
async fn imports_have_no_read_limit_or_breaker() {
    let store = Store { timeouts: TimeoutProfile::Batch, ..Store::unreachable() };
    for _ in 0..2 {
        let result = store.read_briefly(Table::Dataset, fail()).await;
        assert!(matches!(result, Err(StoreError::Busy { .. })));
    }
    let slow = store.read_briefly(Table::Dataset, async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        Ok(())
    });
    assert!(slow.await.is_ok());
}

#[test]
fn a_failed_table_is_probed_by_one_request_after_each_pause() {
    const FIRST: RequestNumber = RequestNumber(1);
    const SECOND: RequestNumber = RequestNumber(2);
    let (breaker, start, just) = (Breaker::default(), Instant::now(), Duration::from_millis(1));
    assert_eq!(breaker.admit(start, FIRST), Ok(()));
    breaker.record_failure(FailureKind::Throttled, start, FIRST);
    for time in [start, start + PROBE_INTERVAL - just] {
        assert_eq!(breaker.admit(time, FIRST), Err(FailureKind::Throttled));
    }

    // Admits all reads of the first request, but none of another until the next pause ends.
    let probe = start + PROBE_INTERVAL;
    assert_eq!([probe, probe].map(|time| breaker.admit(time, FIRST)), [Ok(()); 2]);
    assert_eq!(breaker.admit(probe + PROBE_INTERVAL - just, SECOND), Err(FailureKind::Throttled));
    assert_eq!(breaker.admit(probe + PROBE_INTERVAL, SECOND), Ok(()));
    assert_eq!(breaker.admit(probe + PROBE_INTERVAL, FIRST), Err(FailureKind::Throttled));

    // A late failure in the first request does not end the second request's probe.
    breaker.record_failure(FailureKind::Throttled, probe + PROBE_INTERVAL, FIRST);
    assert_eq!(breaker.admit(probe + PROBE_INTERVAL, SECOND), Ok(()));
    breaker.record_failure(FailureKind::Timeout, probe + PROBE_INTERVAL, SECOND);
    assert_eq!(breaker.admit(probe + PROBE_INTERVAL, SECOND), Err(FailureKind::Timeout));
    breaker.record_success();
    assert_eq!([FIRST, SECOND].map(|it| breaker.admit(probe + PROBE_INTERVAL, it)), [Ok(()); 2]);
}

#[test]
fn failures_are_recent_for_half_a_minute() {
    let (breaker, now) = (Breaker::default(), Instant::now());
    breaker.record_failure(FailureKind::Timeout, now, RequestNumber(1));
    assert!(breaker.has_failed_recently(now + RECENT_FAILURE_WINDOW - Duration::from_millis(1)));
    assert!(!breaker.has_failed_recently(now + RECENT_FAILURE_WINDOW));
}
