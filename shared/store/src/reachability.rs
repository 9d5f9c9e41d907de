//! Circuit breakers for tables, and limits on how long a request waits for one.
//!
//! After a failure, a table is not called for a few seconds, so requests do not wait for it. Then one request at
//! a time tries it, as the probe, while the others continue without it. A background task cannot be the probe,
//! since Lambda freezes the process after each response.

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Carriers,
    Exchanges,
    Dataset,
    History,
    ApiKeys,
    Usage,
}

/// A kind of failed call. Unlike DynamoDB's own metrics, these include calls that never reach it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum FailureKind {
    /// No response in time.
    Timeout,
    /// The name was not found, or the connection was refused or closed.
    Connection,
    Throttled,
    /// DynamoDB rejected the call, for example because the table does not exist.
    Refused,
    /// An internal error in DynamoDB.
    ServerError,
}

const THROTTLING_CODES: [&str; 4] = [
    "ProvisionedThroughputExceededException",
    "ThrottlingException",
    "RequestLimitExceeded",
    "Throttling",
];

impl FailureKind {
    /// The metric label.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(crate) fn from_sdk<E: ProvideErrorMetadata>(error: &SdkError<E>) -> Self {
        match error {
            SdkError::TimeoutError(_) => Self::Timeout,
            SdkError::DispatchFailure(failure) if failure.is_timeout() => Self::Timeout,
            SdkError::ServiceError(service_error) => {
                let code = service_error.err().code();
                if code.is_some_and(|code| THROTTLING_CODES.contains(&code)) {
                    Self::Throttled
                } else if service_error.raw().status().is_server_error() {
                    Self::ServerError
                } else {
                    Self::Refused
                }
            }
            _ => Self::Connection,
        }
    }
}

/// The pause before a failed table is called again.
const PAUSE: Duration = Duration::from_secs(3);
/// The age up to which a failure counts as recent.
const RECENT: Duration = Duration::from_secs(30);

/// Admits all reads from a working table, and one read at a time from a failing one.
#[derive(Debug, Default)]
struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The time of the last failure, unless a read has succeeded since.
    failed_at: Option<Instant>,
    has_probe: bool,
}

#[must_use]
struct AdmittedRead<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

impl Breaker {
    /// Admits a read at `now`; `None` if the table has just failed, or another read is already probing it.
    fn admit(&self, now: Instant) -> Option<AdmittedRead<'_>> {
        let mut state = self.0.lock();
        let Some(failed_at) = state.failed_at else {
            return Some(AdmittedRead { breaker: self, is_probe: false });
        };
        if state.has_probe || now < failed_at + PAUSE {
            return None;
        }
        state.has_probe = true;
        Some(AdmittedRead { breaker: self, is_probe: true })
    }

    fn has_failed_recently(&self, now: Instant) -> bool {
        self.0.lock().failed_at.is_some_and(|failed_at| now < failed_at + RECENT)
    }

    fn record_failure(&self, now: Instant) {
        self.0.lock().failed_at = Some(now);
    }

    fn record_success(&self) {
        self.0.lock().failed_at = None;
    }
}

impl Drop for AdmittedRead<'_> {
    /// Also runs if the client disconnected before the read finished.
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.0.lock().has_probe = false;
        }
    }
}

/// The state of all tables in this process.
#[derive(Debug, Default)]
pub(crate) struct Reachability {
    tables: [TableBreakers; 6],
    failed_calls: [AtomicU64; FailureKind::VARIANTS.len()],
}

/// Separate breakers, since a table that is too slow for brief reads may be fast enough for patient ones.
#[derive(Debug, Default)]
struct TableBreakers {
    brief: Breaker,
    patient: Breaker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Brief,
    Patient,
}

