//! The requests of one quota, as seen by a container. This module is independent of tasks and DynamoDB.
//!
//! The requests that a container admits before the table confirms them never exceed its allowance. Beyond that
//! a request waits: the next write claims it, and the response decides whether it fits.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use rand::{RngExt, distr::Alphanumeric};
use store::{HourOfUsage, Tally};
use tokio::sync::oneshot;

use self::{other_requests::OtherRequests, own_requests::OwnRequests};
use super::{
    statuses::{Limits, QuotaExceeded, QuotaStatuses},
    window::{Buckets, LimitType},
};

mod other_requests;
mod own_requests;

/// The length of the name under which a container writes. A quota has a few hundred at most.
const CONTAINER_CHARACTERS: usize = 6;
/// The allowance is a tenth of what was left at the last confirmation.
const REMAINING_PER_ALLOWANCE: u64 = 10;
const MAX_ALLOWANCE: u64 = 100;
/// The allowance without a recent confirmation.
const MIN_ALLOWANCE: u64 = 1;
/// The interval between writes, unless half of the allowance is used up sooner.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Age up to which a confirmation is recent.
const RECENT: Duration = Duration::from_secs(2);
/// Maximum number of times the interval doubles while writes fail.
const MAX_DOUBLINGS: u32 = 4;
/// After this many failed writes, requests no longer wait for the table. A single one can also fail because the
/// process was frozen.
pub(super) const OUTAGE_FAILURES: u32 = 2;

/// The status of each quota after requests are admitted, or why they are refused.
pub type Outcome = Result<QuotaStatuses, QuotaExceeded>;

/// The outcome of requests, or a channel that will receive it.
#[derive(Debug)]
pub enum Taken {
    Now(Outcome),
    AfterWrite(oneshot::Receiver<Outcome>),
}

/// Requests that wait for the table to confirm that they fit.
#[derive(Debug)]
struct Claim {
    limits: Limits,
    requests: u64,
    outcome: oneshot::Sender<Outcome>,
}

/// A write: the tallies to write, then the hours to read.
#[derive(Debug)]
pub struct Flush {
    /// Its start, in seconds since 1970.
    at: i64,
    /// The tallies, by hour.
    pub tallies: Vec<(i64, Tally)>,
    pub hours: Vec<i64>,
}

/// Failed writes since the last success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    /// The time of the first failure.
    pub since: Instant,
    pub times: u32,
}

/// The table's last confirmation.
#[derive(Debug)]
struct Confirmation {
    /// The start of its write.
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
    /// The claims in the current write. They are counted, but not yet admitted.
    claimed: Vec<Claim>,
    claimed_at: i64,
    /// The requests admitted since the last confirmation, and not part of it.
    unconfirmed: u64,
    /// The unconfirmed requests in the current write.
    being_confirmed: u64,
    confirmed: Option<Confirmation>,
    attempted_at: Option<Instant>,
    failures: Option<Failures>,
    /// `true` if the table includes requests that were claimed and then refused.
    has_released: bool,
    /// `true` if a request was refused because of others' counts, possibly mere claims, at the last read.
    has_doubt: bool,
}

impl Counter {
    /// Creates a counter with a new random container name. If a quota's counter is dropped and recreated, it
    /// does not replace its earlier tally with a smaller one.
    pub fn new() -> Self {
        let characters = rand::rng().sample_iter(Alphanumeric).take(CONTAINER_CHARACTERS);
        Self { container: characters.map(char::from).collect(), ..Self::default() }
    }

    /// The name this counter is written under.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Checks that `requests` fit into each quota at `now`, in seconds since 1970.
    pub fn check(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.drop_expired(now);
        let fits = self.fits(limits, requests, now);
        if fits.is_err() && self.claimed.is_empty() {
            self.has_doubt |=
                self.statuses_with(None, requests, now).too_small_for(requests).is_none();
            return fits;
        }
        // Refused claims free up room again.
        Ok(())
    }

    /// Counts `requests` at `now`, in seconds since 1970: all, or none if they exceed a quota. Within the
    /// allowance this is immediate.
    pub fn take(&mut self, limits: Limits, requests: u64, now: i64, clock: Instant) -> Taken {
        if let Err(exceeded) = self.check(limits, requests, now) {
            return Taken::Now(Err(exceeded));
        }
        if self.is_allowed(limits, requests, now, clock) {
            return Taken::Now(self.take_unconfirmed(limits, requests, now));
        }
        let (outcome, told) = oneshot::channel();
        self.waiting.push_back(Claim { limits, requests, outcome });
        Taken::AfterWrite(told)
    }

    /// Counts `requests` without confirmation, as far as this container knows: all or none.
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

    /// The total number of requests that may be admitted without confirmation.
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

