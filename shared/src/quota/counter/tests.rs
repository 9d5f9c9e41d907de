use tokio::sync::oneshot::Receiver;

use super::{simulation::add, *};

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

/// Makes the calls that are due until the requests are in the table. Returns the number of calls.
fn write(counter: &mut Counter, table: &mut Usage, now: i64) -> usize {
    let mut calls = 0;
    while counter.has_something_to_write() {
        let clock = Instant::now();
        let call = counter.start_call(now, clock).unwrap();
        if let Call::Write(write) = &call {
            add(table, write);
        }
        counter.record_response(&call, table.clone(), now, clock);
        calls += 1;
    }
    calls
}

fn total(table: &Usage) -> i64 {
    table.counts.hours.values().sum()
}

/// A counter that has just written, and the table.
fn counter_and_table(limits: Limits) -> (Counter, Usage) {
    let (mut counter, mut table) = (Counter::new(), Usage::default());
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    write(&mut counter, &mut table, NINE_AM);
    (counter, table)
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
fn a_new_container_reads_before_it_writes_and_both_are_due_immediately() {
    let (mut counter, mut table) = (Counter::new(), Usage::default());
    let clock = Instant::now();
    assert_eq!(counter.due_at(clock), None);
    assert_eq!(counter.start_call(NINE_AM, clock), None);
    take(&mut counter, limits(None, Some(101)), 1, NINE_AM).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock));
    let call = counter.start_call(NINE_AM, clock).unwrap();
    assert_eq!(call, Call::Read);
    counter.record_response(&call, table.clone(), NINE_AM, clock);
    assert_eq!(counter.due_at(clock), Some(clock), "no other container writes");
    assert_eq!(write(&mut counter, &mut table, NINE_AM), 1);
    assert_eq!((counter.due_at(clock), total(&table)), (None, 1));
}

#[test]
fn later_writes_are_due_by_allowance_or_age() {
    let limits = limits(None, Some(101));
    let (mut counter, mut table) = counter_and_table(limits);
    let clock = Instant::now();
    take(&mut counter, limits, 4, NINE_AM).unwrap();
    assert!(counter.due_at(clock) > Some(clock + FLUSH_INTERVAL / 2), "few recent requests");
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    assert_eq!(counter.due_at(clock), counter.next_write, "half of the allowance");
    assert_eq!(write(&mut counter, &mut table, NINE_AM), 1);
    // A confirmation is recent for two seconds.
    let confirmed_at = counter.confirmed_at.unwrap();
    let just = Duration::from_nanos(1);
    assert_eq!(counter.allowance(confirmed_at + RECENT - just), 9);
    assert_eq!(counter.allowance(confirmed_at + RECENT), MIN_ALLOWANCE);
    // After that, a request need not wait for a time chosen before.
    let _waiting = wait(&mut counter, limits, 20, NINE_AM);
    counter.next_write = Some(confirmed_at + RECENT * 2);
    assert_eq!(counter.due_at(confirmed_at + RECENT - just), counter.next_write);
    assert_eq!(counter.due_at(confirmed_at + RECENT), Some(confirmed_at + RECENT));
}

#[test]
fn the_allowance_is_a_share_of_what_is_left_by_the_number_of_containers() {
    let clock = Instant::now();
    for (containers, remaining, expected, before_its_first_write) in [
        (0.5, 500, 50, MIN_ALLOWANCE),
        (1.0, 500, 50, MIN_ALLOWANCE),
        (2.0, 500, 25, MIN_ALLOWANCE),
        (3.0, 500, 16, 16),
        (9.0, 606, 20, 6),
        (15.0, 606, 20, 4),
        (300.0, 6060, 10, 2),
        (1000.0, 600, MIN_ALLOWANCE, MIN_ALLOWANCE),
        (1.0, 1_000_000, MAX_ALLOWANCE, MIN_ALLOWANCE),
    ] {
        let confirmed_at = Some(clock);
        let counter = Counter { confirmed_at, remaining, containers, ..Counter::new() };
        assert_eq!(counter.allowance(clock), before_its_first_write, "{containers}");
        let counter = Counter { wrote_at: Some(clock), ..counter };
        assert_eq!(counter.allowance(clock), expected, "{containers} {remaining}");
    }
}

