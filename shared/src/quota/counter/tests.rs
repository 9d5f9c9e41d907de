use std::collections::BTreeMap;

use tokio::sync::oneshot::Receiver;

use super::*;

const NINE: i64 = 1_795_219_200 + 9 * 3600;

fn limits(per_minute: Option<u64>, per_day: Option<u64>) -> Limits {
    Limits { per_minute, per_day }
}

/// Requests that must be within the allowance.
fn take(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Outcome {
    match counter.take(limits, requests, now, Instant::now()) {
        Taken::Now(outcome) => outcome,
        Taken::AfterWrite(_) => panic!("it waits"),
    }
}

/// Requests that wait for a write.
fn wait(counter: &mut Counter, limits: Limits, requests: u64, now: i64) -> Receiver<Outcome> {
    match counter.take(limits, requests, now, Instant::now()) {
        Taken::Now(outcome) => panic!("{outcome:?}"),
        Taken::AfterWrite(told) => told,
    }
}

/// Writes the unwritten requests into `table`, as DynamoDB would.
fn write(counter: &mut Counter, table: &mut BTreeMap<i64, HourOfUsage>, now: i64) {
    let Some(flush) = counter.flush(now, Instant::now()) else { return };
    let usage = exchange(counter.container(), &flush, table);
    counter.record_confirmed(&flush, usage, now);
}

/// Writes tallies and gives what the table has then.
fn exchange(
    container: &str,
    flush: &Flush,
    table: &mut BTreeMap<i64, HourOfUsage>,
) -> Vec<(i64, HourOfUsage)> {
    for (hour, tally) in &flush.tallies {
        let stored = table.entry(*hour).or_default().entry(container.to_owned()).or_default();
        if stored.version < tally.version {
            *stored = tally.clone();
        }
    }
    table.iter().map(|(hour, tallies)| (*hour, tallies.clone())).collect()
}

fn counted(table: &BTreeMap<i64, HourOfUsage>) -> u64 {
    table.values().flat_map(HourOfUsage::values).map(|tally| tally.count).sum()
}

/// A counter to which the table has confirmed that nothing is counted yet.
fn confirmed_counter(limits: Limits, now: i64) -> Counter {
    let mut counter = Counter::new();
    take(&mut counter, limits, 1, now - 3600).unwrap();
    write(&mut counter, &mut BTreeMap::new(), now);
    counter.limits = limits;
    counter.confirmed = Some(Confirmation {
        at: Instant::now(),
        remaining: counter.statuses(now).least_remaining(),
    });
    counter
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
    // A request that is refused is not counted.
    counter.take_unconfirmed(limits, 1, NINE + 60).unwrap();
    let refused = take(&mut counter, limits, 1, NINE + 61).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.reset), (LimitType::Daily, NINE + 24 * 3600));
}

#[test]
fn of_two_exhausted_quotas_the_one_that_is_reset_last_is_named() {
    let mut counter = Counter::new();
    take(&mut counter, limits(Some(1), Some(1)), 1, NINE).unwrap();
    let refused = take(&mut counter, limits(Some(1), Some(1)), 1, NINE).unwrap_err();
    assert_eq!(refused.statuses.minute.unwrap().remaining, 0);
    assert_eq!(refused.exhausted.limit_type, LimitType::Daily);
}

#[test]
fn a_container_that_starts_admits_one_request_before_it_has_heard_of_others() {
    let mut counter = Counter::new();
    let limits = limits(Some(100), None);
    take(&mut counter, limits, 1, NINE).unwrap();
    let mut second = wait(&mut counter, limits, 1, NINE);
    assert!(second.try_recv().is_err());
    write(&mut counter, &mut BTreeMap::new(), NINE);
    assert_eq!(second.try_recv().unwrap().unwrap().minute.unwrap().remaining, 98);
}

#[test]
fn what_is_not_confirmed_stays_within_a_tenth_of_what_was_left_even_during_a_write() {
    let limits = limits(Some(65), None);
    let mut counter = confirmed_counter(limits, NINE);
    for _ in 0..4 {
        take(&mut counter, limits, 1, NINE).unwrap();
    }
    let flush = counter.flush(NINE, Instant::now()).unwrap();
    take(&mut counter, limits, 2, NINE).unwrap();
    let mut waiting = wait(&mut counter, limits, 1, NINE);
    let mut table = BTreeMap::new();
    let usage = exchange(counter.container(), &flush, &mut table);
    counter.record_confirmed(&flush, usage, NINE);
    // What was counted meanwhile is not confirmed, and the allowance is a tenth of 59.
    assert_eq!((counter.unconfirmed, counter.allowance(Instant::now())), (2, 5));
    assert!(waiting.try_recv().is_err());
    write(&mut counter, &mut table, NINE);
    assert!(waiting.try_recv().unwrap().is_ok());
    assert_eq!((counter.unconfirmed, counted(&table)), (0, 7));
}

