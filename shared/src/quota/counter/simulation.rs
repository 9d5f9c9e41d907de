//! Simulates containers that share a quota, in virtual time. Calls take time, responses may be lost, and containers
//! freeze. Requests arrive one by one and in bursts.
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
/// In milliseconds, as are all times in the simulation.
const STEP: i64 = 20;
const END_OF_REQUESTS: i64 = 70_000;
/// Late enough to write everything after the last request.
const END: i64 = 80_000;
const CALL_TIMEOUT: i64 = 1000;
/// In seconds. Each run crosses an hour boundary.
const START: i64 = 1_795_222_800 - 40;
/// The maximum time between counting and admitting a request, in seconds: two calls.
const MAX_ADMISSION_DELAY: i64 = 2;

type Table = BTreeMap<i64, HourlyTallies>;

/// A container's write in progress.
struct Write {
    flush: Flush,
    usage: Vec<(i64, HourlyTallies)>,
    started_at: i64,
    arrives_at: i64,
    returns_at: i64,
    is_lost: bool,
    is_in_table: bool,
    /// `true` if the tallies are written, and the current call reads hours.
    is_reading: bool,
}

struct Container {
    counter: Counter,
    write: Option<Write>,
    waiting: Vec<(u64, Receiver<Outcome>)>,
    frozen_until: i64,
}

