use store::TimeoutProfile;

use super::{counter::OUTAGE_FAILURES, *};
use crate::auth::record_of;

/// A port that nothing listens on, so each call fails immediately.
const UNREACHABLE: &str = "http://127.0.0.1:1";

fn left_to_extension() -> Arc<Quotas> {
    let quotas = Quotas::new(Store::at_emulator(UNREACHABLE, TimeoutProfile::Request));
    quotas.leave_to_extension();
    Arc::new(quotas)
}

fn key(hash: &str, per_day: u32) -> KeyRecord {
    KeyRecord { per_day: Some(per_day), ..record_of(hash) }
}

/// The quota's failures so far, after recording one more.
fn next_failure(quotas: &Quotas, id: &str) -> u32 {
    quotas.quota(id).counter.lock().record_failure(0, Instant::now()).times
}

#[tokio::test]
async fn a_replacement_key_shares_the_quota() {
    let quotas = left_to_extension();
    let old = key("old", 2);
    let new = KeyRecord { quota_id: Some("old".to_owned()), ..key("new", 2) };
    assert_eq!(quotas.take(&old, 1).await.unwrap().unwrap().least_remaining(), 1);
    assert_eq!(quotas.take(&new, 1).await.unwrap().unwrap().least_remaining(), 0);
    assert!(quotas.take(&old, 1).await.is_err());
    assert!(quotas.take(&key("other", 2), 1).await.is_ok(), "it has a quota of its own");
}

/// Otherwise it would go unanswered if Lambda froze the process before the extension writes.
#[tokio::test]
async fn a_task_writes_for_waiting_requests_even_with_an_extension() {
    let quotas = left_to_extension();
    let key = key("a", 9);
    assert_eq!(quotas.take(&key, 1).await.unwrap().unwrap().least_remaining(), 8);
    // The table fails twice, so the container counts on its own.
    assert_eq!(quotas.take(&key, 3).await.unwrap().unwrap().least_remaining(), 5);
    assert_eq!(next_failure(&quotas, "a"), OUTAGE_FAILURES + 1);
}

#[tokio::test]
async fn quotas_without_unwritten_requests_are_dropped_if_there_are_many() {
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
fn operators_are_warned_after_minutes_of_failures_but_not_each_time() {
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
