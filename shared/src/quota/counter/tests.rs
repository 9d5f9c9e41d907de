use std::collections::BTreeMap;

use tokio::sync::oneshot::Receiver;

use super::*;

const NINE_AM: i64 = 1_795_219_200 + 9 * 3600;

fn limits(per_minute: Option<u64>, per_day: Option<u64>) -> Limits {
    Limits { per_minute, per_day }
}

/// Takes requests within the allowance.
fn take(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Outcome {
    match counter.take(limits, requests, now, Instant::now()) {
        TakeResult::Now(outcome) => outcome,
        TakeResult::AfterWrite(_) => panic!("the requests wait"),
    }
}

/// Takes requests that must wait for a write.
fn wait(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Receiver<Outcome> {
    match counter.take(limits, requests, now, Instant::now()) {
        TakeResult::Now(outcome) => panic!("{outcome:?}"),
        TakeResult::AfterWrite(receiver) => receiver,
    }
}

/// Writes unwritten requests to `table`.
fn write(counter: &mut Counter, table: &mut BTreeMap<i64, HourlyTallies>, now: i64) {
    let Some(flush) = counter.flush(now, Instant::now()) else { return };
    for (hour, tally) in &flush.tallies {
        let container = counter.container().to_owned();
        table.entry(*hour).or_default().insert(container, tally.clone());
    }
    counter.record_confirmed(&flush, table.clone(), now);
}

fn total(table: &BTreeMap<i64, HourlyTallies>) -> u64 {
    table.values().flat_map(HourlyTallies::values).map(|tally| tally.count).sum()
}

#[test]
fn requests_are_admitted_up_to_the_tighter_quota() {
    let mut counter = Counter::new();
    let limits = limits(Some(2), Some(3));
    let first = counter.take_unconfirmed(limits, 1, NINE_AM).unwrap();
    assert_eq!(first.minute.unwrap().remaining, 1);
    assert_eq!(first.daily.unwrap().remaining, 2);
    counter.take_unconfirmed(limits, 1, NINE_AM).unwrap();
    let rejected = take(&mut counter, limits, 1, NINE_AM).unwrap_err().exhausted;
    assert_eq!((rejected.limit_type, rejected.reset), (LimitType::Minute, NINE_AM + 60));
    // Rejected requests are not counted.
    counter.take_unconfirmed(limits, 1, NINE_AM + 60).unwrap();
    let rejected = take(&mut counter, limits, 1, NINE_AM + 61).unwrap_err().exhausted;
    assert_eq!((rejected.limit_type, rejected.reset), (LimitType::Daily, NINE_AM + 24 * 3600));
    // If both quotas are exhausted, the error reports the one that resets last.
    let (mut counter, both) = (Counter::new(), Limits { per_minute: Some(1), per_day: Some(1) });
    take(&mut counter, both, 1, NINE_AM).unwrap();
    let rejected = take(&mut counter, both, 1, NINE_AM).unwrap_err().exhausted;
    assert_eq!(rejected.limit_type, LimitType::Daily);
}

#[test]
fn requests_wait_behind_those_that_may_use_up_the_quota() {
    let (mut counter, quota) = (Counter::new(), MIN_ALLOWANCE + 1);
    let limits = limits(None, Some(quota));
    let _all = wait(&mut counter, limits, quota, NINE_AM);
    let _one_more = wait(&mut counter, limits, 1, NINE_AM);
}

#[test]
fn earlier_and_adjacent_hours_are_read_only_if_needed() {
    const HOUR: i64 = 3600;
    let (minute, daily) = (limits(Some(2), None), limits(Some(2), Some(5)));
    let whole_day: Vec<i64> = (-23..=0).map(|hours| NINE_AM + hours * HOUR).collect();
    for (limits, last_read, now, expected) in [
        (daily, None, NINE_AM + 60, &whole_day[..]),
        (daily, Some((minute, NINE_AM + 30)), NINE_AM + 60, &whole_day),
        (daily, Some((daily, NINE_AM + 30)), NINE_AM + 60, &[NINE_AM]),
        (daily, Some((daily, NINE_AM - 30)), NINE_AM + 60, &whole_day),
        // The one-minute window starts in the previous hour.
        (minute, None, NINE_AM + 54, &[NINE_AM - HOUR, NINE_AM]),
        (minute, None, NINE_AM + 55, &[NINE_AM]),
        // Near an hour boundary, the adjacent hour is read too.
        (minute, Some((minute, NINE_AM)), NINE_AM + 14, &[NINE_AM - HOUR, NINE_AM]),
        (minute, Some((minute, NINE_AM)), NINE_AM + 15, &[NINE_AM]),
        (minute, Some((minute, NINE_AM)), NINE_AM + HOUR - 16, &[NINE_AM]),
        (minute, Some((minute, NINE_AM)), NINE_AM + HOUR - 15, &[NINE_AM, NINE_AM + HOUR]),
    ] {
        let mut others = OtherRequests::default();
        if let Some((limits, read)) = last_read {
            others.record_read(limits, read);
        }
        assert_eq!(others.hours_to_read(&[], limits, now), expected, "{limits:?} at {now}");
    }
}

#[test]
fn the_first_write_is_due_immediately_and_later_ones_by_allowance_or_age() {
    let mut counter = Counter::new();
    let limits = limits(None, Some(101));
    let clock = Instant::now();
    assert_eq!(counter.due_at(clock), None);
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock), "the first write");
    write(&mut counter, &mut BTreeMap::new(), NINE_AM);
    assert_eq!(counter.due_at(clock), None, "everything is written");
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    assert!(counter.due_at(clock) > Some(clock + FLUSH_INTERVAL / 2), "few recent requests");
    take(&mut counter, limits, 4, NINE_AM).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock), "half of the allowance");
}