struct Run {
    random: StdRng,
    clock: Instant,
    limits: Limits,
    max_delay: i64,
    max_requests: u64,
    table: Table,
    containers: Vec<Container>,
    /// The admitted requests, by time.
    admitted: Vec<(i64, u64)>,
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
            max_delay: [0, 40, 400][random.random_range(0..3)],
            max_requests: if random.random_bool(0.5) { 1 } else { per_minute.div_ceil(4) },
            random,
            table: Table::new(),
            admitted: Vec::new(),
        }
    }

    /// Runs to the end, at this average rate per container.
    fn run(mut self, requests_per_second: f64) -> Self {
        for time in (0..END).step_by(STEP as usize) {
            let is_burst = self.random.random_bool(0.002);
            for index in 0..self.containers.len() {
                if time < self.containers[index].frozen_until {
                    continue;
                }
                self.continue_write(index, time);
                self.receive_outcomes(index, time);
                let requests = if is_burst { 12 } else { 0 }
                    + u32::from(
                        self.random.random_bool(requests_per_second * STEP as f64 / 1000.0),
                    );
                for _ in 0..if time < END_OF_REQUESTS { requests } else { 0 } {
                    self.send_request(index, time);
                }
                self.start_write_if_due(index, time);
                if time < END_OF_REQUESTS && self.random.random_bool(0.001) {
                    self.freeze(index, time);
                }
            }
            // Calls from a frozen container still arrive.
            for index in 0..self.containers.len() {
                self.deliver(index, time);
            }
        }
        self
    }

    fn instant(&self, time: i64) -> Instant {
        self.clock + Duration::from_millis(time as u64)
    }

    fn send_request(&mut self, index: usize, time: i64) {
        let (now, clock) = (START + time / 1000, self.instant(time));
        let requests = self.random.random_range(1..=self.max_requests);
        let Container { counter, waiting, .. } = &mut self.containers[index];
        match counter.take(self.limits, requests, now, clock) {
            TakeResult::Now(Ok(_)) => self.admitted.push((time, requests)),
            TakeResult::Now(Err(_)) => (),
            TakeResult::AfterWrite(receiver) => waiting.push((requests, receiver)),
        }
    }

    fn receive_outcomes(&mut self, index: usize, time: i64) {
        for (requests, mut receiver) in std::mem::take(&mut self.containers[index].waiting) {
            match receiver.try_recv() {
                Ok(Ok(_)) => self.admitted.push((time, requests)),
                Ok(Err(_)) => (),
                Err(TryRecvError::Closed) => panic!("no outcome"),
                Err(TryRecvError::Empty) => {
                    self.containers[index].waiting.push((requests, receiver));
                }
            }
        }
    }

    /// Freezes a container unless its last write failed, since two consecutive failures count as an outage.
    fn freeze(&mut self, index: usize, time: i64) {
        if self.containers[index].counter.failures.is_none() {
            self.containers[index].frozen_until = time + self.random.random_range(0..8000);
        }
    }

    fn start_write_if_due(&mut self, index: usize, time: i64) {
        let clock = self.instant(time);
        let Container { counter, write, .. } = &mut self.containers[index];
        if write.is_some() || counter.due_at(clock).is_none_or(|due| due > clock) {
            return;
        }
        let is_first_failure = counter.failures.is_none();
        if let Some(flush) = counter.flush(START + time / 1000, clock) {
            let delay = self.random.random_range(0..=self.max_delay);
            *write = Some(Write {
                is_reading: flush.tallies.is_empty(),
                flush,
                usage: Vec::new(),
                started_at: time,
                arrives_at: time + self.random.random_range(0..=delay),
                returns_at: time + delay,
                is_lost: is_first_failure && self.random.random_bool(0.02),
                is_in_table: false,
            });
        }
    }

    /// Applies a call to the table once it arrives.
    fn deliver(&mut self, index: usize, time: i64) {
        let Container { counter, write: Some(write), .. } = &mut self.containers[index] else {
            return;
        };
        if write.is_in_table || time < write.arrives_at {
            return;
        }
        write.is_in_table = true;
        if write.is_reading {
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

    /// Handles the response or the timeout of a call.
    fn continue_write(&mut self, index: usize, time: i64) {
        let clock = self.instant(time);
        let Container { counter, write, .. } = &mut self.containers[index];
        let Some(mut in_progress) = write.take() else { return };
        if time - in_progress.started_at > CALL_TIMEOUT {
            counter.record_failure(START + time / 1000, clock);
        } else if !in_progress.is_in_table || in_progress.is_lost || time < in_progress.returns_at {
            *write = Some(in_progress);
        } else if in_progress.is_reading || in_progress.flush.hours.is_empty() {
            counter.record_confirmed(&in_progress.flush, in_progress.usage, START + time / 1000);
        } else {
            let delay = self.random.random_range(0..=self.max_delay);
            in_progress.is_reading = true;
            in_progress.is_in_table = false;
            (in_progress.started_at, in_progress.arrives_at) = (time, time + delay / 2);
            in_progress.returns_at = time + delay;
            *write = Some(in_progress);
        }
    }

    /// The number of requests by which a quota may be exceeded.
    fn max_excess(&self, limit: u64) -> u64 {
        (self.containers.len() as u64 - 1) * (limit / 10).clamp(1, 100)
    }

    /// The maximum number of requests admitted within one window of the quota, less one bucket.
    fn max_admitted_in_window(&self, limit_type: LimitType) -> u64 {
        let span = 1000 * (limit_type.window() - limit_type.bucket() - MAX_ADMISSION_DELAY);
        let within = |from: i64| {
            let later = self.admitted.iter().filter(|(time, _)| (from..from + span).contains(time));
            later.map(|(_, requests)| requests).sum::<u64>()
        };
        self.admitted.iter().map(|(time, _)| within(*time)).max().unwrap_or(0)
    }

    fn total_in_table(&self) -> u64 {
        self.table.values().flat_map(HourlyTallies::values).map(|tally| tally.count).sum()
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
            let max = run.max_admitted_in_window(limit_type);
            assert!(max <= limit + run.max_excess(limit), "run {seed}: {max} of {limit}");
        }
        let admitted: u64 = run.admitted.iter().map(|(_, requests)| requests).sum();
        assert_eq!(run.total_in_table(), admitted, "run {seed}: each request is counted once");
        let is_done = run.containers.iter().all(|container| container.waiting.is_empty());
        assert!(is_done, "run {seed}: each request has an outcome");
    }
}

/// Competing claims must not all be rejected forever.
#[test]
fn a_busy_client_can_use_its_whole_quota() {
    for seed in 0..runs() {
        let run = Run::new(seed).run(40.0);
        let limit = run.limits.per_minute.unwrap();
        let max = run.max_admitted_in_window(LimitType::Minute);
        assert!(max + run.max_requests > limit, "run {seed}: {max} of {limit}");
    }
}
