use store::TimeoutProfile;

use super::{counter::FAILURES_OF_OUTAGE, *};

/// A port on which nothing listens, so that each call fails at once.
const UNREACHABLE: &str = "http://127.0.0.1:1";

async fn without_dynamodb() -> Arc<Quotas> {
    Arc::new(Quotas::new(Store::at_emulator(UNREACHABLE, TimeoutProfile::Request)))
}

fn key(hash: &str, per_day: Option<u32>) -> KeyRecord {
    KeyRecord {
        key_hash: hash.to_owned(),
        prefix: String::new(),
        name: String::new(),
        note: None,
        created_at: Timestamp::UNIX_EPOCH,
        expires_at: None,
        revoked_at: None,
        per_minute: None,
        per_day,
        quota_id: None,
    }
}

/// The failures of the quota so far, after recording one more.
fn next_failure(quotas: &Quotas, id: &str) -> u32 {
    quotas.quota(id).counter.lock().record_failure(0, Instant::now()).times
}

#[tokio::test]
async fn a_key_without_quotas_is_admitted_and_not_counted() {
    let quotas = without_dynamodb().await;
    let key = key("a", None);
    assert_eq!(quotas.take(&key, 1).await, Ok(None));
    assert!(quotas.quotas.lock().is_empty());
}

#[tokio::test]
async fn a_key_that_replaces_another_has_its_quota() {
    let quotas = without_dynamodb().await;
    quotas.leave_to_extension();
    let old = key("old", Some(2));
    let new = KeyRecord { quota_id: Some("old".to_owned()), ..key("new", Some(2)) };
    assert_eq!(quotas.take(&old, 1).await.unwrap().unwrap().least_remaining(), 1);
    assert_eq!(quotas.take(&new, 1).await.unwrap().unwrap().least_remaining(), 0);
    let exceeded = quotas.take(&old, 1).await.unwrap_err();
    assert_eq!(exceeded.exhausted.limit_type, LimitType::Daily);
    assert_eq!(exceeded.statuses.daily, Some(exceeded.exhausted));
    assert!(quotas.take(&key("other", Some(2)), 1).await.is_ok(), "it has a quota of its own");
}

#[tokio::test]
async fn a_write_that_fails_is_retried_only_when_it_is_due_again() {
    let quotas = without_dynamodb().await;
    quotas.leave_to_extension();
    quotas.take(&key("a", Some(9)), 1).await.unwrap();
    quotas.write_due().await;
    quotas.write_due().await;
    assert!(quotas.quota("a").has_unwritten());
    assert_eq!(next_failure(&quotas, "a"), 2, "the second write was not due yet");
}

#[tokio::test]
async fn the_last_counts_are_written_in_three_attempts() {
    let quotas = without_dynamodb().await;
    quotas.leave_to_extension();
    quotas.write_rest().await;
    quotas.take(&key("a", Some(9)), 1).await.unwrap();
    quotas.write_rest().await;
    assert_eq!(next_failure(&quotas, "a"), LAST_ATTEMPTS + 1);
}

#[tokio::test]
async fn one_task_writes_a_quota_and_none_if_an_extension_does() {
    let quotas = without_dynamodb().await;
    let key = key("a", Some(9));
    quotas.leave_to_extension();
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
    let quotas = without_dynamodb().await;
    quotas.leave_to_extension();
    let key = key("a", Some(9));
    assert_eq!(quotas.take(&key, 1).await.unwrap().unwrap().least_remaining(), 8);
    // The table fails twice, so that the container counts by itself.
    assert_eq!(quotas.take(&key, 3).await.unwrap().unwrap().least_remaining(), 5);
    assert_eq!(next_failure(&quotas, "a"), FAILURES_OF_OUTAGE + 1);
}

#[tokio::test]
async fn quotas_without_unwritten_requests_are_dropped_once_there_are_many() {
    let quotas = without_dynamodb().await;
    quotas.leave_to_extension();
    quotas.take(&key("busy", Some(9)), 1).await.unwrap();
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
    let often = Failures { since, times: FAILED_TIMES };
    assert!(!is_warning_due(often, None, after(119)));
    assert!(is_warning_due(often, None, after(120)));
    assert!(!is_warning_due(Failures { since, times: FAILED_TIMES - 1 }, None, after(600)));
    assert!(!is_warning_due(often, Some(after(120)), after(239)));
    assert!(is_warning_due(often, Some(after(120)), after(240)));
}