#[test]
fn a_confirmation_that_is_old_allows_one_request() {
    let limits = limits(Some(100), None);
    let counter = confirmed_counter(limits, NINE);
    let clock = counter.confirmed.as_ref().unwrap().at;
    assert_eq!(counter.allowance(clock), 10);
    assert_eq!(counter.allowance(clock + RECENT), 1);
}

#[test]
fn containers_see_each_other_once_they_have_written() {
    let (mut first, mut second) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(3), Some(100));
    first.take_unconfirmed(limits, 2, NINE).unwrap();
    write(&mut first, &mut table, NINE);
    take(&mut second, limits, 1, NINE + 1).unwrap();
    write(&mut second, &mut table, NINE + 1);
    let refused = take(&mut second, limits, 1, NINE + 2).unwrap_err().statuses;
    assert_eq!((refused.minute.unwrap().remaining, refused.daily.unwrap().remaining), (0, 97));
    assert_eq!(counted(&table), 3);
}

#[test]
fn a_claim_that_does_not_fit_is_refused_and_given_back() {
    let (mut first, mut second) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(10), None);
    let mut eight = wait(&mut first, limits, 8, NINE);
    let mut seven = wait(&mut second, limits, 7, NINE);
    write(&mut first, &mut table, NINE);
    write(&mut second, &mut table, NINE);
    assert!(eight.try_recv().unwrap().is_ok());
    let refused = seven.try_recv().unwrap().unwrap_err();
    assert_eq!((refused.requests, refused.exhausted.remaining), (7, 2));
    assert_eq!(counted(&table), 15);
    // Others would be refused for it, so that it is given back at once.
    let clock = Instant::now();
    assert_eq!(second.due_at(clock), Some(clock));
    write(&mut second, &mut table, NINE);
    assert_eq!(counted(&table), 8);
    assert!(second.take_unconfirmed(limits, 2, NINE).is_ok());
}

#[test]
fn a_refusal_for_what_others_have_counted_is_followed_by_a_read() {
    let (mut counter, mut other) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(10), None);
    other.take_unconfirmed(limits, 9, NINE).unwrap();
    write(&mut other, &mut table, NINE);
    take(&mut counter, limits, 1, NINE).unwrap();
    write(&mut counter, &mut table, NINE);
    assert_eq!(counter.due_at(Instant::now()), None);
    take(&mut counter, limits, 1, NINE).unwrap_err();
    assert!(counter.due_at(Instant::now()).is_some());
    other.own.remove(9, NINE);
    write(&mut other, &mut table, NINE);
    write(&mut counter, &mut table, NINE);
    take(&mut counter, limits, 1, NINE).unwrap();

    // What a container has counted itself is known without a read.
    let mut alone = Counter::new();
    alone.take_unconfirmed(limits, 10, NINE).unwrap();
    write(&mut alone, &mut BTreeMap::new(), NINE);
    take(&mut alone, limits, 1, NINE).unwrap_err();
    assert_eq!(alone.due_at(Instant::now()), None);
}

#[test]
fn a_write_that_is_repeated_or_late_counts_once() {
    let mut counter = Counter::new();
    let mut table = BTreeMap::new();
    let limits = limits(None, Some(100));
    take(&mut counter, limits, 1, NINE).unwrap();
    // The first write reaches the table, but its answer is lost.
    let lost = counter.flush(NINE, Instant::now()).unwrap();
    exchange(counter.container(), &lost, &mut table);
    counter.record_failure(NINE, Instant::now());
    assert!(counter.has_unwritten());
    counter.take_unconfirmed(limits, 1, NINE + 1).unwrap();
    write(&mut counter, &mut table, NINE + 1);
    assert!(!counter.has_unwritten());
    exchange(counter.container(), &lost, &mut table);
    assert_eq!(counted(&table), 2);
    assert_eq!(take(&mut counter, limits, 1, NINE + 2).unwrap().daily.unwrap().remaining, 97);
}