    fn fits(&mut self, limits: Limits, requests: u64, now: i64) -> Result<(), QuotaExceeded> {
        self.limits = limits;
        let statuses = self.statuses_with(Some(&self.others), requests, now);
        match statuses.too_small_for(requests) {
            Some(exhausted) => {
                Err(QuotaExceeded { exhausted, requests, statuses: self.statuses(now) })
            }
            None => Ok(()),
        }
    }

    fn statuses(&self, now: i64) -> QuotaStatuses {
        self.statuses_with(Some(&self.others), 1, now)
    }

    /// The status of each quota, given this container's requests and these of others, with a reset for
    /// `requests` more.
    fn statuses_with(
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

    /// Returns `true` if there are requests to write.
    pub fn has_unwritten(&self) -> bool {
        !self.own.is_stored()
    }

    /// Returns `true` if requests are waiting for a write.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The time of the next write; `None` if there is nothing to write or read.
    ///
    /// The first write is due immediately, since only its response reveals the counts of others.
    pub fn due_at(&self, clock: Instant) -> Option<Instant> {
        if self.has_waiting() {
            return Some(clock);
        }
        if !self.has_unwritten() && !self.has_doubt {
            return None;
        }
        let Some(attempted_at) = self.attempted_at else { return Some(clock) };
        let is_half_used = self.unconfirmed * 2 >= self.allowance(clock);
        match &self.failures {
            None if self.has_released || (self.has_unwritten() && is_half_used) => Some(clock),
            None => Some(attempted_at + FLUSH_INTERVAL),
            Some(failures) => {
                let doublings = (failures.times - 1).min(MAX_DOUBLINGS);
                Some(attempted_at + FLUSH_INTERVAL * 2_u32.pow(doublings))
            }
        }
    }

    /// Starts a write: claims the waiting requests, and returns the tallies to write and the hours to read.
    /// `None` if there is nothing to do.
    pub fn flush(&mut self, now: i64, clock: Instant) -> Option<Flush> {
        // The previous write may have been aborted.
        self.take_back_claims();
        self.drop_expired(now);
        self.claim_waiting(now);
        let tallies = self.own.begin_write();
        if tallies.is_empty() && self.claimed.is_empty() && !self.has_doubt {
            return None;
        }
        self.being_confirmed = self.unconfirmed;
        self.attempted_at = Some(clock);
        (self.has_released, self.has_doubt) = (false, false);
        let hours = self.others.hours_to_read(&tallies, self.limits, now);
        Some(Flush { at: now, tallies, hours })
    }

    /// Claims, in order, the waiting requests that fit as far as this container knows. The others are refused,
    /// unless the outcome of a claim may still change that.
    fn claim_waiting(&mut self, now: i64) {
        self.claimed_at = now;
        while let Some(claim) = self.waiting.pop_front() {
            match self.fits(claim.limits, claim.requests, now) {
                // Nobody is waiting for it anymore.
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

    /// Requeues the claims of a write for the next one.
    fn take_back_claims(&mut self) {
        while let Some(claim) = self.claimed.pop() {
            self.own.remove(claim.requests, self.claimed_at);
            self.waiting.push_front(claim);
        }
        self.being_confirmed = 0;
    }

    /// Records that a write completed, and that the table has the tallies in `usage`. The claims of this write
    /// are then admitted if they fit, and refused otherwise.
    pub fn record_confirmed(
        &mut self,
        flush: &Flush,
        usage: impl IntoIterator<Item = (i64, HourOfUsage)>,
        now: i64,
    ) {
        self.own.record_stored(&flush.tallies);
        for (hour, mut tallies) in usage {
            tallies.remove(&self.container);
            self.others.record(hour, tallies, now);
        }
        self.others.record_read(self.limits, flush.at);
        self.failures = None;
        self.unconfirmed -= self.being_confirmed;
        self.being_confirmed = 0;
        self.drop_expired(now);
        self.settle_claims(now);
        self.confirmed = self
            .attempted_at
            .map(|at| Confirmation { at, remaining: self.statuses(now).least_remaining() });
    }

    fn settle_claims(&mut self, now: i64) {
        let claims = std::mem::take(&mut self.claimed);
        for claim in &claims {
            self.own.remove(claim.requests, self.claimed_at);
        }
        for Claim { limits, requests, outcome } in claims {
            let told = match self.fits(limits, requests, now) {
                Ok(()) => {
                    self.own.add(limits, requests, self.claimed_at);
                    outcome.send(Ok(self.statuses(now)))
                }
                Err(exceeded) => {
                    self.has_released = true;
                    _ = outcome.send(Err(exceeded));
                    continue;
                }
            };
            if told.is_err() {
                self.own.remove(requests, self.claimed_at);
                self.has_released = true;
            }
        }
    }

    /// Records a failed write; returns all failures since the last success. In an outage, waiting requests are
    /// admitted as far as this container knows.
    pub fn record_failure(&mut self, now: i64, clock: Instant) -> Failures {
        self.take_back_claims();
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
