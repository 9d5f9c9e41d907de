use proptest::prelude::*;

use super::*;

const NINE: i64 = 1_795_219_200 + 9 * 3600;

fn limits(per_minute: Option<u64>, per_day: Option<u64>) -> Limits {
    Limits { per_minute, per_day }
}

/// Writes the unwritten requests into `table`, as DynamoDB would.
fn write(counter: &mut Counter, table: &mut BTreeMap<i64, HourOfUsage>, now: i64) {
    let flush = counter.flush(now, Instant::now());
    if !flush.tallies.is_empty() {
        let stored = |hour: &i64| Some((*hour, table.get(hour)?.clone()));
        let earlier: Vec<_> = flush.earlier_hours.iter().filter_map(stored).collect();
        counter.record_earlier_hours(now, earlier);
    }
    for (hour, tally) in flush.tallies {
        let item = table.entry(hour).or_default();
        let stored = item.entry(counter.container().to_owned()).or_default();
        if stored.count < tally.count {
            *stored = tally.clone();
        }
        counter.record_written(hour, &tally, item.clone());
    }
}

fn counted(table: &BTreeMap<i64, HourOfUsage>) -> u64 {
    table.values().flat_map(HourOfUsage::values).map(|tally| tally.count).sum()
}

#[test]
fn requests_are_admitted_up_to_the_tighter_quota() {
    let mut counter = Counter::new();
    let limits = limits(Some(2), Some(3));
    let first = counter.take(limits, 1, NINE).unwrap();
    assert_eq!(first.minute.unwrap().remaining, 1);
    assert_eq!(first.daily.unwrap().remaining, 2);
    counter.take(limits, 1, NINE).unwrap();
    let refused = counter.take(limits, 1, NINE).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.reset), (LimitType::Minute, NINE + 60));
    // A request that is refused is not counted.
    counter.take(limits, 1, NINE + 60).unwrap();
    let refused = counter.take(limits, 1, NINE + 61).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.reset), (LimitType::Daily, NINE + 24 * 3600));
}

#[test]
fn of_two_exhausted_quotas_the_one_that_is_reset_last_is_named() {
    let mut counter = Counter::new();
    counter.take(limits(Some(1), Some(1)), 1, NINE).unwrap();
    let refused = counter.take(limits(Some(1), Some(1)), 1, NINE).unwrap_err();
    assert_eq!(refused.statuses.minute.unwrap().remaining, 0);
    assert_eq!(refused.exhausted.limit_type, LimitType::Daily);
}

#[test]
fn containers_see_each_other_once_they_have_written() {
    let (mut first, mut second) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(3), Some(100));
    first.take(limits, 1, NINE).unwrap();
    first.take(limits, 1, NINE).unwrap();
    write(&mut first, &mut table, NINE);
    second.take(limits, 1, NINE + 1).unwrap();
    write(&mut second, &mut table, NINE + 1);
    let refused = second.take(limits, 1, NINE + 2).unwrap_err().statuses;
    assert_eq!((refused.minute.unwrap().remaining, refused.daily.unwrap().remaining), (0, 97));
    assert_eq!(counted(&table), 3);
}

#[test]
fn a_write_that_is_repeated_or_late_counts_once() {
    let mut counter = Counter::new();
    let mut table = BTreeMap::new();
    let limits = limits(None, Some(100));
    counter.take(limits, 1, NINE).unwrap();
    // The first write reaches the table, but its answer is lost.
    let lost = counter.flush(NINE, Instant::now()).tallies;
    table.insert(NINE, HourOfUsage::from([(counter.container().to_owned(), lost[0].1.clone())]));
    counter.record_failure(Instant::now());
    assert!(counter.has_unwritten());
    counter.take(limits, 1, NINE + 1).unwrap();
    write(&mut counter, &mut table, NINE + 1);
    assert!(!counter.has_unwritten());
    assert_eq!(counted(&table), 2);
    assert_eq!(counter.take(limits, 1, NINE + 2).unwrap().daily.unwrap().remaining, 97);
}

#[test]
fn a_container_that_starts_learns_of_the_hours_before() {
    let (mut old, mut new) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(50), Some(5));
    for hour in 0..4 {
        old.take(limits, 1, NINE + hour * 3600).unwrap();
        write(&mut old, &mut table, NINE + hour * 3600);
    }
    let now = NINE + 5 * 3600;
    new.take(limits, 1, now).unwrap();
    assert_eq!(new.flush(now, Instant::now()).earlier_hours.len(), 23);
    write(&mut new, &mut table, now);
    assert!(new.take(limits, 1, now).is_err());
    // The oldest of the five requests counts until a day after its hour began.
    assert!(new.take(limits, 1, NINE + 24 * 3600).is_ok());
}

#[test]
fn the_last_minute_reaches_back_into_the_hour_before() {
    let (mut old, mut new) = (Counter::new(), Counter::new());
    let mut table = BTreeMap::new();
    let limits = limits(Some(2), None);
    old.take(limits, 1, NINE - 10).unwrap();
    write(&mut old, &mut table, NINE - 10);
    new.take(limits, 1, NINE + 10).unwrap();
    assert_eq!(new.flush(NINE + 10, Instant::now()).earlier_hours, [NINE - 3600]);
    write(&mut new, &mut table, NINE + 10);
    assert!(new.take(limits, 1, NINE + 11).is_err());
    assert!(new.take(limits, 1, NINE + 50).is_ok());
}

