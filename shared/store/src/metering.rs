//! Measures a request's reads: capacity, failures and wait time.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use aws_sdk_dynamodb::types::ConsumedCapacity;
use tokio::time::Instant;

/// The totals for a request's calls to DynamoDB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumption {
    /// The capacity units that DynamoDB reported for the reads.
    pub capacity_units: f64,
    /// Reads that failed or timed out.
    pub failed_calls: u32,
}

/// Identifies a request in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestNumber(pub u64);

#[derive(Debug)]
struct Meter {
    request: RequestNumber,
    consumption: Cell<Consumption>,
    waited: Cell<Duration>,
    /// The number of concurrent waits, and the start of the first. Overlapping waits count only once.
    pending: Cell<Option<(Instant, u32)>>,
}

tokio::task_local! {
    static METER: Meter;
}

/// Runs `request`, and returns its output with the totals for its DynamoDB calls.
pub async fn measure_reads<T>(request: impl Future<Output = T>) -> (T, Consumption) {
    let measured = async {
        let output = request.await;
        (output, METER.with(|meter| meter.consumption.get()))
    };
    METER.scope(Meter::new(), measured).await
}

/// The current request. Outside a request, each call returns a new number.
pub(crate) fn request_number() -> RequestNumber {
    METER.try_with(|meter| meter.request).unwrap_or_else(|_| RequestNumber::next())
}

/// Adds a read's capacity units to the current request, if any.
pub(crate) fn add_capacity(consumed: Option<&ConsumedCapacity>) {
    let units = consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    update(|total| total.capacity_units += units);
}

/// Adds a failed call to the current request, if any.
pub(crate) fn add_failed_call() {
    update(|total| total.failed_calls += 1);
}

fn update(change: impl FnOnce(&mut Consumption)) {
    _ = METER.try_with(|meter| {
        let mut total = meter.consumption.get();
        change(&mut total);
        meter.consumption.set(total);
    });
}

/// The rest of `limit` after the time that the current request has waited. Outside a request, returns `limit`.
pub(crate) fn remaining_wait(limit: Duration) -> Duration {
    let waited = METER.try_with(|meter| meter.waited_until(Instant::now())).unwrap_or_default();
    limit.saturating_sub(waited)
}

/// Awaits a future, and counts the time as waiting by the current request.
pub async fn count_wait<T>(future: impl Future<Output = T>) -> T {
    _ = METER.try_with(|meter| meter.start_wait(Instant::now()));
    let _guard = WaitGuard;
    future.await
}

/// Ends the wait even if its future is dropped.
struct WaitGuard;

impl Drop for WaitGuard {
    fn drop(&mut self) {
        _ = METER.try_with(|meter| meter.end_wait(Instant::now()));
    }
}

impl RequestNumber {
    fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Meter {
    fn new() -> Self {
        Self {
            request: RequestNumber::next(),
            consumption: Cell::default(),
            waited: Cell::default(),
            pending: Cell::default(),
        }
    }

    fn start_wait(&self, now: Instant) {
        let (since, count) = self.pending.get().unwrap_or((now, 0));
        self.pending.set(Some((since, count + 1)));
    }

    fn end_wait(&self, now: Instant) {
        let Some((since, count)) = self.pending.get() else { return };
        if count > 1 {
            self.pending.set(Some((since, count - 1)));
        } else {
            self.pending.set(None);
            self.waited.set(self.waited.get() + (now - since));
        }
    }

    fn waited_until(&self, now: Instant) -> Duration {
        let pending = self.pending.get().map(|(since, _)| now - since);
        self.waited.get() + pending.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_waits_add_up_and_concurrent_waits_count_once() {
        let (meter, start) = (Meter::new(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        meter.start_wait(at(0));
        meter.start_wait(at(20));
        meter.end_wait(at(50));
        assert_eq!(meter.waited_until(at(70)), Duration::from_millis(70));
        meter.end_wait(at(100));
        assert_eq!(meter.waited_until(at(900)), Duration::from_millis(100));
        meter.start_wait(at(900));
        meter.end_wait(at(950));
        assert_eq!(meter.waited_until(at(950)), Duration::from_millis(150));
    }
}
