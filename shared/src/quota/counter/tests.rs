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
