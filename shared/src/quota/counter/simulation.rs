//! Simulates containers that count requests of one quota in a table, in virtual time. Calls take a while, and
//! responses may be lost. Containers freeze. Requests come one by one, in bursts and all at once.
//!
//! `TNR_QUOTA_RUNS` sets the number of runs.

use std::{
    collections::BTreeMap,
    env,
    time::{Duration, Instant},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::oneshot::{Receiver, error::TryRecvError};

use super::*;

const DEFAULT_RUNS: u64 = 15;
/// In milliseconds, like all times in the simulation.
const STEP: i64 = 20;
const END_OF_REQUESTS: i64 = 70_000;
/// Everything is written after the last request.
const END: i64 = 80_000;
const CALL_TIMEOUT: i64 = 1000;
/// Each run crosses an hour boundary.
const START: i64 = 1_795_222_800 - 40;
/// The maximum time between counting and admitting a request, two calls, in seconds.
const COUNTED_BEFORE: i64 = 2;

type Table = BTreeMap<i64, HourOfUsage>;

/// A write in progress, as a container sees it.
struct Write {
    flush: Flush,
    usage: Vec<(i64, HourOfUsage)>,
    /// The times at which the call started, reaches the table, and is answered.
    began: i64,
    reaches: i64,
    answered: i64,
    is_lost: bool,
    is_in_table: bool,
    /// `true` if the tallies are written and the call is reading hours.
    reads: bool,
}

struct Container {
    counter: Counter,
    write: Option<Write>,
    waiting: Vec<(u64, i64, Receiver<Outcome>)>,
    frozen_until: i64,
}

/// One run, and the requests admitted in it, by time.
struct Run {
    random: StdRng,
    clock: Instant,
    limits: Limits,
    longest_delay: i64,
    largest: u64,
    table: Table,
    containers: Vec<Container>,
    admitted: Vec<(i64, u64)>,
    longest_wait: i64,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let per_minute = random.random_range(1..300);
        let limits = Limits {
            per_minute: Some(per_minute),
            per_day: random.random_bool(0.5).then_some(per_minute * 3 / 2),
        };
        let containers = (0..random.random_range(1..=5)).map(|_| Container {
            counter: Counter::new(),
            write: None,
            waiting: Vec::new(),
            frozen_until: 0,
        });
        Self {
            clock: Instant::now(),
            limits,
            containers: containers.collect(),
            longest_delay: [0, 40, 400][random.random_range(0..3)],
            largest: if random.random_bool(0.5) { 1 } else { per_minute.div_ceil(4) },
            random,
            table: Table::new(),
            admitted: Vec::new(),
            longest_wait: 0,
        }
    }

    /// Runs to the end, with this average rate per container and second.
    fn run(mut self, requests_a_second: f64) -> Self {
        for time in (0..END).step_by(STEP as usize) {
            let is_burst = self.random.random_bool(0.002);
            for index in 0..self.containers.len() {
                if time < self.containers[index].frozen_until {
                    continue;
                }
                self.go_on_with_write(index, time);
                self.hear_outcomes(index, time);
                let requests = if is_burst { 12 } else { 0 }
                    + u32::from(self.random.random_bool(requests_a_second * STEP as f64 / 1000.0));
                for _ in 0..if time < END_OF_REQUESTS { requests } else { 0 } {
                    self.ask(index, time);
                }
                self.begin_write_if_due(index, time);
                if time < END_OF_REQUESTS && self.random.random_bool(0.001) {
                    self.freeze(index, time);
                }
            }
            // Whatever a frozen process has sent still arrives.
            for index in 0..self.containers.len() {
                self.deliver(index, time);
            }
        }
        self
    }

    fn instant(&self, time: i64) -> Instant {
        self.clock + Duration::from_millis(time as u64)
    }

    fn ask(&mut self, index: usize, time: i64) {
        let (now, clock) = (START + time / 1000, self.instant(time));
        let requests = self.random.random_range(1..=self.largest);
        let Container { counter, waiting, .. } = &mut self.containers[index];
        match counter.take(self.limits, requests, now, clock) {
            Taken::Now(Ok(_)) => self.admitted.push((time, requests)),
            Taken::Now(Err(_)) => (),
            Taken::AfterWrite(told) => waiting.push((requests, time, told)),
        }
    }

    fn hear_outcomes(&mut self, index: usize, time: i64) {
        for (requests, asked, mut told) in std::mem::take(&mut self.containers[index].waiting) {
            match told.try_recv() {
                Ok(Ok(_)) => self.admitted.push((time, requests)),
                Ok(Err(_)) => (),
                Err(TryRecvError::Closed) => panic!("no outcome"),
                Err(TryRecvError::Empty) => {
                    self.longest_wait = self.longest_wait.max(time - asked);
                    self.containers[index].waiting.push((requests, asked, told));
                }
            }
        }
    }

    /// Freezes a container. One that has failed is left to recover, since two consecutive failures are an
    /// outage.
    fn freeze(&mut self, index: usize, time: i64) {
        if self.containers[index].counter.failures.is_none() {
            self.containers[index].frozen_until = time + self.random.random_range(0..8000);
        }
    }

    fn begin_write_if_due(&mut self, index: usize, time: i64) {
        let clock = self.instant(time);
        let Container { counter, write, .. } = &mut self.containers[index];
        if write.is_some() || counter.due_at(clock).is_none_or(|due| due > clock) {
            return;
        }
        let is_first_failure = counter.failures.is_none();
        if let Some(flush) = counter.flush(START + time / 1000, clock) {
            let delay = self.random.random_range(0..=self.longest_delay);
            *write = Some(Write {
                reads: flush.tallies.is_empty(),
                flush,
                usage: Vec::new(),
                began: time,
                reaches: time + self.random.random_range(0..=delay),
                answered: time + delay,
                is_lost: is_first_failure && self.random.random_bool(0.02),
                is_in_table: false,
            });
        }
    }

    /// Applies to the table whatever has reached it.
    fn deliver(&mut self, index: usize, time: i64) {
        let Container { counter, write: Some(write), .. } = &mut self.containers[index] else {
            return;
        };
        if write.is_in_table || time < write.reaches {
            return;
        }
        write.is_in_table = true;
        if write.reads {
            let found = write.flush.hours.iter().filter_map(|hour| self.table.get_key_value(hour));
            write.usage.extend(found.map(|(hour, tallies)| (*hour, tallies.clone())));
            return;
        }
        for (hour, tally) in &write.flush.tallies {
            let item = self.table.entry(*hour).or_default();
            let stored = item.entry(counter.container().to_owned()).or_default();
            if stored.version < tally.version {
                *stored = tally.clone();
            }
            write.usage.push((*hour, item.clone()));
        }
    }

    /// Handles the response of a call, or its absence.
    fn go_on_with_write(&mut self, index: usize, time: i64) {
        let clock = self.instant(time);
        let Container { counter, write, .. } = &mut self.containers[index];
        let Some(mut under_way) = write.take() else { return };
        if time - under_way.began > CALL_TIMEOUT {
            counter.record_failure(START + time / 1000, clock);
        } else if !under_way.is_in_table || under_way.is_lost || time < under_way.answered {
            *write = Some(under_way);
        } else if under_way.reads || under_way.flush.hours.is_empty() {
            counter.record_confirmed(&under_way.flush, under_way.usage, START + time / 1000);
        } else {
            let delay = self.random.random_range(0..=self.longest_delay);
            under_way.reads = true;
            under_way.is_in_table = false;
            (under_way.began, under_way.reaches) = (time, time + delay / 2);
            under_way.answered = time + delay;
            *write = Some(under_way);
        }
    }

    /// The number of requests by which a quota may be exceeded.
    fn excess(&self, limit: u64) -> u64 {
        (self.containers.len() as u64 - 1) * (limit / 10).clamp(1, 100)
    }

    /// The maximum number of requests admitted within the quota's window, less one bucket.
    fn most_within_window(&self, limit_type: LimitType) -> u64 {
        let span = 1000 * (limit_type.window() - limit_type.bucket() - COUNTED_BEFORE);
        let within = |from: i64| {
            let later = self.admitted.iter().filter(|(time, _)| (from..from + span).contains(time));
            later.map(|(_, requests)| requests).sum::<u64>()
        };
        self.admitted.iter().map(|(time, _)| within(*time)).max().unwrap_or(0)
    }

    fn counted(&self) -> u64 {
        self.table.values().flat_map(HourOfUsage::values).map(|tally| tally.count).sum()
    }
}

