//! A circuit breaker for one table.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::{FailureKind, metering::RequestNumber};

/// The pause before a failed table is called again.
pub const PAUSE: Duration = Duration::from_secs(3);
/// The age up to which a failure counts as recent.
const RECENT: Duration = Duration::from_secs(30);

/// Admits all reads from a working table. After each pause, one request probes a failed one.
#[derive(Debug, Default)]
pub struct Breaker(Mutex<Option<Failure>>);

/// The last failure, unless a read has succeeded since.
#[derive(Debug)]
struct Failure {
    kind: FailureKind,
    at: Instant,
    /// The request that has probed the table since, and when it started.
    probe: Option<(RequestNumber, Instant)>,
}

impl Breaker {
    /// Admits a read, or returns the failure because of which the table is not called. Admits all reads of the request that
    /// probes the table: if others were refused, the request would fail and cancel its first read.
    pub fn admit(&self, now: Instant, request: RequestNumber) -> Result<(), FailureKind> {
        let mut failure = self.0.lock();
        let Some(Failure { kind, at, probe }) = &mut *failure else { return Ok(()) };
        let last_call = match *probe {
            Some((probing, _)) if probing == request => return Ok(()),
            Some((_, started)) => started.max(*at),
            None => *at,
        };
        if now < last_call + PAUSE {
            return Err(*kind);
        }
        *probe = Some((request, now));
        Ok(())
    }

    pub fn has_failed_recently(&self, now: Instant) -> bool {
        self.0.lock().as_ref().is_some_and(|failure| now < failure.at + RECENT)
    }

    /// Ends the request's own probe. A read may fail so late that another request probes the table, which goes on.
    pub fn record_failure(&self, kind: FailureKind, now: Instant, request: RequestNumber) {
        let mut failure = self.0.lock();
        let probe = failure.take().and_then(|it| it.probe);
        let probe = probe.filter(|(probing, _)| *probing != request);
        *failure = Some(Failure { kind, at: now, probe });
    }

    pub fn record_success(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_table_is_probed_by_one_request_after_each_pause() {
        const FIRST: RequestNumber = RequestNumber(1);
        const SECOND: RequestNumber = RequestNumber(2);
        let (breaker, start, just) = (Breaker::default(), Instant::now(), Duration::from_millis(1));
        assert_eq!(breaker.admit(start, FIRST), Ok(()));
        breaker.record_failure(FailureKind::Throttled, start, FIRST);
        for time in [start, start + PAUSE - just] {
            assert_eq!(breaker.admit(time, FIRST), Err(FailureKind::Throttled));
        }

        // All reads of the first request, but none of another one until the next pause ends.
        let probe = start + PAUSE;
        assert_eq!([probe, probe].map(|time| breaker.admit(time, FIRST)), [Ok(()); 2]);
        assert_eq!(breaker.admit(probe + PAUSE - just, SECOND), Err(FailureKind::Throttled));
        assert_eq!(breaker.admit(probe + PAUSE, SECOND), Ok(()));
        assert_eq!(breaker.admit(probe + PAUSE, FIRST), Err(FailureKind::Throttled));

        // A late failure of the first request does not end the second one's probe.
        breaker.record_failure(FailureKind::Throttled, probe + PAUSE, FIRST);
        assert_eq!(breaker.admit(probe + PAUSE, SECOND), Ok(()));
        breaker.record_failure(FailureKind::Timeout, probe + PAUSE, SECOND);
        assert_eq!(breaker.admit(probe + PAUSE, SECOND), Err(FailureKind::Timeout));
        breaker.record_success();
        assert_eq!([FIRST, SECOND].map(|it| breaker.admit(probe + PAUSE, it)), [Ok(()); 2]);
    }

    #[test]
    fn failures_are_recent_for_half_a_minute() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.record_failure(FailureKind::Timeout, now, RequestNumber(1));
        assert!(breaker.has_failed_recently(now + RECENT - Duration::from_millis(1)));
        assert!(!breaker.has_failed_recently(now + RECENT));
    }
}
