//! Counts the requests against one quota in a container. This module is independent of tasks and DynamoDB.
//!
//! A container admits requests up to its allowance before the table confirms them. Beyond that, a request waits: the
//! next write claims it, and the response determines whether it fits.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use rand::{RngExt, distr::Alphanumeric};
use store::{HourlyTallies, Tally};
use tokio::sync::oneshot;

use self::{other_requests::OtherRequests, own_requests::OwnRequests};
use super::{
    statuses::{Limits, QuotaExceeded, QuotaStatuses},
    window::{Buckets, LimitType},
};

mod other_requests;
mod own_requests;

/// The length of a container's random name. At most a few hundred containers share a quota.
const CONTAINER_CHARACTERS: usize = 6;
/// The allowance is a tenth of the requests remaining at the last confirmation.
const REMAINING_PER_ALLOWANCE: u64 = 10;
const MAX_ALLOWANCE: u64 = 100;
/// The allowance without a recent confirmation.
const MIN_ALLOWANCE: u64 = 1;
/// The interval between writes, unless half of the allowance is used sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// The age up to which a confirmation counts as recent.
const RECENT: Duration = Duration::from_secs(2);
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

/// The tallies to write, and the hours to read after that.
#[derive(Debug)]
pub struct Flush {
    /// The start, a Unix time in seconds.
    at: i64,
    pub tallies: Vec<(i64, Tally)>,
    pub hours: Vec<i64>,
}

/// Failed writes since the last success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    pub since: Instant,
    pub times: u32,
}

#[derive(Debug)]
struct Confirmation {
    /// The start of the write.
    at: Instant,
    remaining: u64,
}

#[derive(Debug, Default)]
pub struct Counter {
    container: String,
    limits: Limits,
    own: OwnRequests,
    others: OtherRequests,
    waiting: VecDeque<Claim>,
    /// The claims in the current write, which are counted but not yet admitted.
    claimed: Vec<Claim>,
    claimed_at: i64,
    /// The number of admitted requests that the table has not confirmed.
    unconfirmed: u64,
    /// The unconfirmed requests in the current write.
    unconfirmed_in_write: u64,
    confirmed: Option<Confirmation>,
    attempted_at: Option<Instant>,
    failures: Option<Failures>,
    /// `true` if the table still contains claims that were rejected.
    has_rejected_claims: bool,
    /// `true` if a request was rejected because of other containers' counts, which may include rejected claims.
    needs_reread: bool,
}