#[test]
fn requests_are_written_to_the_hour_in_which_they_were_counted() {
    let mut counter = Counter::new();
    let mut table = BTreeMap::new();
    counter.take(limits(None, Some(9)), 1, NINE - 1).unwrap();
    counter.take(limits(None, Some(9)), 1, NINE).unwrap();
    write(&mut counter, &mut table, NINE);
    assert_eq!(table.keys().copied().collect::<Vec<_>>(), [NINE - 3600, NINE]);
    assert_eq!(counted(&table), 2);
}

#[test]
fn a_write_is_due_at_first_by_share_and_by_age() {
    let mut counter = Counter::new();
    let mut table = BTreeMap::new();
    let limits = limits(None, Some(101));
    let clock = Instant::now();
    assert_eq!(counter.due_at(clock), None);
    counter.take(limits, 1, NINE).unwrap();
    assert_eq!(counter.due_at(clock), Some(clock), "the first one");
    write(&mut counter, &mut table, NINE);
    counter.take(limits, 1, NINE).unwrap();
    assert!(counter.due_at(clock) > Some(clock + FLUSH_INTERVAL / 2), "young and few");
    for _ in 0..9 {
        counter.take(limits, 1, NINE).unwrap();
    }
    assert_eq!(counter.due_at(clock), Some(clock), "a tenth of what is left");
}

#[test]
fn writes_that_fail_are_retried_after_growing_delays() {
    let mut counter = Counter::new();
    counter.take(limits(None, Some(9)), 1, NINE).unwrap();
    let clock = Instant::now();
    let mut delays = Vec::new();
    for _ in 0..7 {
        counter.flush(NINE, clock);
        counter.record_failure(clock);
        delays.push(counter.due_at(clock).unwrap().duration_since(clock).as_secs());
    }
    assert_eq!(delays, [1, 2, 4, 8, 16, 16, 16]);
    let failures = counter.record_failure(clock + Duration::from_secs(90));
    assert_eq!(failures, Failures { since: clock, times: 8 });
}

#[test]
fn many_requests_are_counted_all_or_none() {
    let mut counter = Counter::new();
    let limits = limits(Some(10), Some(12));
    counter.take(limits, 7, NINE).unwrap();
    let refused = counter.take(limits, 4, NINE + 5).unwrap_err();
    assert_eq!((refused.exhausted.limit_type, refused.exhausted.remaining), (LimitType::Minute, 3));
    assert_eq!(refused.exhausted.reset, NINE + 60, "when the first seven no longer count");
    assert_eq!(counter.take(limits, 3, NINE + 5).unwrap().minute.unwrap().remaining, 0);
    // More than the quota never fits, and that is what is told.
    let refused = counter.take(limits, 13, NINE + 70).unwrap_err().exhausted;
    assert_eq!((refused.limit_type, refused.remaining), (LimitType::Daily, 2));
    assert_eq!(counter.take(limits, 2, NINE + 70).unwrap().daily.unwrap().remaining, 0);
}

#[test]
fn an_older_answer_of_the_table_takes_nothing_back() {
    let mut counter = Counter::new();
    let of_other =
        |count| HourOfUsage::from([("other".to_owned(), Tally { count, recent: vec![] })]);
    counter.record_earlier_hours(NINE, [(NINE, of_other(5))]);
    counter.record_earlier_hours(NINE, [(NINE, of_other(3))]);
    assert_eq!(counter.take(limits(None, Some(10)), 1, NINE).unwrap().daily.unwrap().remaining, 4);
}

/// One request in a generated sequence: the container that gets it, how many requests it counts as, and
/// how many seconds it comes after the one before.
type Step = (usize, u64, i64);

fn learn(counter: &mut Counter, limits: Limits, table: &BTreeMap<i64, HourOfUsage>, now: i64) {
    let hours = counter.hours_to_learn(limits, now);
    let stored: Vec<_> =
        hours.iter().filter_map(|hour| Some((*hour, table.get(hour)?.clone()))).collect();
    counter.record_earlier_hours(now, stored);
}

proptest! {
    /// What containers have counted and not yet written is all by which a quota can be exceeded.
    #[test]
    fn requests_of_many_exceed_a_quota_by_no_more_than_others_have_not_written(
        steps in prop::collection::vec((0..3_usize, 1..60_u64, 0..20_i64), 1..60),
        per_minute in 1..200_u64,
        writes_late in any::<bool>()
    ) {
        let steps: Vec<Step> = steps;
        let limits = limits(Some(per_minute), Some(per_minute * 3));
        let mut counters = [Counter::new(), Counter::new(), Counter::new()];
        let mut table = BTreeMap::new();
        let mut admitted: Vec<(i64, u64)> = Vec::new();
        let (mut now, clock) = (NINE + 3500, Instant::now());
        for (container, requests, pause) in steps {
            now += pause;
            if requests > 1 {
                learn(&mut counters[container], limits, &table, now);
            }
            let unheard: u64 = (0..3)
                .filter(|other| *other != container)
                .map(|other| counters[other].unwritten())
                .sum();
            if counters[container].take(limits, requests, now).is_ok() {
                admitted.push((now, requests));
                let within = |span: i64| -> u64 {
                    let recent = admitted.iter().filter(|(time, _)| *time >= now - span);
                    recent.map(|(_, requests)| requests).sum()
                };
                // A single request is admitted without asking the others before.
                if requests > 1 {
                    prop_assert!(within(55) <= per_minute + unheard);
                    prop_assert!(within(23 * 3600) <= per_minute * 3 + unheard);
                }
            }
            let is_due = counters[container].due_at(clock).is_some_and(|due| due <= clock);
            if is_due || !writes_late {
                write(&mut counters[container], &mut table, now);
            }
            if !writes_late {
                prop_assert_eq!(unheard, 0);
            }
        }
    }
}
