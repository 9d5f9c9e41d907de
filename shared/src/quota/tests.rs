use store::TimeoutProfile;

use super::{counter::FAILURES_OF_OUTAGE, *};
use crate::auth::record_of;

/// A port on which nothing listens, so that each call fails at once.
const UNREACHABLE: &str = "http://127.0.0.1:1";

fn left_to_extension() -> Arc<Quotas> {
    let quotas = Quotas::new(Store::at_emulator(UNREACHABLE, TimeoutProfile::Request));
    quotas.leave_to_extension();
    Arc::new(quotas)
}

fn key(hash: &str, per_day: u32) -> KeyRecord {
    KeyRecord { per_day: Some(per_day), ..record_of(hash) }
}

/// The failures of the quota so far, after recording one more.
fn next_failure(quotas: &Quotas, id: &str) -> u32 {
    quotas.quota(id).counter.lock().record_failure(0, Instant::now()).times
}

#[tokio::test]
async fn a_key_that_replaces_another_shares_its_quota() {
    let quotas = left_to_extension();
    let old = key("old", 2);
    let new = KeyRecord { quota_id: Some("old".to_owned()), ..key("new", 2) };
    assert_eq!(quotas.take(&old, 1).await.unwrap().unwrap().least_remaining(), 1);
    assert_eq!(quotas.take(&new, 1).await.unwrap().unwrap().least_remaining(), 0);
    assert!(quotas.take(&old, 1).await.is_err());
    assert!(quotas.take(&key("other", 2), 1).await.is_ok(), "it has a quota of its own");
}

#[tokio::test]
async fn a_write_that_fails_is_retried_only_when_it_is_due_again() {
    let quotas = left_to_extension();
    quotas.take(&key("a", 9), 1).await.unwrap();
    quotas.write_due().await;
    quotas.write_due().await;
    assert!(quotas.quota("a").has_unwritten());
    assert_eq!(next_failure(&quotas, "a"), 2, "the second write was not due yet");
}

#[tokio::test]
async fn the_last_counts_are_written_in_three_attempts() {
    let quotas = left_to_extension();
    quotas.write_rest().await;
    quotas.take(&key("a", 9), 1).await.unwrap();
    quotas.write_rest().await;
    assert_eq!(next_failure(&quotas, "a"), LAST_ATTEMPTS + 1);
}

#[tokio::test]
async fn one_task_writes_a_quota_and_none_if_an_extension_does() {
    let quotas = left_to_extension();
    let key = key("a", 9);
    quotas.take(&key, 1).await.unwrap();
    assert!(!quotas.quota("a").has_writer.load(Ordering::SeqCst));

    quotas.is_written_by_extension.store(false, Ordering::SeqCst);
    quotas.write_soon(&quotas.quota("a"));
    quotas.write_soon(&quotas.quota("a"));
    assert!(quotas.quota("a").has_writer.load(Ordering::SeqCst));
    // One count is of this test, one of the map of quotas, and one of the task.
    assert_eq!(Arc::strong_count(&quotas.quota("a")), 3);
}

/// Nobody would answer it if Lambda froze the process before the extension writes.
#[tokio::test]
async fn a_request_that_waits_is_written_by_a_task_even_if_an_extension_writes_the_others() {
    let quotas = left_to_extension();
    let key = key("a", 9);
    assert_eq!(quotas.take(&key, 1).await.unwrap().unwrap().least_remaining(), 8);
    // The table fails twice, so that the container counts by itself.
    assert_eq!(quotas.take(&key, 3).await.unwrap().unwrap().least_remaining(), 5);
    assert_eq!(next_failure(&quotas, "a"), FAILURES_OF_OUTAGE + 1);
}

#[tokio::test]
async fn quotas_without_unwritten_requests_are_dropped_once_there_are_many() {
    let quotas = left_to_extension();
    quotas.take(&key("busy", 9), 1).await.unwrap();
    for number in 1..MANY_QUOTAS {
        quotas.quota(&number.to_string());
    }
    assert_eq!(quotas.quotas.lock().len(), MANY_QUOTAS);
    let used_by_a_request = quotas.quota("1");
    quotas.quota("one more");
    let mut left: Vec<String> = quotas.quotas.lock().keys().cloned().collect();
    left.sort();
    assert_eq!(left, ["1", "busy", "one more"]);
    drop(used_by_a_request);
}

#[test]
fn an_operator_is_warned_after_minutes_of_failures_and_not_at_each() {
    let since = Instant::now();
    let after = |seconds| since + Duration::from_secs(seconds);
    for (times, warned_at, now, is_due) in [
        (FAILED_TIMES, None, 119, false),
        (FAILED_TIMES, None, 120, true),
        (FAILED_TIMES - 1, None, 600, false),
        (FAILED_TIMES, Some(120), 239, false),
        (FAILED_TIMES, Some(120), 240, true),
    ] {
        let warned_at = warned_at.map(after);
        assert_eq!(
            is_warning_due(Failures { since, times }, warned_at, after(now)),
            is_due,
            "{now}"
        );
    }
}
