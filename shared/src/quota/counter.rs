//! Counts a container's requests against one quota. This module is independent of tasks and DynamoDB.
//!
//! A container admits requests up to its allowance before the table confirms them. Beyond that, a request waits: the
//! next write claims it, and the table's response determines whether it fits.

mod pace;

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use rand::distr::{Alphanumeric, SampleString};
use store::{Counts, Usage, UsageWrite};
use tokio::sync::oneshot;

use self::pace::Pace;
use super::{
    statuses::{Limits, QuotaExceeded, QuotaStatuses},
    window::{QuotaStatus, drop_expired},
};

/// The length of a container's random name.
const CONTAINER_NAME_LENGTH: usize = 4;
/// The interval between writes. If half of the allowance is used sooner, the write is sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum wait for a write. A request that would wait longer is rejected.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The maximum number of times that the interval doubles while writes fail.
const MAX_DOUBLINGS: u32 = 4;
/// The number of failed writes after which requests no longer wait for the table. A single write may fail because the
/// process was frozen.
pub(super) const OUTAGE_FAILURES: u32 = 2;

/// The status of each quota after requests are admitted, or the quota that they exceed.
pub type Outcome = Result<QuotaStatuses, Box<QuotaExceeded>>;

/// Requests that are waiting for confirmation.
#[derive(Debug)]
struct Claim {
    limits: Limits,
    requests: u64,
    outcome: oneshot::Sender<Outcome>,
}

/// The next call to the table. Either kind returns the usage of all containers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    Read,
    Write(UsageWrite),
}

#[derive(Debug, Default)]
pub struct Counter {
    container: String,
    limits: Limits,
    /// The requests of all containers that this one knows of.
    counted: Counts,
    /// This container's requests that are not in any write yet.
    unsent: Counts,
    /// A write without a response so far. It is repeated unchanged, so that it counts once.
    sent: Option<UsageWrite>,
    /// `true` if the table may already contain `sent`.
    is_uncertain: bool,
    waiting: VecDeque<Claim>,
    /// The claims in `sent`: counted, but not admitted yet.
    claimed: Vec<Claim>,
    claimed_at: i64,
    /// The number of admitted requests that the table has not confirmed.
    unconfirmed: u64,
    /// The unconfirmed requests in `sent`.
    unconfirmed_in_write: u64,
    attempted_at: Option<Instant>,
    pace: Pace,
    last_number: i64,
    /// Failed calls since the last successful one.
    failures: u32,
    /// `true` if the table still contains claims that were rejected.
    has_rejected_claims: bool,
    /// `true` if a request was rejected, perhaps because of claims that other containers have since taken back.
    needs_update: bool,
    /// The earliest time of this container's next write.
    next_write: Option<Instant>,
    outdated: Vec<String>,
}

impl Counter {
    /// Creates a counter with a new random name, so that it is not mistaken for an earlier counter.
    pub fn new() -> Self {
        let container = Alphanumeric.sample_string(&mut rand::rng(), CONTAINER_NAME_LENGTH);
        Self { container, ..Self::default() }
    }

    /// Counts `requests` at `now`, a Unix time in seconds, or none if they exceed a quota. Beyond the allowance, the
    /// outcome arrives after a write.
    pub fn take(
        &mut self,
        limits: Limits,
        requests: u64,
        now: i64,
        clock: Instant,
    ) -> oneshot::Receiver<Outcome> {
        let (outcome, receiver) = oneshot::channel();
        self.decide_or_wait(Claim { limits, requests, outcome }, now, clock);
        receiver
    }

    fn decide_or_wait(&mut self, claim: Claim, now: i64, clock: Instant) {
        match self.decide(&claim, now, clock) {
            Some(outcome) => _ = claim.outcome.send(outcome),
            None => self.waiting.push_back(claim),
        }
    }

    /// Admits or rejects requests; `None` if they must wait for a write.
    fn decide(&mut self, claim: &Claim, now: i64, clock: Instant) -> Option<Outcome> {
        let &Claim { limits, requests, .. } = claim;
        self.drop_expired(now);
        // They may still fit if pending claims are rejected.
        if let Err(exceeded) = self.fits(limits, requests, now)
            && self.claimed.is_empty()
        {
            self.needs_update = true;
            return Some(Err(exceeded));
        }
        self.schedule_write(clock);
        if self.is_allowed(limits, requests, now, clock) {
            self.add(requests as i64, now);
            self.unconfirmed += requests;
            return Some(Ok(self.statuses(1, now)));
        }
        let wait = self.next_write?.saturating_duration_since(clock);
        if wait <= MAX_WAIT || !self.pace.is_recent(clock) {
            return None;
        }
        self.needs_update = true;
        let exhausted = self.statuses(requests, now).tightest()?;
        Some(Err(self.exceeded(exhausted, requests, now)))
    }

