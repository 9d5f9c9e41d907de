//! Simulates containers that share a quota, in virtual time. Calls take time, responses get lost, containers freeze,
//! and clients disconnect. Requests arrive one by one and in bursts.
//!
//! `TNR_QUOTA_RUNS` sets the number of runs.

use std::env;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::oneshot::{Receiver, error::TryRecvError};

use super::limits;
use crate::quota::{counter::*, window::LimitType};

const DEFAULT_RUNS: u64 = 15;
/// In milliseconds, as are all times in the simulation.
const STEP: i64 = 20;
/// The step for simulations with many containers.
const LONG_STEP: i64 = 100;
const END_OF_REQUESTS: i64 = 70_000;
/// Everything is written before this time.
const END: i64 = 1_500_000;
const CALL_TIMEOUT: i64 = 1000;
/// The time between container starts. Lambda starts 1,000 containers in ten seconds.
const START_INTERVAL: i64 = 10;
/// The maximum write units per second for all containers of a quota, all on one partition.
const MAX_WRITES_PER_SECOND: usize = 100;
/// In seconds. Every run crosses an hour boundary.
const START: i64 = 1_795_222_800 - 40;
/// The maximum time between counting and admitting a request, in seconds: two calls.
const MAX_ADMISSION_DELAY: i64 = 2;

/// Adds a container's requests to the item, as the table does.
pub fn add(usage: &mut Usage, write: &UsageWrite) {
    let last = usage.last_writes.entry(write.container.clone()).or_default();
    if *last >= write.number {
        return;
    }
    *last = write.number;
    usage.counts.add_all(&write.counts);
    for (minute, active) in &write.activity {
        *usage.activity.entry(*minute).or_default() += active;
    }
    let minute = &mut usage.counts.0[LimitType::Minute as usize];
    while minute.len() > 24 {
        minute.pop_first();
    }
    if usage.last_writes.len() > Usage::MAX_LAST_WRITES {
        let others = usage.last_writes.iter().filter(|(it, _)| **it != write.container);
        let oldest = others.min_by_key(|(_, number)| **number).unwrap().0.clone();
        usage.last_writes.remove(&oldest);
    }
}

/// A container's call in progress.
struct CallInProgress {
    call: Call,
    started_at: i64,
    arrives_at: i64,
    returns_at: i64,
    is_lost: bool,
    /// The response, once the call has reached the table.
    usage: Option<Usage>,
}

struct Container {
    counter: Counter,
    call: Option<CallInProgress>,
    waiting: Vec<(u64, Receiver<Outcome>)>,
    /// The time at which the container starts because of a request.
    started_at: i64,
    frozen_until: i64,
}

struct Run {
    random: StdRng,
    clock: Instant,
    step: i64,
    limits: Limits,
    max_delay: i64,
    max_requests: u64,
    /// The quota's item.
    table: Usage,
    /// The times of the writes to it.
    writes: Vec<i64>,
    containers: Vec<Container>,
    /// The admitted requests, by time.
    admitted: Vec<(i64, u64)>,
}

impl Run {
    /// Creates containers that start one after the other.
    fn new(seed: u64, containers: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let per_minute = random.random_range(1..300) * containers.div_ceil(5);
        let per_day = random.random_bool(0.5).then_some(per_minute * 3 / 2);
        let limits = limits(Some(per_minute as u32), per_day.map(|limit| limit as u32));
        let step = if containers < 100 { STEP } else { LONG_STEP };
        let containers = (0..containers as i64).map(|index| Container {
            counter: Counter::new(),
            call: None,
            waiting: Vec::new(),
            started_at: index * START_INTERVAL,
            frozen_until: index * START_INTERVAL,
        });
        Self {
            clock: Instant::now(),
            step,
            limits,
            containers: containers.collect(),
            max_delay: [0, 40, 400][random.random_range(0..3)],
            max_requests: if random.random_bool(0.5) { 1 } else { per_minute.div_ceil(4) },
            random,
            table: Usage::default(),
            writes: Vec::new(),
            admitted: Vec::new(),
        }
    }

