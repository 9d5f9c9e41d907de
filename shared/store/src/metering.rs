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

/// The time a request has waited. Concurrent reads count once.
#[derive(Debug, Default)]
struct Waited {
    before: Cell<Duration>,
    /// The start of the running reads, and their number.
    running: Cell<Option<(Instant, u32)>>,
}

tokio::task_local! {
    static CONSUMPTION: Cell<Consumption>;
    static WAITED: Waited;
}

/// Runs `request`. Returns its outcome and the total of its DynamoDB calls. All its waits are counted together.
pub async fn metered<T>(request: impl Future<Output = T>) -> (T, Consumption) {
    let counted = async {
        let outcome = scope(request).await;
        (outcome, CONSUMPTION.with(Cell::get))
    };
    CONSUMPTION.scope(Cell::default(), counted).await
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
    _ = CONSUMPTION.try_with(|consumption| {
        let mut total = consumption.get();
        change(&mut total);
        consumption.set(total);
    });
}

/// Runs `request` and adds up its waits. A nested request counts toward the outer one.
pub(crate) async fn scope<T>(request: impl Future<Output = T>) -> T {
    if WAITED.try_with(|_| ()).is_ok() {
        return request.await;
    }
    WAITED.scope(Waited::default(), request).await
}

/// The rest of `limit` for the current request. Outside a request, each read gets all of it.
pub(crate) fn left_of(limit: Duration) -> Duration {
    let waited = WAITED.try_with(|waited| waited.until(Instant::now())).unwrap_or_default();
    limit.saturating_sub(waited)
}

/// Waits for `awaited`, and counts the time toward the current request.
pub async fn counted<T>(awaited: impl Future<Output = T>) -> T {
    _ = WAITED.try_with(|waited| waited.begin(Instant::now()));
    let _running = Running;
    awaited.await
}

/// A wait of the current request.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        _ = WAITED.try_with(|waited| waited.end(Instant::now()));
    }
}

impl Waited {
    fn begin(&self, now: Instant) {
        let (since, count) = self.running.get().unwrap_or((now, 0));
        self.running.set(Some((since, count + 1)));
    }

    fn end(&self, now: Instant) {
        let Some((since, count)) = self.running.get() else { return };
        if count > 1 {
            self.running.set(Some((since, count - 1)));
        } else {
            self.running.set(None);
            self.before.set(self.before.get() + (now - since));
        }
    }

    fn until(&self, now: Instant) -> Duration {
        let running = self.running.get().map(|(since, _)| now - since);
        self.before.get() + running.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(300);

    #[test]
    fn waits_add_up_and_concurrent_ones_count_once() {
        let (waited, start) = (Waited::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        waited.begin(at(0));
        waited.begin(at(20));
        waited.end(at(50));
        assert_eq!(waited.until(at(70)), Duration::from_millis(70));
        waited.end(at(100));
        assert_eq!(waited.until(at(900)), Duration::from_millis(100));
        waited.begin(at(900));
        waited.end(at(950));
        assert_eq!(waited.until(at(950)), Duration::from_millis(150));
    }

    #[tokio::test]
    async fn a_nested_request_has_the_rest_of_the_outer_limit() {
        let wait = || counted(tokio::time::sleep(Duration::from_millis(20)));
        let left = scope(async {
            wait().await;
            scope(async { left_of(LIMIT) }).await
        });
        assert!(left.await <= LIMIT - Duration::from_millis(20));
        wait().await;
        assert_eq!(left_of(LIMIT), LIMIT, "nothing counts outside of a request");
    }
}
