//! Counts how long one request has waited for DynamoDB, over all its reads.

use std::{cell::Cell, time::Duration};

use tokio::time::Instant;

/// How long one request has waited. Reads that wait at the same time count once.
#[derive(Debug, Default)]
struct Waited {
    before: Cell<Duration>,
    /// When the running reads began to wait, and how many there are.
    running: Cell<Option<(Instant, u32)>>,
}

tokio::task_local! {
    static WAITED: Waited;
}

/// Runs `request`, whose waits are counted together. A request that another one makes within the
/// process counts as a part of that one.
pub(crate) async fn scope<T>(request: impl Future<Output = T>) -> T {
    if WAITED.try_with(|_| ()).is_ok() {
        return request.await;
    }
    WAITED.scope(Waited::default(), request).await
}

/// What is left of `limit` for the running request. Outside of a request, each read has the whole.
pub(crate) fn left_of(limit: Duration) -> Duration {
    let waited = WAITED.try_with(|waited| waited.until(Instant::now())).unwrap_or_default();
    limit.saturating_sub(waited)
}

/// Waits for `awaited`, which counts for the running request.
pub async fn counted<T>(awaited: impl Future<Output = T>) -> T {
    _ = WAITED.try_with(|waited| waited.begin(Instant::now()));
    let _running = Running;
    awaited.await
}

/// One of the waits of the running request.
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
    fn waits_add_up_and_those_at_the_same_time_count_once() {
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
    async fn a_request_within_a_request_has_what_is_left_to_that_one() {
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
