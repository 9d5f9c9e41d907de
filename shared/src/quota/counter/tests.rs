use std::collections::BTreeMap;

use tokio::sync::oneshot::Receiver;

use super::*;

const NINE: i64 = 1_795_219_200 + 9 * 3600;

fn limits(per_minute: Option<u64>, per_day: Option<u64>) -> Limits {
    Limits { per_minute, per_day }
}

/// Takes requests that must be within the allowance.
fn take(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Outcome {
    match counter.take(limits, requests, now, Instant::now()) {
        Taken::Now(outcome) => outcome,
        Taken::AfterWrite(_) => panic!("it waits"),
    }
}

/// Takes requests that wait for a write.
fn wait(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Receiver<Outcome> {
    match counter.take(limits, requests, now, Instant::now()) {
        Taken::Now(outcome) => panic!("{outcome:?}"),
        Taken::AfterWrite(told) => told,
    }
}

/// Writes the unwritten requests to `table`, as DynamoDB would.
fn write(counter: &mut Counter, table: &mut BTreeMap<i64, HourOfUsage>, now: i64) {
    let Some(flush) = counter.flush(now, Instant::now()) else { return };
    for (hour, tally) in &flush.tallies {
        let container = counter.container().to_owned();
        table.entry(*hour).or_default().insert(container, tally.clone());
    }
    counter.record_confirmed(&flush, table.clone(), now);
}

fn counted(table: &BTreeMap<i64, HourOfUsage>) -> u64 {
    table.values().flat_map(HourOfUsage::values).map(|tally| tally.count).sum()
}

#[test]
fn requests_are_admitted_up_to_the_tighter_quota() {
    let mut counter = Counter::new();
    let limits = limits(Some(2), Some(3));
    let first = counter.take_unconfirmed(limits, 1, NINE).unwrap();
    assert_eq!(first.minute.unwrap().remaining, 1);
    assert_eq!(first.daily.unwrap().remaining, 2);
    counter.take_unconfirmed(limits, 1, NINE).unwrap();
    let refused = take(&mut counter, limits, 1, NINE).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.reset), (LimitType::Minute, NINE + 60));
    // Refused requests are not counted.
    counter.take_unconfirmed(limits, 1, NINE + 60).unwrap();
    let refused = take(&mut counter, limits, 1, NINE + 61).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.reset), (LimitType::Daily, NINE + 24 * 3600));
    // If both quotas are exhausted, the one that resets last is named.
    let (mut counter, one_of_each) =
        (Counter::new(), Limits { per_minute: Some(1), per_day: Some(1) });
    take(&mut counter, one_of_each, 1, NINE).unwrap();
    let refused = take(&mut counter, one_of_each, 1, NINE).unwrap_err().exhausted;
    assert_eq!(refused.limit_type, LimitType::Daily);
}

#[test]
fn hours_are_read_if_they_count_and_may_have_changed() {
    const HOUR: i64 = 3600;
    let (minute, daily) = (limits(Some(2), None), limits(Some(2), Some(5)));
    let of_a_day: Vec<i64> = (-23..=0).map(|hours| NINE + hours * HOUR).collect();
    for (limits, last_read, now, expected) in [
        (daily, None, NINE + 60, &of_a_day[..]),
        (daily, Some((minute, NINE + 30)), NINE + 60, &of_a_day),
        (daily, Some((daily, NINE + 30)), NINE + 60, &[NINE]),
        (daily, Some((daily, NINE - 30)), NINE + 60, &of_a_day),
        // The last minute reaches back into the previous hour.
        (minute, None, NINE + 54, &[NINE - HOUR, NINE]),
        (minute, None, NINE + 55, &[NINE]),
        // Around a change of the hour, the adjacent hour is read after each write.
        (minute, Some((minute, NINE)), NINE + 14, &[NINE - HOUR, NINE]),
        (minute, Some((minute, NINE)), NINE + 15, &[NINE]),
        (minute, Some((minute, NINE)), NINE + HOUR - 16, &[NINE]),
        (minute, Some((minute, NINE)), NINE + HOUR - 15, &[NINE, NINE + HOUR]),
    ] {
        let mut others = OtherRequests::default();
        if let Some((limits, read)) = last_read {
            others.record_read(limits, read);
        }
        assert_eq!(others.hours_to_read(&[], limits, now), expected, "{limits:?} at {now}");
    }
}

#[test]
fn the_first_write_is_due_immediately_and_others_by_allowance_or_age() {
    let mut counter = Counter::new();
    let limits = limits(None, Some(101));
    let clock = Instant::now();
    assert_eq!(counter.due_at(clock), None);
    take(&mut counter, limits, 1, NINE).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock), "the first one");
    write(&mut counter, &mut BTreeMap::new(), NINE);
    take(&mut counter, limits, 1, NINE).unwrap();
    assert!(counter.due_at(clock) > Some(clock + FLUSH_INTERVAL / 2), "young and few");
    take(&mut counter, limits, 4, NINE).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock), "half of a tenth of what is left");
}

