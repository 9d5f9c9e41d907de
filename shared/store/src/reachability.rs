//! Tracks which tables answer, and limits how long a request waits for one.
//!
//! A failed table is left alone for a few seconds, so requests need not wait for it. There is no background
//! task, since Lambda freezes a process right after its response. One request at a time serves as the probe: it
//! waits for the table, within its own limit, while the others continue without it.

use std::{
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use parking_lot::Mutex;
use strum::{IntoStaticStr, VariantArray};
use tokio::time::{Instant, timeout};

use crate::{Store, StoreError, metering};

/// A table of the deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Carriers,
    Exchanges,
    Dataset,
    ApiKeys,
    Usage,
}

/// A kind of failed call, as this service sees it: DynamoDB's own metrics miss calls that never reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureKind {
    /// No response in time.
    Timeout,
    /// No connection: unknown name, refused port, or closed connection.
    Connection,
    /// Too many requests.
    Throttled,
    /// The call is not allowed, or the table does not exist.
    Refused,
    /// An error in DynamoDB.
    ServerError,
}

/// DynamoDB's error codes for too many requests.
const THROTTLING_CODES: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "Throttling",
];

impl FailureKind {
    /// The name as a metric label.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn from_sdk<E: ProvideErrorMetadata>(error: &SdkError<E>) -> Self {
        match error {
            SdkError::TimeoutError(_) => Self::Timeout,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Self::Timeout,
            SdkError::ServiceError(refused) => {
                let code = refused.err().code();
                if code.is_some_and(|code| THROTTLING_CODES.contains(&code)) {
                    Self::Throttled
                } else if refused.raw().status().is_server_error() {
                    Self::ServerError
                } else {
                    Self::Refused
                }
            }
            _ => Self::Connection,
        }
    }
}

/// Time for which a failed table is left alone.
const PAUSE: Duration = Duration::from_secs(3);
/// Time for which a failure counts as recent, if the table has not been read since.
const RECENT: Duration = Duration::from_secs(30);

/// Admits all reads of a working table, and one read at a time of a failed one.
#[derive(Debug, Default)]
struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The time of the last failure, unless the table has answered since.
    failed_at: Option<Instant>,
    has_probe: bool,
}

/// An admitted read.
#[must_use]
struct Admitted<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

impl Breaker {
    /// Admits a read at `now`; `None` if the table has just failed, or another read is the probe.
    fn admit(&self, now: Instant) -> Option<Admitted<'_>> {
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

    /// Returns `true` if the table failed a short time ago and has not answered since.
    fn has_failed_recently(&self, now: Instant) -> bool {
        self.0.lock().failed_at.is_some_and(|failed_at| now < failed_at + RECENT)
    }

    /// Records that the table failed at `now`.
    fn open(&self, now: Instant) {
        self.0.lock().failed_at = Some(now);
    }

    /// Records that the table answered.
    fn close(&self) {
        self.0.lock().failed_at = None;
    }
}

impl Drop for Admitted<'_> {
    /// Also runs for reads without an outcome, whose client is gone.
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.0.lock().has_probe = false;
        }
    }
}

/// The state of all tables, as seen by a process.
#[derive(Debug, Default)]
pub(crate) struct Reachability {
    tables: [TableBreakers; 5],
    /// The number of failed calls, by kind.
    failed_calls: [AtomicU64; FailureKind::VARIANTS.len()],
}

/// A table that is too slow for one kind of read may do for the other.
#[derive(Debug, Default)]
struct TableBreakers {
    brief: Breaker,
    patient: Breaker,
}

/// The patience of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Brief,
    Patient,
}

/// A boxed read, since the compiler gives up on the layout of deeply nested futures.
type BoxedRead<R> = Pin<Box<R>>;

