//! Counts the requests against one quota in a container. This module is independent of tasks and DynamoDB.
//!
//! A container admits requests up to its allowance before the table confirms them. Beyond that, a request waits: the
//! next write claims it, and the response determines whether it fits.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use rand::{RngExt, distr::Alphanumeric};
use store::{Counts, Usage, UsageWrite};
use tokio::sync::oneshot;

use super::{
    statuses::{Limits, QuotaExceeded, QuotaStatuses},
    window::LimitType,
};

/// The length of a container's random name.
const CONTAINER_CHARACTERS: usize = 4;
/// The writes per second that all containers of a quota aim at. DynamoDB lets a partition take 1,000.
const WRITES_PER_SECOND: f64 = 15.0;
/// The interval between writes, unless half of the allowance is used sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// The share of the remaining requests that all containers together may admit unconfirmed, if a container may write
/// several times a second, and if it may write only once a second or less.
const MIN_SHARE: f64 = 0.1;
const MAX_SHARE: f64 = 0.5;
/// The allowance of each container, even if its share is less or it has no recent confirmation.
const MIN_ALLOWANCE: u64 = 1;
const MAX_ALLOWANCE: u64 = 10_000;
/// The age up to which a confirmation counts as recent, if the container may write more often than that.
const RECENT: Duration = Duration::from_secs(2);
/// If containers write less often than this, they do not all write at once after a pause.
const MIN_SPREAD: Duration = Duration::from_millis(150);
/// A container that begins, or pauses for longer, counts as active for this long.
const MAX_ACTIVE: Duration = Duration::from_secs(Usage::ACTIVITY as u64);
/// A request that would wait longer for a write is rejected.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The maximum number of times that the interval doubles while writes fail.
const MAX_DOUBLINGS: u32 = 4;
/// After this many failed writes, requests no longer wait for the table. A single write may fail because the process
/// was frozen.
pub(super) const OUTAGE_FAILURES: u32 = 2;

/// The status of each quota after requests are admitted or rejected.
pub type Outcome = Result<QuotaStatuses, QuotaExceeded>;

/// The outcome of requests, or the channel that will receive it.
#[derive(Debug)]
pub enum TakeResult {
    Now(Outcome),
    AfterWrite(oneshot::Receiver<Outcome>),
}

/// Requests that wait for confirmation.
#[derive(Debug)]
struct Claim {
    limits: Limits,
    requests: u64,
    outcome: oneshot::Sender<Outcome>,
}

/// The next call to the table. Both return the usage of all containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    Read,
    Write(UsageWrite),
}

#[derive(Debug, Default)]
pub struct Counter {
    container: String,
    limits: Limits,
    /// The requests of all containers, as far as this one knows.
    counted: Counts,
    /// This container's requests that are in no write yet.
    unsent: Counts,
    /// A write without a response. It is repeated unchanged, so that it counts once.
    sent: Option<UsageWrite>,
    /// `true` if the table may contain `sent`.
    is_uncertain: bool,
    waiting: VecDeque<Claim>,
    /// The claims in `sent`, which are counted but not yet admitted.
    claimed: Vec<Claim>,
    claimed_at: i64,
    /// The number of admitted requests that the table has not confirmed.
    unconfirmed: u64,
    /// The unconfirmed requests in `sent`.
    unconfirmed_in_write: u64,
    /// The start of the last call with a response, and the requests that remained then.
    confirmed_at: Option<Instant>,
    remaining: u64,
    attempted_at: Option<Instant>,
    wrote_at: Option<Instant>,
    last_number: i64,
    /// Failed calls since the last success.
    failures: u32,
    /// `true` if the table still contains claims that were rejected.
    has_rejected_claims: bool,
    /// `true` if a request was rejected, perhaps because of claims that other containers have taken back since.
    needs_update: bool,
    /// The number of containers that write regularly.
    containers: f64,
    /// The time at which this container may write again.
    next_write: Option<Instant>,
    /// Steps in the future, and the ones they count from.
    future_steps: BTreeMap<i64, i64>,
    outdated: Vec<String>,
}

