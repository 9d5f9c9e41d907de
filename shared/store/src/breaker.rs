//! Spares requests the wait for a table that does not answer.
//!
//! No task runs in the background, since Lambda freezes a process right after its response. One
//! request at a time is the probe: it waits for the table, within its own limit, and the others go on
//! without.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a table that has failed is left alone.
pub(crate) const PAUSE: Duration = Duration::from_secs(3);
/// How long a failure tells something about the present, if nobody has read the table since.
const RECENT: Duration = Duration::from_secs(30);

/// Admits reads of a table that answers, and one read at a time of a table that does not.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// When the table failed for the last time, unless it has answered since.
    failed_at: Option<Instant>,
    has_probe: bool,
}

/// An admitted read.
#[must_use]
pub(crate) struct Admitted<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

impl Breaker {
    /// Admits a read at `now`; `None` if the table has just failed, or another read is the probe.
    pub(crate) fn admit(&self, now: Instant) -> Option<Admitted<'_>> {
        let mut state = self.0.lock();
        let Some(failed_at) = state.failed_at else {
            return Some(Admitted { breaker: self, is_probe: false });
        };
        if state.has_probe || now < failed_at + PAUSE {
            return None;
        }
        state.has_probe = true;
        Some(Admitted { breaker: self, is_probe: true })
    }

    /// Whether the table failed a short time ago, and has not answered since.
    pub(crate) fn has_failed_recently(&self, now: Instant) -> bool {
        self.0.lock().failed_at.is_some_and(|failed_at| now < failed_at + RECENT)
    }

    /// The table failed at `now`.
    pub(crate) fn open(&self, now: Instant) {
        self.0.lock().failed_at = Some(now);
    }

    /// The table answers.
    pub(crate) fn close(&self) {
        self.0.lock().failed_at = None;
    }
}

impl Drop for Admitted<'_> {
    /// Also of a read whose client has gone, which has no outcome.
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.0.lock().has_probe = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_answers_admits_every_read() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        let reads = [breaker.admit(now), breaker.admit(now)];
        assert!(reads.iter().all(Option::is_some) && !breaker.has_failed_recently(now));
    }

    #[test]
    fn a_failed_table_is_left_alone_and_then_tried_by_one_read_at_a_time() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.open(now);
        let almost = now + PAUSE - Duration::from_millis(1);
        assert!(breaker.admit(now).is_none() && breaker.admit(almost).is_none());

        let probe = breaker.admit(now + PAUSE).unwrap();
        assert!(breaker.admit(now + PAUSE).is_none(), "there is a probe already");
        breaker.open(now + PAUSE);
        drop(probe);
        assert!(breaker.admit(now + PAUSE).is_none(), "the probe has failed");

        let probe = breaker.admit(now + 2 * PAUSE).unwrap();
        breaker.close();
        drop(probe);
        let reads = [breaker.admit(now + 2 * PAUSE), breaker.admit(now + 2 * PAUSE)];
        assert!(reads.iter().all(Option::is_some));
    }

    #[test]
    fn an_abandoned_probe_makes_room_for_the_next() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.open(now);
        drop(breaker.admit(now + PAUSE));
        assert!(breaker.admit(now + PAUSE).is_some());
    }

    #[test]
    fn a_failure_that_nobody_has_seen_again_is_forgotten() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.open(now);
        assert!(breaker.has_failed_recently(now + RECENT - Duration::from_millis(1)));
        assert!(!breaker.has_failed_recently(now + RECENT));
    }
}