impl Store {
    /// Reads something that the caller also has in memory. All brief reads of a request share the limit in
    /// [`crate::TimeoutProfile::brief_reads`]. A failed table is left alone for a few seconds, and then tried
    /// by one request at a time.
    ///
    /// # Errors
    /// Returns [`StoreError::LeftAlone`] if the table is not called, and another error if it does not answer in
    /// time.
    pub fn briefly<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guarded(table, Patience::Brief, Box::pin(read))
    }

    /// Reads something that the response requires. It may take as long as the client's timeouts allow. A table
    /// that fails even then is tried by one request at a time.
    ///
    /// # Errors
    /// Returns [`StoreError::LeftAlone`] if the table is not called, and another error if it does not answer.
    pub fn patiently<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guarded(table, Patience::Patient, Box::pin(read))
    }

    async fn guarded<T>(
        &self,
        table: Table,
        patience: Patience,
        read: BoxedRead<impl Future<Output = Result<T, StoreError>>>,
    ) -> Result<T, StoreError> {
        let Some(limit) = self.timeouts.brief_reads() else { return read.await };
        let TableBreakers { brief, patient } = &self.reachability.tables[table as usize];
        let (breaker, left) = match patience {
            Patience::Brief => (brief, metering::left_of(limit)),
            Patience::Patient => (patient, Duration::MAX),
        };
        let admitted = breaker.admit(Instant::now()).filter(|_| left > Duration::ZERO);
        let Some(_admitted) = admitted else {
            return Err(StoreError::LeftAlone { table: self.tables.name(table).to_owned() });
        };
        let started = Instant::now();
        let answer = match patience {
            Patience::Brief => metering::counted(timeout(left, read))
                .await
                .unwrap_or_else(|_| Err(StoreError::TooSlow { limit })),
            Patience::Patient => read.await,
        };
        // An unreadable response still is a response.
        match answer.as_ref().err().and_then(StoreError::failure) {
            Some(kind) => {
                let failed_calls = &self.reachability.failed_calls[kind as usize];
                failed_calls.fetch_add(1, Ordering::Relaxed);
                metering::count_failed_call();
                let now = Instant::now();
                brief.open(now);
                if patience == Patience::Patient {
                    patient.open(now);
                }
            }
            None => {
                patient.close();
                if patience == Patience::Brief || started.elapsed() <= limit {
                    brief.close();
                }
            }
        }
        answer
    }

    /// Returns `true` unless a table failed a short time ago and has not answered since.
    pub fn is_reachable(&self) -> bool {
        let now = Instant::now();
        self.reachability.tables.iter().all(|table| !table.brief.has_failed_recently(now))
    }

    /// The number of failed calls since the store was connected, by kind.
    pub fn failed_calls(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        let counts = self.reachability.failed_calls.iter();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        FailureKind::VARIANTS.iter().copied().zip(counts)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::TimeoutProfile;

    #[test]
    fn a_failed_table_is_left_alone_then_tried_by_one_read_at_a_time() {
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
    fn an_abandoned_probe_and_an_old_failure_are_forgotten() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.open(now);
        drop(breaker.admit(now + PAUSE));
        assert!(breaker.admit(now + PAUSE).is_some());
        assert!(breaker.has_failed_recently(now + RECENT - Duration::from_millis(1)));
        assert!(!breaker.has_failed_recently(now + RECENT));
    }

    fn store() -> Store {
        // A port that nothing listens on.
        Store::at_emulator("http://127.0.0.1:1", TimeoutProfile::Request)
    }

    async fn answering() -> Result<(), StoreError> {
        Ok(())
    }

    async fn hanging() -> Result<(), StoreError> {
        pending().await
    }

    fn is_left_alone(answer: &Result<(), StoreError>) -> bool {
        matches!(answer, Err(StoreError::LeftAlone { .. }))
    }

    /// Without the limit this test would never end.
    #[tokio::test]
    async fn all_brief_reads_of_a_request_share_one_limit_and_each_table_fails_by_itself() {
        let store = store();
        let (second, _) = metering::metered(async {
            let first = store.briefly(Table::ApiKeys, hanging()).await;
            assert!(matches!(first, Err(StoreError::TooSlow { .. })));
            store.briefly(Table::Dataset, hanging()).await
        })
        .await;
        assert!(is_left_alone(&second), "nothing was left of the limit");
        assert!(store.briefly(Table::Dataset, answering()).await.is_ok(), "it has not failed");
        assert!(is_left_alone(&store.briefly(Table::ApiKeys, hanging()).await));
        assert!(!store.is_reachable());
    }

    #[tokio::test]
    async fn a_slow_table_still_answers_requests_with_nothing_in_memory() {
        let store = store();
        assert!(store.briefly(Table::ApiKeys, hanging()).await.is_err());
        assert!(store.patiently(Table::ApiKeys, answering()).await.is_ok());
        let refused = async { Err(StoreError::Busy { operation: "GetItem", left: 1 }) };
        assert!(store.patiently::<()>(Table::ApiKeys, refused).await.is_err());
        assert!(is_left_alone(&store.patiently(Table::ApiKeys, hanging()).await));
    }

    #[tokio::test]
    async fn unreachable_calls_fail_and_unreadable_responses_do_not() {
        let store = store();
        let unreadable =
            async { Err::<(), _>(StoreError::item("exchanges")("no such field".to_owned())) };
        assert!(store.briefly(Table::Exchanges, unreadable).await.is_err());
        assert!(store.is_reachable());
        assert!(store.failed_calls().all(|(_, count)| count == 0));
        assert!(store.patiently(Table::Dataset, store.manifest()).await.is_err());
        for (kind, count) in store.failed_calls() {
            assert_eq!(count, u64::from(kind == FailureKind::Connection), "{kind:?}");
        }
    }

    /// For imports, late is better than never.
    #[tokio::test]
    async fn imports_wait_and_try_every_time() {
        let store = Store { timeouts: TimeoutProfile::Batch, ..store() };
        for _ in 0..2 {
            let refused = async { Err(StoreError::Busy { operation: "GetItem", left: 1 }) };
            let answer = store.briefly::<()>(Table::Dataset, refused).await;
            assert!(matches!(answer, Err(StoreError::Busy { .. })));
        }
        let waited = store.briefly(Table::Dataset, async {
            tokio::time::sleep(Duration::from_millis(400)).await;
            Ok(())
        });
        assert!(waited.await.is_ok());
    }
}
