//! Metering of a request's reads: their cost, failures, and waiting time.

use std::{cell::Cell, time::Duration};

use aws_sdk_dynamodb::types::ConsumedCapacity;
use tokio::time::Instant;

/// The total of a request's calls to DynamoDB.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Consumption {
    /// The capacity units that DynamoDB reported for the reads.
    pub capacity_units: f64,
    /// Reads that failed, or took longer than a request waits.
    pub failed_calls: u32,
}

/// What a request has consumed, and how long it has waited. Concurrent reads count once.
#[derive(Debug, Default)]
struct Meter {
    consumption: Cell<Consumption>,
    waited: Cell<Duration>,
    /// The start of the running reads, and their number.
    running: Cell<Option<(Instant, u32)>>,
}

tokio::task_local! {
    static METER: Meter;
}

/// Runs `request`. Returns its outcome and the total of its DynamoDB calls. All its waits are counted together.
pub async fn metered<T>(request: impl Future<Output = T>) -> (T, Consumption) {
    let metered = async {
        let outcome = request.await;
        (outcome, METER.with(|meter| meter.consumption.get()))
    };
    METER.scope(Meter::default(), metered).await
}

/// Adds a read's capacity units to the current request, if it is metered.
pub(crate) fn count(consumed: Option<&ConsumedCapacity>) {
    let units = consumed.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    add(|total| total.capacity_units += units);
}

/// Adds a failed call to the current request, if it is metered.
pub(crate) fn count_failed_call() {
    add(|total| total.failed_calls += 1);
}

fn add(change: impl FnOnce(&mut Consumption)) {
    _ = METER.try_with(|meter| {
        let mut total = meter.consumption.get();
        change(&mut total);
        meter.consumption.set(total);
    });
}

/// The rest of `limit` for the current request. Outside a request, each read gets all of it.
pub(crate) fn left_of(limit: Duration) -> Duration {
    let waited = METER.try_with(|meter| meter.waited_until(Instant::now())).unwrap_or_default();
    limit.saturating_sub(waited)
}

/// Waits for `awaited`, and counts the time toward the current request.
pub async fn counted<T>(awaited: impl Future<Output = T>) -> T {
    _ = METER.try_with(|meter| meter.begin_wait(Instant::now()));
    let _running = Running;
    awaited.await
}

/// A wait of the current request.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        _ = METER.try_with(|meter| meter.end_wait(Instant::now()));
    }
}

impl Meter {
    fn begin_wait(&self, now: Instant) {
        let (since, count) = self.running.get().unwrap_or((now, 0));
        self.running.set(Some((since, count + 1)));
    }

    fn end_wait(&self, now: Instant) {
        let Some((since, count)) = self.running.get() else { return };
        if count > 1 {
            self.running.set(Some((since, count - 1)));
        } else {
            self.running.set(None);
            self.waited.set(self.waited.get() + (now - since));
        }
    }

    fn waited_until(&self, now: Instant) -> Duration {
        let running = self.running.get().map(|(since, _)| now - since);
        self.waited.get() + running.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_and_concurrent_ones_count_once() {
        let (meter, start) = (Meter::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        meter.begin_wait(at(0));
        meter.begin_wait(at(20));
        meter.end_wait(at(50));
        assert_eq!(meter.waited_until(at(70)), Duration::from_millis(70));
        meter.end_wait(at(100));
        assert_eq!(meter.waited_until(at(900)), Duration::from_millis(100));
        meter.begin_wait(at(900));
        meter.end_wait(at(950));
        assert_eq!(meter.waited_until(at(950)), Duration::from_millis(150));
    }
}