#[test]
fn containers_are_counted_by_their_activity_in_this_minute_and_the_one_before() {
    let limits = limits(None, Some(100));
    // A damaged item may have a negative number.
    for (minutes_ago, others, expected) in [(0, 6, 7.0), (1, 6, 7.0), (2, 6, 1.0), (0, -2, 0.0)] {
        let (mut counter, mut table) = (Counter::new(), Usage::default());
        table.activity.insert(NINE_AM - minutes_ago * 60, others * 60_000);
        if minutes_ago == 1 {
            table.activity.insert(NINE_AM - 60, 7 * 60_000);
        }
        take(&mut counter, limits, 1, NINE_AM).unwrap();
        write(&mut counter, &mut table, NINE_AM);
        assert_eq!(counter.containers, expected, "{minutes_ago}");
        let spacing = expected / WRITES_PER_SECOND;
        assert_eq!(counter.spacing().as_secs_f64(), (spacing * 1e9).round() / 1e9);
    }
}

/// Otherwise a thousand containers would write at once.
#[test]
fn many_containers_spread_their_writes_and_reject_what_would_wait_for_long() {
    let limits = limits(None, Some(1_000_000));
    let mut delays = Vec::new();
    let mut rejected = 0;
    for _ in 0..100 {
        let (mut counter, mut table) = (Counter::new(), Usage::default());
        table.activity.insert(NINE_AM, 300 * 60_000);
        take(&mut counter, limits, 1, NINE_AM).unwrap();
        let clock = Instant::now();
        let call = counter.start_call(NINE_AM, clock).unwrap();
        counter.record_response(&call, table, NINE_AM, clock);
        delays.push((counter.next_write.unwrap() - clock).as_secs());
        if let TakeResult::Now(Err(exceeded)) = counter.take(limits, 2000, NINE_AM, clock) {
            assert_eq!(exceeded.exhausted.remaining, 999_999);
            rejected += 1;
        }
    }
    delays.sort_unstable();
    assert!(delays[10] < 20 && delays[90] >= 40 && delays[99] < 60, "{delays:?}");
    assert_eq!(rejected, delays.iter().filter(|delay| **delay >= 1).count());
}

#[test]
fn failed_writes_are_retried_after_growing_delays() {
    let mut counter = Counter::new();
    take(&mut counter, limits(None, Some(9)), 1, NINE_AM).unwrap();
    let clock = Instant::now();
    let mut delays = Vec::new();
    for _ in 0..7 {
        counter.start_call(NINE_AM, clock).unwrap();
        counter.record_failure(NINE_AM, clock);
        delays.push(counter.due_at(clock).unwrap().duration_since(clock).as_secs());
    }
    assert_eq!(delays, [1, 2, 4, 8, 16, 16, 16]);
    let failures = counter.record_failure(NINE_AM, clock + Duration::from_secs(90));
    assert_eq!(failures, 8);
}

#[test]
fn requests_do_not_wait_during_an_outage() {
    let limits = limits(Some(20), None);
    let (mut counter, mut table) = counter_and_table(limits);
    let mut waiting = wait(&mut counter, limits, 5, NINE_AM);
    let clock = Instant::now();
    for _ in 0..2 {
        assert!(waiting.try_recv().is_err());
        assert!(counter.due_at(clock) <= counter.next_write.max(Some(clock)), "a request waits");
        counter.start_call(NINE_AM, clock).unwrap();
        counter.record_failure(NINE_AM, clock);
    }
    assert_eq!(waiting.try_recv().unwrap().unwrap().minute.unwrap().remaining, 14);
    take(&mut counter, limits, 14, NINE_AM).unwrap();
    take(&mut counter, limits, 1, NINE_AM).unwrap_err();
    write(&mut counter, &mut table, NINE_AM);
    assert_eq!(total(&table), 20);
    drop(wait(&mut counter, limits, 2, NINE_AM + 60));
}