#[test]
fn failed_writes_are_retried_after_growing_delays() {
    let mut counter = Counter::new();
    take(&mut counter, limits(None, Some(9)), 1, NINE).unwrap();
    let clock = Instant::now();
    let mut delays = Vec::new();
    for _ in 0..7 {
        counter.flush(NINE, clock).unwrap();
        counter.record_failure(NINE, clock);
        delays.push(counter.due_at(clock).unwrap().duration_since(clock).as_secs());
    }
    assert_eq!(delays, [1, 2, 4, 8, 16, 16, 16]);
    let failures = counter.record_failure(NINE, clock + Duration::from_secs(90));
    assert_eq!(failures, Failures { since: clock, times: 8 });
}

#[test]
fn no_request_waits_after_two_failures_until_a_write_succeeds() {
    let mut counter = Counter::new();
    let limits = limits(Some(20), None);
    take(&mut counter, limits, 1, NINE).unwrap();
    let mut waiting = wait(&mut counter, limits, 5, NINE);
    let clock = Instant::now();
    for _ in 0..2 {
        assert!(waiting.try_recv().is_err());
        assert_eq!(counter.due_at(clock), Some(clock), "somebody waits");
        counter.flush(NINE, clock).unwrap();
        counter.record_failure(NINE, clock);
    }
    assert_eq!(waiting.try_recv().unwrap().unwrap().minute.unwrap().remaining, 14);
    take(&mut counter, limits, 14, NINE).unwrap();
    take(&mut counter, limits, 1, NINE).unwrap_err();
    let mut table = BTreeMap::new();
    write(&mut counter, &mut table, NINE);
    assert_eq!(counted(&table), 20);
    drop(wait(&mut counter, limits, 2, NINE + 60));
}

#[test]
fn requests_that_nobody_waits_for_are_not_counted() {
    let mut counter = Counter::new();
    let limits = limits(Some(20), None);
    drop(wait(&mut counter, limits, 5, NINE));
    assert!(counter.flush(NINE, Instant::now()).is_none());
    let told = wait(&mut counter, limits, 5, NINE);
    let flush = counter.flush(NINE, Instant::now()).unwrap();
    drop(told);
    counter.record_confirmed(&flush, [], NINE);
    assert_eq!(counter.statuses(NINE).least_remaining(), 20);
    assert!(counter.has_unwritten(), "the table has it");
    write(&mut counter, &mut BTreeMap::new(), NINE);
    let told = wait(&mut counter, limits, 5, NINE);
    counter.flush(NINE, Instant::now()).unwrap();
    drop(told);
    counter.record_failure(NINE, Instant::now());
    assert!(counter.has_unwritten(), "the table may have it");
}

#[test]
fn a_stale_response_of_the_table_changes_nothing() {
    let mut counter = Counter::new();
    let of_other = |count, version| {
        HourOfUsage::from([("other".to_owned(), Tally { count, version, recent: vec![] })])
    };
    counter.others.record(NINE, of_other(5, 2), NINE);
    counter.others.record(NINE, of_other(3, 1), NINE);
    let limits = limits(None, Some(10));
    assert_eq!(take(&mut counter, limits, 1, NINE).unwrap().daily.unwrap().remaining, 4);
}

#[test]
fn a_clock_that_steps_back_locks_nobody_out_of_a_minute_for_longer_than_one() {
    let mut counter = Counter::new();
    let limits = limits(Some(2), None);
    counter.take_unconfirmed(limits, 2, NINE).unwrap();
    let back = NINE - 7200;
    let refused = take(&mut counter, limits, 1, back + 3).unwrap_err();
    assert_eq!(refused.exhausted.reset, back + 60, "it counts from now on");
    assert!(take(&mut counter, limits, 1, back + 59).is_err());
    assert!(counter.take_unconfirmed(limits, 1, back + 60).is_ok());
}

#[test]
fn a_container_with_a_fast_clock_blocks_the_minute_quota_for_at_most_a_minute() {
    let (mut ahead, mut counter) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(2), Some(100));
    ahead.take_unconfirmed(limits, 2, NINE + 480).unwrap();
    write(&mut ahead, &mut table, NINE + 480);
    counter.has_doubt = true;
    write(&mut counter, &mut table, NINE);
    let refused = take(&mut counter, limits, 1, NINE + 3).unwrap_err();
    assert_eq!(refused.exhausted.reset, NINE + 60);
    // Rereading the same tally is not news.
    counter.has_doubt = true;
    write(&mut counter, &mut table, NINE + 50);
    assert_eq!(take(&mut counter, limits, 1, NINE + 50).unwrap_err().exhausted.reset, NINE + 60);
    assert!(take(&mut counter, limits, 1, NINE + 60).is_ok());
}
