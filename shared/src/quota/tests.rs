use super::{counter::OUTAGE_FAILURES, *};
use crate::auth::key_record;

fn quotas_left_to_extension() -> Arc<Quotas> {
    let quotas = Quotas::new(Store::unreachable());
    quotas.delegate_writes_to_extension();
    Arc::new(quotas)
}

fn key(hash: &str, per_day: u32) -> KeyRecord {
    KeyRecord { per_day: Some(per_day), ..key_record(hash) }
}

#[tokio::test]
async fn a_replacement_key_shares_the_quota() {
    let quotas = quotas_left_to_extension();
    let old = key("old", 2);
    let new = KeyRecord { quota_id: Some("old".to_owned()), ..key("new", 2) };
    assert_eq!(quotas.take(&old, 1, 0).await.unwrap().unwrap().min_remaining(), 1);
    assert_eq!(quotas.take(&new, 1, 0).await.unwrap().unwrap().min_remaining(), 0);
    assert!(quotas.take(&old, 1, 0).await.is_err());
    assert!(quotas.take(&key("other", 2), 1, 0).await.is_ok(), "it has its own quota");
}

/// Otherwise the client would wait longer if Lambda froze the process before the extension wrote the counts.
#[tokio::test]
async fn a_task_writes_counts_for_waiting_requests_even_with_an_extension() {
    let quotas = quotas_left_to_extension();
    let key = key("a", 9);
    assert_eq!(quotas.take(&key, 1, 0).await.unwrap().unwrap().min_remaining(), 8);
    assert!(quotas.quota("a").scheduled_at.lock().is_none(), "the extension writes");
    // Two writes fail, so the request is admitted without confirmation.
    assert_eq!(quotas.take(&key, 3, 0).await.unwrap().unwrap().min_remaining(), 5);
    let failures = quotas.quota("a").counter.lock().record_failure(0, Instant::now());
    assert_eq!(failures, OUTAGE_FAILURES + 1);
}

#[tokio::test]
async fn idle_quotas_are_dropped_beyond_the_maximum() {
    let quotas = quotas_left_to_extension();
    quotas.take(&key("busy", 9), 1, 0).await.unwrap();
    for id in 1..MAX_IDLE_QUOTAS {
        quotas.quota(&id.to_string());
    }
    assert_eq!(quotas.quotas.lock().len(), MAX_IDLE_QUOTAS);
    let in_use = quotas.quota("1");
    quotas.quota("one more");
    let mut left: Vec<String> = quotas.quotas.lock().keys().cloned().collect();
    left.sort();
    assert_eq!(left, ["1", "busy", "one more"]);
    drop(in_use);
}

#[test]
fn a_warning_is_due_after_repeated_failures_at_most_once_per_interval() {
    let now = Instant::now();
    let seconds_ago = |seconds| Some(now - Duration::from_secs(seconds));
    for (failures, warned_at, is_due) in [
        (FAILURES_BEFORE_WARNING - 1, None, false),
        (FAILURES_BEFORE_WARNING, None, true),
        (FAILURES_BEFORE_WARNING, seconds_ago(119), false),
        (FAILURES_BEFORE_WARNING, seconds_ago(120), true),
    ] {
        assert_eq!(is_warning_due(failures, warned_at, now), is_due, "{failures} {warned_at:?}");
    }
}