fn runs() -> u64 {
    let set = env::var("TNR_QUOTA_RUNS").ok();
    set.map_or(DEFAULT_RUNS, |text| text.parse().expect("TNR_QUOTA_RUNS must be a number"))
}

/// The bound that `docs/OPERATIONS.md` promises.
#[test]
fn containers_exceed_a_quota_by_at_most_a_tenth_per_additional_container() {
    for seed in 0..runs() {
        let run = Run::new(seed).run(if seed % 3 == 0 { 20.0 } else { 2.0 });
        let Limits { per_minute, per_day } = run.limits;
        for (limit_type, limit) in [(LimitType::Minute, per_minute), (LimitType::Daily, per_day)] {
            let Some(limit) = limit else { continue };
            let most = run.most_within_window(limit_type);
            assert!(most <= limit + run.excess(limit), "run {seed}: {most} of {limit}");
        }
        let admitted: u64 = run.admitted.iter().map(|(_, requests)| requests).sum();
        assert_eq!(run.counted(), admitted, "run {seed}: each is counted once");
        let all_wait = run.containers.iter().any(|container| !container.waiting.is_empty());
        assert!(!all_wait, "run {seed}: each is answered");
    }
}

/// Claims that refuse each other must not do so indefinitely.
#[test]
fn a_quota_in_demand_is_used_up() {
    for seed in 0..runs() {
        let run = Run::new(seed).run(40.0);
        let limit = run.limits.per_minute.unwrap();
        let most = run.most_within_window(LimitType::Minute);
        assert!(most + run.largest > limit, "run {seed}: {most} of {limit}");
    }
}
