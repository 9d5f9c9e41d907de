//! A circuit breaker for one table.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use crate::{FailureKind, metering::RequestNumber};

/// The pause before a failed table is called again.
pub const PAUSE: Duration = Duration::from_secs(3);
/// The age up to which a failure counts as recent.
const RECENT: Duration = Duration::from_secs(30);

/// Admits all reads from a working table. A failing one is probed by one request at a time.
#[derive(Debug, Default)]
pub struct Breaker {
    state: Mutex<State>,
    /// Wakes the reads that wait for the probe of their request.
    probe_ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The last failure and its time, unless a read has succeeded since.
    failed: Option<(FailureKind, Instant)>,
    /// The request that probes the table with a read.
    probe: Option<RequestNumber>,
}

#[must_use]
#[derive(Debug)]
pub struct AdmittedRead<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

#[derive(Debug)]
enum Admission<'a> {
    Admitted(AdmittedRead<'a>),
    /// Another read of the same request is the probe.
    AfterProbe,
    /// The table has just failed, or another request is probing it.
    Refused(FailureKind),
}

impl Breaker {
    /// Admits a read, or returns the failure because of which the table is not called. A request has one probe, and its
    /// other reads wait for it: if they were refused, the request would fail and cancel its own probe.
    pub async fn admit(&self, request: RequestNumber) -> Result<AdmittedRead<'_>, FailureKind> {
        loop {
            let probe_ended = self.probe_ended.notified();
            match self.admit_at(Instant::now(), request) {
                Admission::Admitted(read) => return Ok(read),
                Admission::AfterProbe => probe_ended.await,
                Admission::Refused(kind) => return Err(kind),
            }
        }
    }

    fn admit_at(&self, now: Instant, request: RequestNumber) -> Admission<'_> {
        let mut state = self.state.lock();
        let Some((kind, failed_at)) = state.failed else {
            return Admission::Admitted(AdmittedRead { breaker: self, is_probe: false });
        };
        match state.probe {
            Some(probing) if probing == request => Admission::AfterProbe,
            None if now >= failed_at + PAUSE => {
                state.probe = Some(request);
                Admission::Admitted(AdmittedRead { breaker: self, is_probe: true })
            }
            _ => Admission::Refused(kind),
        }
    }

    pub fn has_failed_recently(&self, now: Instant) -> bool {
        self.state.lock().failed.is_some_and(|(_, failed_at)| now < failed_at + RECENT)
    }

    pub fn record_failure(&self, kind: FailureKind, now: Instant) {
        self.state.lock().failed = Some((kind, now));
    }

    pub fn record_success(&self) {
        self.state.lock().failed = None;
    }
}

impl Drop for AdmittedRead<'_> {
    /// Also runs if the client disconnected before the read finished.
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.state.lock().probe = None;
            self.breaker.probe_ended.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: RequestNumber = RequestNumber(1);
    const SECOND: RequestNumber = RequestNumber(2);

    fn admitted(admission: Admission<'_>) -> Option<AdmittedRead<'_>> {
        if let Admission::Admitted(read) = admission { Some(read) } else { None }
    }

    #[test]
    fn a_failed_table_is_paused_then_probed_by_one_request_at_a_time() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.record_failure(FailureKind::Throttled, now);
        let before_probe = now + PAUSE - Duration::from_millis(1);
        for time in [now, before_probe] {
            let refused = breaker.admit_at(time, FIRST);
            assert!(matches!(refused, Admission::Refused(FailureKind::Throttled)), "{refused:?}");
        }

        let probe = admitted(breaker.admit_at(now + PAUSE, FIRST)).unwrap();
        assert!(matches!(breaker.admit_at(now + PAUSE, SECOND), Admission::Refused(_)));
        assert!(matches!(breaker.admit_at(now + PAUSE, FIRST), Admission::AfterProbe));
        breaker.record_failure(FailureKind::Timeout, now + PAUSE);
        drop(probe);
        let refused = breaker.admit_at(now + PAUSE, FIRST);
        assert!(matches!(refused, Admission::Refused(FailureKind::Timeout)), "{refused:?}");

        let probe = admitted(breaker.admit_at(now + 2 * PAUSE, FIRST)).unwrap();
        breaker.record_success();
        drop(probe);
        let reads = [FIRST, SECOND].map(|request| breaker.admit_at(now + 2 * PAUSE, request));
        assert!(reads.into_iter().all(|read| admitted(read).is_some_and(|read| !read.is_probe)));
    }

    #[test]
    fn a_canceled_probe_is_replaced_and_old_failures_expire() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.record_failure(FailureKind::Timeout, now);
        drop(breaker.admit_at(now + PAUSE, FIRST));
        assert!(admitted(breaker.admit_at(now + PAUSE, SECOND)).is_some());
        assert!(breaker.has_failed_recently(now + RECENT - Duration::from_millis(1)));
        assert!(!breaker.has_failed_recently(now + RECENT));
    }
}