#[test]
fn failed_writes_are_retried_after_growing_delays() {
    let mut counter = Counter::new();
    take(&mut counter, limits(None, Some(9)), 1, NINE_AM).unwrap();
    let clock = Instant::now();
    let mut delays = Vec::new();
    for _ in 0..7 {
        counter.flush(NINE_AM, clock).unwrap();
        counter.record_failure(NINE_AM, clock);
        delays.push(counter.due_at(clock).unwrap().duration_since(clock).as_secs());
    }
    assert_eq!(delays, [1, 2, 4, 8, 16, 16, 16]);
    let failures = counter.record_failure(NINE_AM, clock + Duration::from_secs(90));
    assert_eq!(failures, Failures { since: clock, times: 8 });
}

#[test]
fn requests_do_not_wait_during_an_outage() {
    let mut counter = Counter::new();
    let limits = limits(Some(20), None);
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    let mut waiting = wait(&mut counter, limits, 5, NINE_AM);
    let clock = Instant::now();
    for _ in 0..2 {
        assert!(waiting.try_recv().is_err());
        assert_eq!(counter.due_at(clock), Some(clock), "a request is waiting");
        counter.flush(NINE_AM, clock).unwrap();
        counter.record_failure(NINE_AM, clock);
    }
    assert_eq!(waiting.try_recv().unwrap().unwrap().minute.unwrap().remaining, 14);
    take(&mut counter, limits, 14, NINE_AM).unwrap();
    take(&mut counter, limits, 1, NINE_AM).unwrap_err();
    let mut table = BTreeMap::new();
    write(&mut counter, &mut table, NINE_AM);
    assert_eq!(total(&table), 20);
    drop(wait(&mut counter, limits, 2, NINE_AM + 60));
}

#[test]
fn requests_from_disconnected_clients_are_not_counted() {
    let mut counter = Counter::new();
    let limits = limits(Some(20), None);
    drop(wait(&mut counter, limits, 5, NINE_AM));
    assert!(counter.flush(NINE_AM, Instant::now()).is_none());
    let receiver = wait(&mut counter, limits, 5, NINE_AM);
    let flush = counter.flush(NINE_AM, Instant::now()).unwrap();
    drop(receiver);
    counter.record_confirmed(&flush, [], NINE_AM);
    assert_eq!(counter.statuses(NINE_AM).min_remaining(), 20);
    assert!(counter.has_unwritten_counts(), "the table contains the claim");
    let clock = Instant::now();
    assert_eq!(counter.due_at(clock), Some(clock), "other containers must not wait for it");
    write(&mut counter, &mut BTreeMap::new(), NINE_AM);
    let receiver = wait(&mut counter, limits, 5, NINE_AM);
    counter.flush(NINE_AM, Instant::now()).unwrap();
    drop(receiver);
    counter.record_failure(NINE_AM, Instant::now());
    assert!(counter.has_unwritten_counts(), "the table may contain the claim");
}

#[test]
fn an_outdated_tally_is_ignored() {
    let mut counter = Counter::new();
    let tally = |count, version| {
        HourlyTallies::from([("other".to_owned(), Tally { count, version, recent: vec![] })])
    };
    counter.others.record(NINE_AM, tally(5, 2), NINE_AM);
    counter.others.record(NINE_AM, tally(3, 1), NINE_AM);
    let limits = limits(None, Some(10));
    assert_eq!(take(&mut counter, limits, 1, NINE_AM).unwrap().daily.unwrap().remaining, 4);
}

#[test]
fn a_clock_that_steps_back_blocks_a_minute_quota_for_at_most_a_minute() {
    let mut counter = Counter::new();
    let limits = limits(Some(2), None);
    counter.take_unconfirmed(limits, 2, NINE_AM).unwrap();
    let earlier = NINE_AM - 7200;
    let rejected = take(&mut counter, limits, 1, earlier + 3).unwrap_err();
    assert_eq!(rejected.exhausted.reset, earlier + 60);
    assert!(take(&mut counter, limits, 1, earlier + 59).is_err());
    assert!(counter.take_unconfirmed(limits, 1, earlier + 60).is_ok());
}

#[test]
fn a_container_with_a_fast_clock_blocks_the_minute_quota_for_at_most_a_minute() {
    let (mut fast, mut counter) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(2), Some(100));
    fast.take_unconfirmed(limits, 2, NINE_AM + 480).unwrap();
    write(&mut fast, &mut table, NINE_AM + 480);
    counter.needs_reread = true;
    write(&mut counter, &mut table, NINE_AM);
    let rejected = take(&mut counter, limits, 1, NINE_AM + 3).unwrap_err();
    assert_eq!(rejected.exhausted.reset, NINE_AM + 60);
    // Rereading the same tally does not prolong this.
    counter.needs_reread = true;
    write(&mut counter, &mut table, NINE_AM + 50);
    assert_eq!(
        take(&mut counter, limits, 1, NINE_AM + 50).unwrap_err().exhausted.reset,
        NINE_AM + 60
    );
    assert!(take(&mut counter, limits, 1, NINE_AM + 60).is_ok());
}