    /// Returns `true` if `requests` may be admitted without confirmation.
    fn is_allowed(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> bool {
        let waiting: u64 = self.waiting.iter().map(|claim| claim.requests).sum();
        self.fits(limits, requests + waiting, now).is_ok()
            && (self.is_outage() || self.unconfirmed + requests <= self.pace.allowance(clock))
    }

    /// Schedules the next write, unless something is already waiting to be written.
    fn schedule_write(&mut self, clock: Instant) {
        if !self.has_something_to_write() {
            self.next_write = self.next_write.max(Some(clock + self.pace.spread()));
        }
    }

    fn is_outage(&self) -> bool {
        self.failures >= OUTAGE_FAILURES
    }

    /// Checks that `requests` fit within each quota, according to what this container knows.
    pub fn fits(
        &mut self,
        limits: Limits,
        requests: u64,
        now: i64,
    ) -> Result<(), Box<QuotaExceeded>> {
        self.limits = limits;
        match self.statuses(requests, now).exceeded_by(requests) {
            Some(exhausted) => Err(self.exceeded(exhausted, requests, now)),
            None => Ok(()),
        }
    }

    fn exceeded(&self, exhausted: QuotaStatus, requests: u64, now: i64) -> Box<QuotaExceeded> {
        Box::new(QuotaExceeded { exhausted, requests, statuses: self.statuses(1, now) })
    }

    fn statuses(&self, requests: u64, now: i64) -> QuotaStatuses {
        self.limits.statuses(requests, &self.counted, now)
    }

    /// Counts this container's requests. A negative number cancels earlier ones.
    fn add(&mut self, requests: i64, at: i64) {
        self.counted.add(requests, at);
        self.unsent.add(requests, at);
    }

    fn drop_expired(&mut self, now: i64) {
        drop_expired(&mut self.counted, now);
        drop_expired(&mut self.unsent, now);
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
    /// because it returns the other containers' counts.
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
        if has_waiting && !self.pace.is_recent(clock) {
            return Some(clock);
        }
        let is_half_used =
            self.has_unwritten_counts() && self.unconfirmed * 2 >= self.pace.allowance(clock);
        let is_first = self.pace.wrote_at.is_none() && self.has_unwritten_counts();
        if has_waiting || self.has_rejected_claims || is_half_used || is_first {
            Some(next_write)
        } else {
            Some(next_write.max(attempted_at + FLUSH_INTERVAL))
        }
    }

    /// Starts the next call, after claiming the waiting requests; `None` if nothing needs to be written or read. A
    /// container that has just started or resumed reads first, to find out how many others there are. After a write
    /// without a response, it reads to check whether the write was counted.
    pub fn start_call(&mut self, now: i64, clock: Instant) -> Option<Call> {
        self.drop_expired(now);
        if !self.has_something_to_write() {
            return None;
        }
        let must_read = self.is_uncertain || !self.pace.is_recent(clock) && self.failures == 0;
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

    /// Moves the unsent requests to a new write.
    fn next_write(&mut self, now: i64, clock: Instant) -> UsageWrite {
        // Random last three digits, so that containers' write numbers differ.
        let number = now * 1000 + rand::random_range(0..1000);
        self.last_number = number.max(self.last_number + 1);
        UsageWrite {
            container: self.container.clone(),
            number: self.last_number,
            counts: std::mem::take(&mut self.unsent),
            activity: [(now - now.rem_euclid(Usage::ACTIVITY), self.pace.record_write(clock))]
                .into(),
            outdated: self.outdated.clone(),
        }
    }

    /// Claims the waiting requests that fit, in order. Rejects the others, unless they may fit if another claim is
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
        self.pace.count_containers(&usage, now);
        self.counted = usage.counts;
        self.counted.add_all(&self.unsent);
        if let Some(sent) = &self.sent {
            // The next call repeats the write.
            self.counted.add_all(&sent.counts);
        }
        if is_write {
            self.failures = 0;
        }
        self.outdated = usage.outdated;
        self.next_write =
            Some(clock + if is_write { self.pace.spacing() } else { self.pace.spread() });
        self.drop_expired(now);
        if self.sent.is_none() {
            self.settle_claims(now);
        }
        self.pace.remaining = self.statuses(1, now).min_remaining();
        self.pace.confirmed_at = self.attempted_at;
        self.decide_waiting(now, clock);
    }

    /// Admits or rejects the waiting requests that no longer need a write.
    fn decide_waiting(&mut self, now: i64, clock: Instant) {
        for claim in std::mem::take(&mut self.waiting) {
            if !claim.outcome.is_closed() {
                self.decide_or_wait(claim, now, clock);
            }
        }
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

    /// Records a failed call, and returns the number of failures since the last success. In an outage, admits waiting
    /// requests without confirmation.
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
mod tests;