impl Counter {
    /// Creates a counter with a new random name, so that a recreated counter is not taken for an earlier one.
    pub fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(CONTAINER_CHARACTERS);
        Self { container: characters.map(char::from).collect(), ..Self::default() }
    }

    /// Counts `requests` at `now`, a Unix time in seconds, or none if they exceed a quota. Beyond the allowance, they
    /// wait for a write.
    pub fn take(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> TakeResult {
        if let Some(outcome) = self.decide(limits, requests, now, clock) {
            return TakeResult::Now(outcome);
        }
        let (outcome, receiver) = oneshot::channel();
        self.waiting.push_back(Claim { limits, requests, outcome });
        TakeResult::AfterWrite(receiver)
    }

    /// Admits or rejects requests; `None` if they must wait.
    fn decide(
        &mut self,
        limits: Limits,
        requests: u64,
        now: i64,
        clock: Instant,
    ) -> Option<Outcome> {
        self.drop_expired(now);
        // If claims are rejected, the requests may still fit.
        if let Err(exceeded) = self.fits(limits, requests, now)
            && self.claimed.is_empty()
        {
            self.needs_update = true;
            return Some(Err(exceeded));
        }
        self.schedule_write(clock);
        if self.is_allowed(limits, requests, now, clock) {
            return Some(self.take_unconfirmed(limits, requests, now));
        }
        let wait = self.next_write?.saturating_duration_since(clock);
        if wait <= MAX_WAIT || !self.is_recent(clock) {
            return None;
        }
        self.needs_update = true;
        let exhausted = self.statuses(requests, now).tightest()?;
        Some(Err(QuotaExceeded { exhausted, requests, statuses: self.statuses(1, now) }))
    }

    /// Counts `requests` without confirmation, or none if they exceed a quota as far as this container knows.
    pub fn take_unconfirmed(&mut self, limits: Limits, requests: u64, now: i64) -> Outcome {
        self.fits(limits, requests, now)?;
        self.add(requests as i64, now);
        self.unconfirmed += requests;
        Ok(self.statuses(1, now))
    }

    /// Returns `true` if `requests` may be admitted without confirmation.
    fn is_allowed(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> bool {
        let waiting: u64 = self.waiting.iter().map(|claim| claim.requests).sum();
        self.fits(limits, requests + waiting, now).is_ok()
            && (self.is_outage() || self.unconfirmed + requests <= self.allowance(clock))
    }

    /// The maximum number of unconfirmed requests.
    fn allowance(&self, clock: Instant) -> u64 {
        let (spacing, has_written) = (self.spacing(), self.wrote_at.is_some());
        // Before its first write, others do not count this container. Few containers write first.
        if !self.is_recent(clock) || !has_written && spacing < MIN_SPREAD {
            return MIN_ALLOWANCE;
        }
        let max_share = if has_written { MAX_SHARE } else { MIN_SHARE };
        let share = (spacing.as_secs_f64() / 2.0).clamp(MIN_SHARE, max_share);
        let allowance = self.remaining as f64 * share / self.containers.max(1.0);
        (allowance as u64).clamp(MIN_ALLOWANCE, MAX_ALLOWANCE)
    }

    /// Returns `true` if the last response is recent.
    fn is_recent(&self, clock: Instant) -> bool {
        let limit = RECENT.max(self.spacing() * 2);
        self.confirmed_at.is_some_and(|at| clock.saturating_duration_since(at) < limit)
    }

    /// The time between a container's writes, if all of them write as often as they may.
    fn spacing(&self) -> Duration {
        Duration::from_secs_f64(self.containers / WRITES_PER_SECOND)
    }

    /// A random delay, so that many containers do not write at once when they begin or after a pause. There are more than
    /// have written yet.
    fn spread(&self) -> Duration {
        let spacing = self.spacing();
        if spacing < MIN_SPREAD {
            return Duration::ZERO;
        }
        spacing.mul_f64(rand::random_range(0.0..3.0))
    }

    /// Chooses the time from which the container may write, unless it already has something to write.
    fn schedule_write(&mut self, clock: Instant) {
        if !self.has_something_to_write() {
            self.next_write = self.next_write.max(Some(clock + self.spread()));
        }
    }

    fn is_outage(&self) -> bool {
        self.failures >= OUTAGE_FAILURES
    }

    /// Checks that `requests` fit into each quota as far as this container knows.
    pub fn fits(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.limits = limits;
        match self.statuses(requests, now).exceeded_by(requests) {
            Some(exhausted) => {
                Err(QuotaExceeded { exhausted, requests, statuses: self.statuses(1, now) })
            }
            None => Ok(()),
        }
    }

    /// The status of each quota, with the time at which `requests` more would fit.
    fn statuses(&self, requests: u64, now: i64) -> QuotaStatuses {
        let Limits { per_minute, per_day } = self.limits;
        let (minute, daily) = (LimitType::Minute, LimitType::Daily);
        QuotaStatuses {
            minute: per_minute.map(|it| minute.status(requests, it, &self.counted.steps, now)),
            daily: per_day.map(|it| daily.status(requests, it, &self.counted.hours, now)),
        }
    }

    /// Counts this container's requests, or takes them back if negative.
    fn add(&mut self, requests: i64, at: i64) {
        self.counted.add(requests, at);
        self.unsent.add(requests, at);
    }

    /// Drops requests outside every window. Those in the future count from now, since the clock was set back.
    fn drop_expired(&mut self, now: i64) {
        let step = LimitType::Minute.bucket_at(now);
        for Counts { hours, steps } in [&mut self.counted, &mut self.unsent] {
            *hours = hours.split_off(&(now - LimitType::Daily.window() + 1));
            *steps = steps.split_off(&(now - LimitType::Minute.window() + 1));
            for requests in steps.split_off(&(step + 1)).into_values() {
                *steps.entry(step).or_default() += requests;
            }
        }
    }

    pub fn has_unwritten_counts(&self) -> bool {
        self.sent.is_some() || !self.unsent.is_zero()
    }

    pub fn has_waiting_claims(&self) -> bool {
        !self.waiting.is_empty() || !self.claimed.is_empty()
    }

    fn has_something_to_write(&self) -> bool {
        self.has_waiting_claims() || self.has_unwritten_counts() || self.needs_update
    }

    /// The time of the next call; `None` if nothing needs to be written or read. The first call is due immediately,
    /// since it returns the other containers' counts.
    pub fn due_at(&self, clock: Instant) -> Option<Instant> {
        if !self.has_something_to_write() {
            return None;
        }
        let has_waiting = self.has_waiting_claims();
        let Some(attempted_at) = self.attempted_at else { return Some(clock) };
        if self.failures > 0 && !has_waiting {
            let doublings = (self.failures - 1).min(MAX_DOUBLINGS);
            return Some(attempted_at + FLUSH_INTERVAL * 2_u32.pow(doublings));
        }
        let next_write = self.next_write.unwrap_or(clock);
        if has_waiting && !self.is_recent(clock) {
            return Some(clock);
        }
        let is_half_used =
            self.has_unwritten_counts() && self.unconfirmed * 2 >= self.allowance(clock);
        let is_first = self.wrote_at.is_none() && self.has_unwritten_counts();
        if has_waiting || self.has_rejected_claims || is_half_used || is_first {
            Some(next_write)
        } else {
            Some(next_write.max(attempted_at + FLUSH_INTERVAL))
        }
    }

    /// Starts the next call, after claiming the waiting requests; `None` if nothing needs to be written or read.
    /// A container that begins or has paused reads first, to learn how many others there are. After a write without a
    /// response, it reads whether the write is counted.
    pub fn start_call(&mut self, now: i64, clock: Instant) -> Option<Call> {
        self.drop_expired(now);
        if !self.has_something_to_write() {
            return None;
        }
        let must_read = self.is_uncertain || !self.is_recent(clock) && self.failures == 0;
        if self.sent.is_none() && !must_read {
            self.claim_waiting(now);
            if !self.unsent.is_zero() || self.needs_update {
                self.sent = Some(self.next_write(now, clock));
                self.unconfirmed_in_write = self.unconfirmed;
            }
        }
        let call = match &self.sent {
            Some(write) if !must_read => Call::Write(write.clone()),
            None if !must_read => return None,
            _ => Call::Read,
        };
        self.attempted_at = Some(clock);
        self.has_rejected_claims = false;
        Some(call)
    }

    /// Moves the unsent requests to a write.
    fn next_write(&mut self, now: i64, clock: Instant) -> UsageWrite {
        let active = self.wrote_at.map_or(MAX_ACTIVE, |at| clock.saturating_duration_since(at));
        let active = active.min(MAX_ACTIVE).as_millis() as i64;
        self.wrote_at = Some(clock);
        // Those of other containers differ in their last three digits.
        let number = now * 1000 + rand::rng().random_range(0..1000);
        self.last_number = number.max(self.last_number + 1);
        UsageWrite {
            container: self.container.clone(),
            number: self.last_number,
            counts: std::mem::take(&mut self.unsent),
            activity: [(now - now.rem_euclid(Usage::ACTIVITY), active)].into(),
            outdated: self.outdated.clone(),
        }
    }

    /// Claims the waiting requests that fit, in order. Rejects the others, unless they may fit once another claim is
    /// rejected.
    fn claim_waiting(&mut self, now: i64) {
        self.claimed_at = now;
        while let Some(claim) = self.waiting.pop_front() {
            match self.fits(claim.limits, claim.requests, now) {
                // The client disconnected.
                _ if claim.outcome.is_closed() => (),
                Ok(()) => {
                    self.add(claim.requests as i64, now);
                    self.claimed.push(claim);
                }
                Err(exceeded) if self.claimed.is_empty() => _ = claim.outcome.send(Err(exceeded)),
                Err(_) => {
                    self.waiting.push_front(claim);
                    return;
                }
            }
        }
    }

    /// Records the response to a call, then admits or rejects the claims in it.
    pub fn record_response(&mut self, call: &Call, usage: Usage, now: i64, clock: Instant) {
        let is_write = matches!(call, Call::Write(_));
        if is_write || self.sent.as_ref().is_some_and(|sent| usage.may_contain(sent)) {
            self.sent = None;
            self.unconfirmed -= std::mem::take(&mut self.unconfirmed_in_write);
        }
        self.is_uncertain = false;
        self.needs_update = false;
        self.counted = self.clamp_to_now(usage.counts, now);
        self.counted.add_all(&self.unsent);
        if let Some(sent) = &self.sent {
            // The next call repeats it.
            self.counted.add_all(&sent.counts);
        }
        if is_write {
            self.failures = 0;
        }
        self.outdated = usage.outdated;
        let recent = usage.activity.range(now - 2 * Usage::ACTIVITY + 1..);
        // A duration must not be negative, even if the item is damaged.
        let active = recent.map(|(_, active)| *active).max().unwrap_or_default().max(0);
        self.containers = active as f64 / MAX_ACTIVE.as_millis() as f64;
        self.next_write = Some(clock + if is_write { self.spacing() } else { self.spread() });
        self.drop_expired(now);
        if self.sent.is_none() {
            self.settle_claims(now);
        }
        self.remaining = self.statuses(1, now).min_remaining();
        self.confirmed_at = self.attempted_at;
        self.decide_waiting(now, clock);
    }

    /// Admits or rejects those waiting requests that need not wait for a write any more.
    fn decide_waiting(&mut self, now: i64, clock: Instant) {
        for claim in std::mem::take(&mut self.waiting) {
            if claim.outcome.is_closed() {
                continue;
            }
            match self.decide(claim.limits, claim.requests, now, clock) {
                Some(outcome) => _ = claim.outcome.send(outcome),
                None => self.waiting.push_back(claim),
            }
        }
    }

    /// Lets steps in the future count from when they were first seen, since another container's clock is fast, or this
    /// one's was set back.
    fn clamp_to_now(&mut self, counts: Counts, now: i64) -> Counts {
        let known = std::mem::take(&mut self.future_steps);
        let mut steps = BTreeMap::new();
        for (step, requests) in counts.steps {
            let first_seen = known.get(&step).copied().unwrap_or(step);
            let counts_from = first_seen.min(LimitType::Minute.bucket_at(now));
            if counts_from < step {
                self.future_steps.insert(step, counts_from);
            }
            *steps.entry(counts_from).or_default() += requests;
        }
        Counts { steps, ..counts }
    }

    fn settle_claims(&mut self, now: i64) {
        let claims = std::mem::take(&mut self.claimed);
        for claim in &claims {
            self.counted.add(-(claim.requests as i64), self.claimed_at);
        }
        for Claim { limits, requests, outcome } in claims {
            let result = self.fits(limits, requests, now);
            self.counted.add(requests as i64, self.claimed_at);
            let is_admitted = result.is_ok();
            let is_received = outcome.send(result.map(|()| self.statuses(1, now))).is_ok();
            if !is_admitted || !is_received {
                self.add(-(requests as i64), self.claimed_at);
                self.has_rejected_claims = true;
            }
        }
    }

    /// Records a failed call; returns the failures since the last success. In an outage, admits waiting requests
    /// without confirmation.
    pub fn record_failure(&mut self, now: i64, clock: Instant) -> u32 {
        self.failures += 1;
        self.is_uncertain = self.sent.is_some();
        if self.is_outage() {
            self.settle_claims(now);
            self.decide_waiting(now, clock);
        }
        self.failures
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