impl Store {
    /// Reads something that the caller also has in memory. All brief reads in a request share the limit in
    /// [`crate::TimeoutProfile::brief_reads`].
    ///
    /// # Errors
    /// Returns [`StoreError::BreakerOpen`] if the table failed recently, and another error if this read fails.
    pub fn read_briefly<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guard_read(table, Patience::Brief, Box::pin(read))
    }

    /// Like [`Self::read_briefly`], but for something that the response requires, and with the full timeout.
    pub fn read_patiently<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guard_read(table, Patience::Patient, Box::pin(read))
    }

    /// Takes a boxed read, since the compiler cannot compute the layout of such deeply nested futures.
    async fn guard_read<T>(
        &self,
        table: Table,
        patience: Patience,
        read: Pin<Box<impl Future<Output = Result<T, StoreError>>>>,
    ) -> Result<T, StoreError> {
        let Some(limit) = self.timeouts.brief_reads() else { return read.await };
        let TableBreakers { brief, patient } = &self.reachability.tables[table as usize];
        let (breaker, left) = match patience {
            Patience::Brief => (brief, metering::remaining_wait(limit)),
            Patience::Patient => (patient, Duration::MAX),
        };
        let admitted = breaker.admit(Instant::now()).filter(|_| left > Duration::ZERO);
        let Some(_admitted) = admitted else {
            return Err(StoreError::BreakerOpen { table: self.tables.name(table).to_owned() });
        };
        let started = Instant::now();
        let result = match patience {
            Patience::Brief => metering::count_wait(timeout(left, read))
                .await
                .unwrap_or_else(|_| Err(StoreError::TooSlow { limit })),
            Patience::Patient => read.await,
        };
        // An unreadable item is not a table failure.
        match result.as_ref().err().and_then(StoreError::failure) {
            Some(kind) => {
                let failed_calls = &self.reachability.failed_calls[kind as usize];
                failed_calls.fetch_add(1, Ordering::Relaxed);
                metering::add_failed_call();
                let now = Instant::now();
                brief.record_failure(now);
                if patience == Patience::Patient {
                    patient.record_failure(now);
                }
            }
            None => {
                patient.record_success();
                if patience == Patience::Brief || started.elapsed() <= limit {
                    brief.record_success();
                }
            }
        }
        result
    }

    /// Returns `true` unless a table failed recently and no read from it has succeeded since.
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
    fn a_failed_table_is_paused_then_probed_by_one_read_at_a_time() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.record_failure(now);
        let before_probe = now + PAUSE - Duration::from_millis(1);
        assert!(breaker.admit(now).is_none() && breaker.admit(before_probe).is_none());

        let probe = breaker.admit(now + PAUSE).unwrap();
        assert!(breaker.admit(now + PAUSE).is_none(), "another read is the probe");
        breaker.record_failure(now + PAUSE);
        drop(probe);
        assert!(breaker.admit(now + PAUSE).is_none(), "the probe has failed");

        let probe = breaker.admit(now + 2 * PAUSE).unwrap();
        breaker.record_success();
        drop(probe);
        let reads = [breaker.admit(now + 2 * PAUSE), breaker.admit(now + 2 * PAUSE)];
        assert!(reads.iter().all(Option::is_some));
    }

    #[test]
    fn a_canceled_probe_is_replaced_and_old_failures_expire() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        breaker.record_failure(now);
        drop(breaker.admit(now + PAUSE));
        assert!(breaker.admit(now + PAUSE).is_some());
        assert!(breaker.has_failed_recently(now + RECENT - Duration::from_millis(1)));
        assert!(!breaker.has_failed_recently(now + RECENT));
    }

    /// A store whose calls fail, since nothing listens on the port.
    fn store() -> Store {
        Store::connect_to_emulator("http://127.0.0.1:1", TimeoutProfile::Request)
    }

    async fn succeed() -> Result<(), StoreError> {
        Ok(())
    }

    async fn hang() -> Result<(), StoreError> {
        pending().await
    }

    fn is_breaker_open(result: &Result<(), StoreError>) -> bool {
        matches!(result, Err(StoreError::BreakerOpen { .. }))
    }

    /// Without the limit, this test would hang.
    #[tokio::test]
    async fn brief_reads_in_a_request_share_one_limit_and_each_table_has_its_own_breaker() {
        let store = store();
        let (second, _) = metering::measure_reads(async {
            let first = store.read_briefly(Table::ApiKeys, hang()).await;
            assert!(matches!(first, Err(StoreError::TooSlow { .. })));
            store.read_briefly(Table::Dataset, hang()).await
        })
        .await;
        assert!(is_breaker_open(&second), "the limit is used up");
        assert!(
            store.read_briefly(Table::Dataset, succeed()).await.is_ok(),
            "its breaker is closed"
        );
        assert!(is_breaker_open(&store.read_briefly(Table::ApiKeys, hang()).await));
        assert!(!store.is_reachable());
    }

    #[tokio::test]
    async fn patient_reads_still_call_a_table_that_failed_brief_reads() {
        let store = store();
        assert!(store.read_briefly(Table::ApiKeys, hang()).await.is_err());
        assert!(is_breaker_open(&store.read_briefly(Table::ApiKeys, succeed()).await));
        assert!(store.read_patiently(Table::ApiKeys, succeed()).await.is_ok());
        assert!(store.read_briefly(Table::ApiKeys, succeed()).await.is_ok(), "it was fast");
        let busy = async { Err(StoreError::Busy { operation: "GetItem", left: 1 }) };
        assert!(store.read_patiently::<()>(Table::ApiKeys, busy).await.is_err());
        assert!(is_breaker_open(&store.read_patiently(Table::ApiKeys, hang()).await));
    }

    #[tokio::test]
    async fn connection_errors_count_as_failures_and_unreadable_items_do_not() {
        let store = store();
        let unreadable =
            async { Err::<(), _>(StoreError::item("exchanges")("no such field".to_owned())) };
        assert!(store.read_briefly(Table::Exchanges, unreadable).await.is_err());
        assert!(store.is_reachable());
        assert!(store.failed_calls().all(|(_, count)| count == 0));
        assert!(store.read_patiently(Table::Dataset, store.manifest()).await.is_err());
        for (kind, count) in store.failed_calls() {
            assert_eq!(count, u64::from(kind == FailureKind::Connection), "{kind:?}");
        }
    }

    #[tokio::test]
    async fn imports_have_neither_a_limit_nor_a_breaker() {
        let store = Store { timeouts: TimeoutProfile::Batch, ..store() };
        for _ in 0..2 {
            let busy = async { Err(StoreError::Busy { operation: "GetItem", left: 1 }) };
            let result = store.read_briefly::<()>(Table::Dataset, busy).await;
            assert!(matches!(result, Err(StoreError::Busy { .. })));
        }
        let slow = store.read_briefly(Table::Dataset, async {
            tokio::time::sleep(Duration::from_millis(400)).await;
            Ok(())
        });
        assert!(slow.await.is_ok());
    }
}