#[test]
fn a_container_that_starts_learns_of_the_hours_before() {
    let (mut old, mut new) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(50), Some(5));
    for hour in 0..4 {
        take(&mut old, limits, 1, NINE + hour * 3600).unwrap();
        write(&mut old, &mut table, NINE + hour * 3600);
    }
    let now = NINE + 5 * 3600 + 60;
    take(&mut new, limits, 1, now).unwrap();
    assert_eq!(new.flush(now, Instant::now()).unwrap().hours.len(), 23);
    write(&mut new, &mut table, now);
    assert!(take(&mut new, limits, 1, now).is_err());
    // The oldest of the five requests counts until a day after its hour began.
    assert!(take(&mut new, limits, 1, NINE + 24 * 3600).is_ok());
}

#[test]
fn the_last_minute_reaches_back_into_the_hour_before() {
    let (mut old, mut new) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(2), None);
    take(&mut old, limits, 1, NINE - 10).unwrap();
    write(&mut old, &mut table, NINE - 10);
    take(&mut new, limits, 1, NINE + 20).unwrap();
    assert_eq!(new.flush(NINE + 20, Instant::now()).unwrap().hours, [NINE - 3600]);
    write(&mut new, &mut table, NINE + 20);
    assert!(take(&mut new, limits, 1, NINE + 21).is_err());
    assert!(take(&mut new, limits, 1, NINE + 50).is_ok());
}

#[test]
fn around_the_change_of_an_hour_the_hour_beside_is_read_after_each_write() {
    let limits = limits(Some(2), None);
    let hours = |now| {
        let mut counter = Counter::new();
        counter.hours.record_read(limits, now);
        take(&mut counter, limits, 1, now).unwrap();
        counter.flush(now, Instant::now()).unwrap().hours
    };
    assert_eq!(hours(NINE + 14), [NINE - 3600]);
    assert_eq!(hours(NINE - 15), [NINE]);
    assert!(hours(NINE + 15).is_empty());
    assert!(hours(NINE - 16).is_empty());
}

#[test]
fn requests_are_written_to_the_hour_in_which_they_were_counted() {
    let mut counter = Counter::new();
    let mut table = BTreeMap::new();
    counter.take_unconfirmed(limits(None, Some(9)), 1, NINE - 1).unwrap();
    counter.take_unconfirmed(limits(None, Some(9)), 1, NINE).unwrap();
    write(&mut counter, &mut table, NINE);
    assert_eq!(table.keys().copied().collect::<Vec<_>>(), [NINE - 3600, NINE]);
    assert_eq!(counted(&table), 2);
}

#[test]
fn a_write_is_due_at_first_by_half_of_the_allowance_and_by_age() {
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
fn writes_that_fail_are_retried_after_growing_delays() {
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
fn after_two_failures_no_request_waits_until_a_write_succeeds() {
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
fn a_request_that_nobody_waits_for_any_more_is_not_counted() {
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
}

#[test]
fn many_requests_are_counted_all_or_none() {
    let mut counter = Counter::new();
    let limits = limits(Some(10), Some(12));
    counter.take_unconfirmed(limits, 7, NINE).unwrap();
    let refused = take(&mut counter, limits, 4, NINE + 5).unwrap_err();
    assert_eq!((refused.exhausted.limit_type, refused.exhausted.remaining), (LimitType::Minute, 3));
    assert_eq!(refused.exhausted.reset, NINE + 60, "when the first seven no longer count");
    let last = counter.take_unconfirmed(limits, 3, NINE + 5).unwrap();
    assert_eq!(last.minute.unwrap().remaining, 0);
    // More than the quota never fits, and that is what is told.
    let refused = take(&mut counter, limits, 13, NINE + 70).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.remaining), (LimitType::Daily, 2));
    let last = counter.take_unconfirmed(limits, 2, NINE + 70).unwrap();
    assert_eq!(last.daily.unwrap().remaining, 0);
}

#[test]
fn an_older_answer_of_the_table_takes_nothing_back() {
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
fn a_container_whose_clock_is_ahead_locks_nobody_out_of_a_minute_for_longer_than_one() {
    let (mut ahead, mut counter) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(2), Some(100));
    ahead.take_unconfirmed(limits, 2, NINE + 480).unwrap();
    write(&mut ahead, &mut table, NINE + 480);
    counter.has_doubt = true;
    write(&mut counter, &mut table, NINE);
    let refused = take(&mut counter, limits, 1, NINE + 3).unwrap_err();
    assert_eq!(refused.exhausted.reset, NINE + 60);
    // The same tally is read again, and is no news.
    counter.has_doubt = true;
    write(&mut counter, &mut table, NINE + 50);
    assert_eq!(take(&mut counter, limits, 1, NINE + 50).unwrap_err().exhausted.reset, NINE + 60);
    assert!(take(&mut counter, limits, 1, NINE + 60).is_ok());
}