    /// Runs to the end at this average request rate per container.
    fn run(mut self, requests_per_second: f64) -> Self {
        // A burst goes to at most a hundred containers.
        let burst_share = (100.0 / self.containers.len() as f64).min(1.0);
        let mut time = 0;
        let is_written = |it: &Container| it.call.is_none() && !it.counter.has_something_to_write();
        while time < END_OF_REQUESTS || !self.containers.iter().all(is_written) {
            assert!(time < END, "counts are still unwritten");
            let is_burst = self.random.random_bool(0.002);
            for index in 0..self.containers.len() {
                if time < self.containers[index].frozen_until {
                    continue;
                }
                self.receive_response(index, time);
                self.receive_outcomes(index, time);
                let is_start = time - self.containers[index].started_at < self.step;
                let is_in_burst = is_burst && self.random.random_bool(burst_share);
                let requests = if is_in_burst { 12 } else { u32::from(is_start) }
                    + u32::from(
                        self.random.random_bool(requests_per_second * self.step as f64 / 1000.0),
                    );
                for _ in 0..if time < END_OF_REQUESTS { requests } else { 0 } {
                    self.send_request(index, time);
                }
                self.start_call_if_due(index, time);
                // Skipped after a failed write, since two failures in a row count as an outage.
                if time < END_OF_REQUESTS
                    && self.random.random_bool(0.001)
                    && self.containers[index].counter.failures == 0
                {
                    self.containers[index].frozen_until = time + self.random.random_range(0..8000);
                }
            }
            self.deliver(time);
            time += if time < END_OF_REQUESTS { self.step } else { LONG_STEP };
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
        waiting.push((requests, counter.take(self.limits, requests, now, clock)));
        self.receive_outcomes(index, time);
        // Some clients disconnect while waiting.
        if self.random.random_bool(0.05) {
            self.containers[index].waiting.pop();
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

    fn start_call_if_due(&mut self, index: usize, time: i64) {
        let clock = self.instant(time);
        let Container { counter, call, .. } = &mut self.containers[index];
        if call.is_some() || counter.due_at(clock).is_none_or(|due| due > clock) {
            return;
        }
        let is_first_failure = counter.failures == 0;
        if let Some(started) = counter.start_call(START + time / 1000, clock) {
            let delay = self.random.random_range(0..=self.max_delay);
            *call = Some(CallInProgress {
                call: started,
                started_at: time,
                arrives_at: time + self.random.random_range(0..=delay),
                returns_at: time + delay,
                is_lost: is_first_failure && self.random.random_bool(0.02),
                usage: None,
            });
        }
    }

    /// Applies calls to the table when they arrive, even if their containers are frozen.
    fn deliver(&mut self, time: i64) {
        for call in self.containers.iter_mut().filter_map(|it| it.call.as_mut()) {
            if call.usage.is_none() && time >= call.arrives_at {
                if let Call::Write(write) = &call.call {
                    self.writes.push(time);
                    add(&mut self.table, write);
                }
                call.usage = Some(self.table.clone());
            }
        }
    }

    /// Handles a call's response or timeout.
    fn receive_response(&mut self, index: usize, time: i64) {
        let (now, clock) = (START + time / 1000, self.instant(time));
        let Container { counter, call, .. } = &mut self.containers[index];
        let Some(mut in_progress) = call.take() else { return };
        let is_received = !in_progress.is_lost && time >= in_progress.returns_at;
        if time - in_progress.started_at > CALL_TIMEOUT {
            counter.record_failure(now, clock);
        } else if let Some(usage) = in_progress.usage.take_if(|_| is_received) {
            let started = self.clock + Duration::from_millis(in_progress.started_at as u64);
            counter.record_response(&in_progress.call, usage, now, started);
        } else {
            *call = Some(in_progress);
        }
    }

    /// The number of requests by which a quota may be exceeded, according to `docs/decisions/0006-quotas.md`.
    fn max_excess(&self, limit: u64) -> u64 {
        let containers = self.containers.len() as u64;
        match containers {
            1 => 0,
            2..=16 => limit / 2 + containers - 1,
            _ => limit + containers - 1,
        }
    }

    /// The maximum number of requests admitted in any span one bucket shorter than the quota's window.
    fn max_admitted_in_window(&self, limit_type: LimitType) -> u64 {
        let bucket = Counts::PERIODS[limit_type as usize].seconds;
        let span = 1000 * (limit_type.window() - bucket - MAX_ADMISSION_DELAY);
        let within = |from: i64| {
            let later = self.admitted.iter().filter(|(time, _)| (from..from + span).contains(time));
            later.map(|(_, requests)| requests).sum::<u64>()
        };
        self.admitted.iter().map(|(time, _)| within(*time)).max().unwrap_or(0)
    }

    /// Checks that the quota is not exceeded by more than the documented number, and that each request has an outcome.
    fn check(&self, description: &str) {
        for (limit_type, limit) in LimitType::ALL.into_iter().zip(self.limits.0) {
            let Some(limit) = limit else { continue };
            let max = self.max_admitted_in_window(limit_type);
            let bound = limit + self.max_excess(limit);
            assert!(max <= bound, "{description}: {max} of {limit}, not at most {bound}");
        }
        let total = super::total(&self.table);
        let admitted: u64 = self.admitted.iter().map(|(_, requests)| requests).sum();
        let max_error = if self.containers.len() <= 10 { 0 } else { admitted / 50 };
        let error = total.unsigned_abs().abs_diff(admitted);
        assert!(error <= max_error, "{description}: {total} counted, {admitted} admitted");
        let is_done = self.containers.iter().all(|container| container.waiting.is_empty());
        assert!(is_done, "{description}: each request has an outcome");
        let within_a_second =
            |first| self.writes.partition_point(|time| *time < self.writes[first] + 1000) - first;
        let rate = (0..self.writes.len()).map(within_a_second).max().unwrap_or_default();
        // If calls take that long, containers that start in the meantime do not know about each other.
        let is_slow = self.max_delay >= 400;
        let is_rare = rate <= MAX_WRITES_PER_SECOND;
        assert!(is_rare || is_slow, "{description}: {rate} writes in a second");
    }
}

fn runs() -> u64 {
    let set = env::var("TNR_QUOTA_RUNS").ok();
    set.map_or(DEFAULT_RUNS, |text| text.parse().expect("TNR_QUOTA_RUNS must be a number"))
}

#[test]
fn containers_exceed_a_quota_by_at_most_half_and_count_each_request_once() {
    for seed in 0..runs() {
        let run = Run::new(seed, seed % 5 + 1).run(if seed % 3 == 0 { 20.0 } else { 2.0 });
        run.check(&format!("run {seed}"));
    }
}

/// The requests per second for each container, depending on the number of containers.
#[test]
fn a_thousand_containers_write_at_most_100_times_a_second() {
    for seed in 0..runs() / DEFAULT_RUNS {
        for (containers, rate) in [(10, 10.0), (100, 0.1), (100, 10.0), (1000, 1.0)] {
            let run = Run::new(seed, containers).run(rate);
            run.check(&format!("run {seed} of {containers}"));
        }
    }
}

/// Otherwise competing claims could all be rejected forever.
#[test]
fn a_busy_client_can_use_its_whole_quota() {
    for seed in 0..runs() {
        let run = Run::new(seed, seed % 5 + 1).run(40.0);
        let limit = run.limits.0[0].unwrap();
        let max = run.max_admitted_in_window(LimitType::Minute);
        assert!(max + run.max_requests > limit, "run {seed}: {max} of {limit}");
    }
}