impl Counter {
    /// Creates a counter with a new random name, so that a recreated counter does not overwrite an earlier tally.
    pub fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(CONTAINER_CHARACTERS);
        Self { container: characters.map(char::from).collect(), ..Self::default() }
    }

    /// This container's name in the table.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Rejects `requests` that cannot fit into each quota, whatever becomes of those that wait. Counts nothing.
    fn check(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.drop_expired(now);
        let fits = self.fits(limits, requests, now);
        if fits.is_err() && self.claimed.is_empty() {
            self.needs_reread |=
                self.compute_statuses(None, requests, now).exceeded_by(requests).is_none();
            return fits;
        }
        // The requests may still fit if claims are rejected.
        Ok(())
    }

    /// Counts `requests` at `now`, a Unix time in seconds, or none if they exceed a quota. Beyond the allowance, they
    /// wait for a write.
    pub fn take(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> TakeResult {
        if let Err(exceeded) = self.check(limits, requests, now) {
            return TakeResult::Now(Err(exceeded));
        }
        if self.is_allowed(limits, requests, now, clock) {
            return TakeResult::Now(self.take_unconfirmed(limits, requests, now));
        }
        let (outcome, receiver) = oneshot::channel();
        self.waiting.push_back(Claim { limits, requests, outcome });
        TakeResult::AfterWrite(receiver)
    }

    /// Counts `requests` without confirmation, or none if they exceed a quota as far as this container knows.
    pub fn take_unconfirmed(&mut self, limits: Limits, requests: u64, now: i64) -> Outcome {
        self.fits(limits, requests, now)?;
        self.own.add(limits, requests, now);
        self.unconfirmed += requests;
        Ok(self.statuses(now))
    }

    /// Returns `true` if `requests` may be admitted without confirmation.
    fn is_allowed(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> bool {
        let waiting: u64 = self.waiting.iter().map(|claim| claim.requests).sum();
        self.fits(limits, requests + waiting, now).is_ok()
            && (self.is_outage() || self.unconfirmed + requests <= self.allowance(clock))
    }

    /// The maximum number of unconfirmed requests.
    fn allowance(&self, clock: Instant) -> u64 {
        match &self.confirmed {
            Some(confirmed) if clock.saturating_duration_since(confirmed.at) < RECENT => {
                (confirmed.remaining / REMAINING_PER_ALLOWANCE).clamp(MIN_ALLOWANCE, MAX_ALLOWANCE)
            }
            _ => MIN_ALLOWANCE,
        }
    }

    fn is_outage(&self) -> bool {
        self.failures.is_some_and(|failures| failures.times >= OUTAGE_FAILURES)
    }

    /// Checks that `requests` fit into each quota as far as this container knows.
    pub fn fits(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.limits = limits;
        let statuses = self.compute_statuses(Some(&self.others), requests, now);
        match statuses.exceeded_by(requests) {
            Some(exhausted) => {
                Err(QuotaExceeded { exhausted, requests, statuses: self.statuses(now) })
            }
            None => Ok(()),
        }
    }

    fn statuses(&self, now: i64) -> QuotaStatuses {
        self.compute_statuses(Some(&self.others), 1, now)
    }

    /// The status of each quota, with the time at which `requests` more would fit.
    fn compute_statuses(
        &self,
        others: Option<&OtherRequests>,
        requests: u64,
        now: i64,
    ) -> QuotaStatuses {
        let status = |limit_type: LimitType, limit, mut buckets: Buckets| {
            if let Some(others) = others {
                others.add_to(&mut buckets, limit_type);
            }
            limit_type.status(requests, limit, &buckets, now)
        };
        let Limits { per_minute, per_day } = self.limits;
        QuotaStatuses {
            minute: per_minute.map(|limit| status(LimitType::Minute, limit, self.own.minutes())),
            daily: per_day.map(|limit| status(LimitType::Daily, limit, self.own.hours())),
        }
    }

    fn drop_expired(&mut self, now: i64) {
        self.own.drop_expired(now);
        self.others.drop_expired(now);
    }

    pub fn has_unwritten_counts(&self) -> bool {
        !self.own.is_stored()
    }

    pub fn has_waiting_claims(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The time of the next write; `None` if nothing needs to be written or read. The first write is due immediately,
    /// since its response contains the other containers' counts.
    pub fn due_at(&self, clock: Instant) -> Option<Instant> {
        if self.has_waiting_claims() {
            return Some(clock);
        }
        if !self.has_unwritten_counts() && !self.needs_reread {
            return None;
        }
        let Some(attempted_at) = self.attempted_at else { return Some(clock) };
        let is_half_used = self.unconfirmed * 2 >= self.allowance(clock);
        match &self.failures {
            None if self.has_rejected_claims || (self.has_unwritten_counts() && is_half_used) => {
                Some(clock)
            }
            None => Some(attempted_at + FLUSH_INTERVAL),
            Some(failures) => {
                let doublings = (failures.times - 1).min(MAX_DOUBLINGS);
                Some(attempted_at + FLUSH_INTERVAL * 2_u32.pow(doublings))
            }
        }
    }

    /// Claims the waiting requests, and starts a write; `None` if nothing needs to be written or read.
    pub fn flush(&mut self, now: i64, clock: Instant) -> Option<Flush> {
        // The previous write may have been canceled.
        self.requeue_claims();
        self.drop_expired(now);
        self.claim_waiting(now);
        let tallies = self.own.begin_write();
        if tallies.is_empty() && self.claimed.is_empty() && !self.needs_reread {
            return None;
        }
        self.unconfirmed_in_write = self.unconfirmed;
        self.attempted_at = Some(clock);
        (self.has_rejected_claims, self.needs_reread) = (false, false);
        let hours = self.others.hours_to_read(&tallies, self.limits, now);
        Some(Flush { at: now, tallies, hours })
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
                    self.own.add(claim.limits, claim.requests, now);
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

    /// Returns the claims from an unfinished write to the queue.
    fn requeue_claims(&mut self) {
        while let Some(claim) = self.claimed.pop() {
            self.own.remove(claim.requests, self.claimed_at);
            self.waiting.push_front(claim);
        }
        self.unconfirmed_in_write = 0;
    }

    /// Records a completed write and the tallies that it read, then admits or rejects its claims.
    pub fn record_confirmed(
        &mut self,
        flush: &Flush,
        usage: impl IntoIterator<Item = (i64, HourlyTallies)>,
        now: i64,
    ) {
        self.own.record_stored(&flush.tallies);
        for (hour, mut tallies) in usage {
            tallies.remove(&self.container);
            self.others.record(hour, tallies, now);
        }
        self.others.record_read(self.limits, flush.at);
        self.failures = None;
        self.unconfirmed -= self.unconfirmed_in_write;
        self.unconfirmed_in_write = 0;
        self.drop_expired(now);
        self.settle_claims(now);
        self.confirmed = self
            .attempted_at
            .map(|at| Confirmation { at, remaining: self.statuses(now).min_remaining() });
    }

    fn settle_claims(&mut self, now: i64) {
        let claims = std::mem::take(&mut self.claimed);
        for claim in &claims {
            self.own.remove(claim.requests, self.claimed_at);
        }
        for Claim { limits, requests, outcome } in claims {
            let result = self.fits(limits, requests, now).map(|()| {
                self.own.add(limits, requests, self.claimed_at);
                self.statuses(now)
            });
            let is_admitted = result.is_ok();
            let is_received = outcome.send(result).is_ok();
            if is_admitted && !is_received {
                self.own.remove(requests, self.claimed_at);
            }
            self.has_rejected_claims |= !is_admitted || !is_received;
        }
    }

    /// Records a failed write; returns the failures since the last success. In an outage, admits waiting requests
    /// without confirmation.
    pub fn record_failure(&mut self, now: i64, clock: Instant) -> Failures {
        self.requeue_claims();
        let failures = self.failures.get_or_insert(Failures { since: clock, times: 0 });
        failures.times += 1;
        let failures = *failures;
        if self.is_outage() {
            self.drop_expired(now);
            for Claim { limits, requests, outcome } in std::mem::take(&mut self.waiting) {
                if !outcome.is_closed() {
                    _ = outcome.send(self.take_unconfirmed(limits, requests, now));
                }
            }
        }
        failures
    }
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
