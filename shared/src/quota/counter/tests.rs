mod simulation;

use tokio::sync::oneshot::Receiver;

use store::KeyRecord;

use self::simulation::add;
use super::{
    pace::{MIN_ALLOWANCE, RECENT},
    *,
};
use crate::{auth::key_record, quota::window::LimitType};

const NINE_AM: i64 = 1_795_219_200 + 9 * 3600;

fn limits(per_minute: Option<u32>, per_day: Option<u32>) -> Limits {
    Limits::from_key(&KeyRecord { per_minute, per_day, ..key_record("a") }).unwrap()
}

/// Takes requests that fit within the allowance.
fn take(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Outcome {
    counter.take(limits, requests, now, Instant::now()).try_recv().expect("they do not wait")
}

/// Takes requests that must wait for a write.
fn wait(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Receiver<Outcome> {
    let mut receiver = counter.take(limits, requests, now, Instant::now());
    assert!(receiver.try_recv().is_err());
    receiver
}

/// Makes all due calls until the requests are in the table. Returns the number of calls.
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
    table.counts.0[LimitType::Daily as usize].values().sum()
}

/// A counter that has just written, and the table.
fn counter_and_table(limits: Limits) -> (Counter, Usage) {
    let (mut counter, mut table) = (Counter::new(), Usage::default());
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    write(&mut counter, &mut table, NINE_AM);
    (counter, table)
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

/// Write numbers order the writes of different containers in the table.
#[test]
fn write_numbers_are_milliseconds_and_increase_even_if_the_clock_does_not() {
    let limits = limits(None, Some(101));
    let (mut counter, mut table) = counter_and_table(limits);
    let mut numbers = vec![counter.last_number];
    for seconds in [0, -60, 1] {
        take(&mut counter, limits, 1, NINE_AM + seconds).unwrap();
        write(&mut counter, &mut table, NINE_AM + seconds);
        numbers.push(counter.last_number);
    }
    assert!(numbers.is_sorted_by(|before, after| before < after), "{numbers:?}");
    let seconds: Vec<i64> = numbers.iter().map(|number| number / 1000 - NINE_AM).collect();
    assert_eq!((seconds[0], seconds[3]), (0, 1), "{numbers:?}");
}

#[test]
fn writes_are_due_at_half_the_allowance_or_after_a_second() {
    let limits = limits(None, Some(101));
    let (mut counter, mut table) = counter_and_table(limits);
    let clock = Instant::now();
    take(&mut counter, limits, 4, NINE_AM).unwrap();
    assert!(counter.due_at(clock) > Some(clock + FLUSH_INTERVAL / 2), "few recent requests");
    take(&mut counter, limits, 1, NINE_AM).unwrap();
    assert_eq!(counter.due_at(clock), counter.next_write, "half of the allowance");
    assert_eq!(write(&mut counter, &mut table, NINE_AM), 1);
    let confirmed_at = counter.pace.confirmed_at.unwrap();
    let just = Duration::from_nanos(1);
    // Once the confirmation is too old, a waiting request is written immediately, whatever was scheduled before.
    let _waiting = wait(&mut counter, limits, 20, NINE_AM);
    counter.next_write = Some(confirmed_at + RECENT * 2);
    assert_eq!(counter.due_at(confirmed_at + RECENT - just), counter.next_write);
    assert_eq!(counter.due_at(confirmed_at + RECENT), Some(confirmed_at + RECENT));
}

#[test]
fn failed_writes_are_retried_with_increasing_delays() {
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
    assert_eq!(waiting.try_recv().unwrap().unwrap().min_remaining(), 14);
    take(&mut counter, limits, 14, NINE_AM).unwrap();
    take(&mut counter, limits, 1, NINE_AM).unwrap_err();
    write(&mut counter, &mut table, NINE_AM);
    assert_eq!(total(&table), 20);
    drop(wait(&mut counter, limits, 2, NINE_AM + 60));
}

#[test]
fn requests_wait_in_order_for_at_most_a_second() {
    let (mut counter, quota) = (Counter::new(), MIN_ALLOWANCE + 1);
    let limits = limits(None, Some(quota as u32));
    let _all = wait(&mut counter, limits, quota, NINE_AM);
    let _one_more = wait(&mut counter, limits, 1, NINE_AM);

    let (mut counter, _) = counter_and_table(self::limits(None, Some(1_000_000)));
    let clock = counter.pace.confirmed_at.unwrap();
    let limits = self::limits(None, Some(1_000_000));
    for (delay, is_rejected) in [(MAX_WAIT, false), (MAX_WAIT + FLUSH_INTERVAL, true)] {
        counter.next_write = Some(clock + delay);
        let mut taken = counter.take(limits, 500_000, NINE_AM, clock);
        assert_eq!(matches!(taken.try_recv(), Ok(Err(_))), is_rejected);
        counter.waiting.clear();
    }
}