#[test]
fn requests_from_disconnected_clients_are_not_counted() {
    let limits = limits(Some(20), None);
    let (mut counter, mut table) = counter_and_table(limits);
    drop(wait(&mut counter, limits, 5, NINE_AM));
    assert_eq!(counter.start_call(NINE_AM, Instant::now()), None);
    let receiver = wait(&mut counter, limits, 5, NINE_AM);
    let clock = Instant::now();
    let call = counter.start_call(NINE_AM, clock).unwrap();
    let Call::Write(claim) = &call else { panic!() };
    drop(receiver);
    add(&mut table, claim);
    counter.record_response(&call, table.clone(), NINE_AM, clock);
    assert_eq!(counter.statuses(1, NINE_AM).min_remaining(), 19);
    assert_eq!(total(&table), 6, "the table contains the claim");
    assert_eq!(counter.due_at(clock), counter.next_write, "other containers must not wait for it");
    write(&mut counter, &mut table, NINE_AM);
    assert_eq!(total(&table), 1);
    assert!(!counter.has_unwritten_counts());
}

/// Claims of other containers may be taken back.
#[test]
fn a_rejection_is_reviewed_within_a_second() {
    let limits = limits(Some(20), None);
    let (mut counter, mut table) = counter_and_table(limits);
    let clock = Instant::now();
    take(&mut counter, limits, 20, NINE_AM).unwrap_err();
    let due_at = counter.due_at(clock).unwrap();
    assert!(due_at > clock && due_at <= clock + FLUSH_INTERVAL);
    assert_eq!(write(&mut counter, &mut table, NINE_AM), 1);
    assert_eq!(counter.due_at(clock), None);
}

#[test]
fn a_clock_that_steps_back_blocks_a_minute_quota_for_at_most_a_minute() {
    let limits = limits(Some(2), None);
    for is_written in [false, true] {
        let (mut counter, mut table) = (Counter::new(), Usage::default());
        counter.take_unconfirmed(limits, 2, NINE_AM).unwrap();
        if is_written {
            write(&mut counter, &mut table, NINE_AM);
        }
        let earlier = NINE_AM - 7200;
        for seconds in [3, 50] {
            let rejected = take(&mut counter, limits, 1, earlier + seconds).unwrap_err();
            assert_eq!(rejected.exhausted.reset, earlier + 60);
            if is_written {
                write(&mut counter, &mut table, earlier + seconds);
            }
        }
        assert!(take(&mut counter, limits, 1, earlier + 59).is_err());
        assert!(counter.take_unconfirmed(limits, 1, earlier + 60).is_ok());
    }
}

#[test]
fn a_container_with_a_fast_clock_blocks_the_minute_quota_for_at_most_a_minute() {
    let (mut fast, mut counter) = (Counter::new(), Counter::new());
    let mut table = Usage::default();
    let limits = limits(Some(2), Some(100));
    fast.take_unconfirmed(limits, 2, NINE_AM + 480).unwrap();
    write(&mut fast, &mut table, NINE_AM + 480);
    for (seconds, is_admitted) in [(0, false), (50, false), (60, true)] {
        counter.limits = limits;
        counter.needs_update = true;
        write(&mut counter, &mut table, NINE_AM + seconds);
        let result = take(&mut counter, limits, 1, NINE_AM + seconds);
        assert_eq!(result.is_ok(), is_admitted, "{seconds}");
        if let Err(rejected) = result {
            assert_eq!(rejected.exhausted.reset, NINE_AM + 60, "rereading does not prolong it");
        }
    }
}

#[test]
fn requests_outside_the_windows_are_dropped() {
    let limits = limits(Some(9), Some(9));
    let mut counter = Counter::new();
    counter.take_unconfirmed(limits, 1, NINE_AM).unwrap();
    for (later, steps, hours) in [(59, 1, 1), (60, 0, 1), (86_399, 0, 1), (86_400, 0, 0)] {
        counter.drop_expired(NINE_AM + later);
        for counts in [&counter.counted, &counter.unsent] {
            assert_eq!((counts.steps.len(), counts.hours.len()), (steps, hours), "{later}");
        }
    }
}
