//! Circuit breakers for tables, and limits on how long a request waits for one.
//!
//! After a failure, a table is not called for a few seconds, so requests do not wait for it. Then one request at
//! a time probes it with a read, while the others continue without it. A background task cannot be the probe,
//! since Lambda freezes the process after each response.

use std::{
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use parking_lot::Mutex;
use strum::{Display, IntoStaticStr, VariantArray};
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use crate::{
    Store, StoreError,
    metering::{self, RequestNumber},
};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, IntoStaticStr, VariantArray)]
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

/// Admits all reads from a working table. A failing one is probed by one request at a time.
#[derive(Debug, Default)]
struct Breaker {
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
struct AdmittedRead<'a> {
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
    async fn admit(&self, request: RequestNumber) -> Result<AdmittedRead<'_>, FailureKind> {
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

    fn has_failed_recently(&self, now: Instant) -> bool {
        self.state.lock().failed.is_some_and(|(_, failed_at)| now < failed_at + RECENT)
    }

    fn record_failure(&self, kind: FailureKind, now: Instant) {
        self.state.lock().failed = Some((kind, now));
    }

    fn record_success(&self) {
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
    /// Returns [`StoreError::NotCalled`] if the table failed recently, and another error if this read fails.
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
        let request = metering::request_number();
        let admitted = match patience {
            Patience::Brief => {
                let admission = timeout(metering::remaining_wait(limit), brief.admit(request));
                metering::count_wait(admission).await.unwrap_or(Err(FailureKind::Timeout))
            }
            Patience::Patient => patient.admit(request).await,
        };
        let left = metering::remaining_wait(limit);
        let admitted = match (admitted, patience) {
            (Ok(_), Patience::Brief) if left.is_zero() => Err(FailureKind::Timeout),
            (admitted, _) => admitted,
        };
        let _admitted = admitted.map_err(|kind| {
            self.count_failure(kind);
            StoreError::NotCalled { table: self.tables.name(table).to_owned(), kind }
        })?;
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
                self.count_failure(kind);
                let now = Instant::now();
                brief.record_failure(kind, now);
                if patience == Patience::Patient {
                    patient.record_failure(kind, now);
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

    /// Counts a failed call, or one that was not made because of an earlier failure of this kind.
    fn count_failure(&self, kind: FailureKind) {
        self.reachability.failed_calls[kind as usize].fetch_add(1, Ordering::Relaxed);
        metering::add_failed_call();
    }

    /// Returns `true` unless a table failed recently and no read from it has succeeded since.
    pub fn is_reachable(&self) -> bool {
        let now = Instant::now();
        self.reachability.tables.iter().all(|table| !table.brief.has_failed_recently(now))
    }

    /// The number of failed calls since the store was connected, by kind. Includes calls that were not made because of
    /// an earlier failure.
    pub fn failed_calls(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        let counts = self.reachability.failed_calls.iter();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        FailureKind::VARIANTS.iter().copied().zip(counts)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use aws_sdk_dynamodb::{
        config::http::HttpResponse, error::ErrorMetadata, operation::get_item::GetItemError,
    };
    use futures_util::{
        FutureExt,
        future::{join_all, try_join_all},
    };

    use tokio::task::yield_now;

    use super::*;
    use crate::TimeoutProfile;

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

    /// A store whose history failed so long ago that a request may probe it.
    fn store_to_probe() -> Store {
        let store = store();
        let failed_at = Instant::now() - PAUSE;
        let table = &store.reachability.tables[Table::History as usize];
        for breaker in [&table.brief, &table.patient] {
            breaker.record_failure(FailureKind::Throttled, failed_at);
        }
        store
    }

    /// One failed read once turned the history off for good: a request's second read was refused, which canceled its first.
    #[tokio::test]
    async fn a_request_with_several_reads_recovers_a_table() {
        let store = store_to_probe();
        let read = || store.read_patiently(Table::History, yield_now().map(Ok));
        let (reads, _) = metering::measure_reads(try_join_all([read(), read(), read()])).await;
        assert!(reads.is_ok(), "{reads:?}");
        assert!(read().await.is_ok());
    }

    #[tokio::test]
    async fn the_other_reads_of_a_request_fail_with_its_probe() {
        let store = store_to_probe();
        let calls = AtomicU64::new(0);
        let read = || {
            let call = async {
                calls.fetch_add(1, Ordering::Relaxed);
                yield_now().await;
                Err::<(), _>(StoreError::TooSlow { limit: PAUSE })
            };
            store.read_patiently(Table::History, call)
        };
        let (reads, _) = metering::measure_reads(join_all([read(), read(), read()])).await;
        assert!(matches!(&reads[0], Err(StoreError::TooSlow { .. })), "{reads:?}");
        let is_refused = |result: &Result<(), StoreError>| {
            matches!(result, Err(StoreError::NotCalled { kind: FailureKind::Timeout, .. }))
        };
        assert!(reads[1..].iter().all(is_refused), "{reads:?}");
        assert_eq!(calls.into_inner(), 1);
    }

    /// Without the limit, this test would hang.
    #[tokio::test]
    async fn brief_reads_wait_for_a_probe_within_their_limit() {
        let store = store_to_probe();
        let read = || store.read_briefly(Table::History, hang());
        let (reads, _) = metering::measure_reads(join_all([read(), read()])).await;
        assert!(matches!(reads[0], Err(StoreError::TooSlow { .. })), "{reads:?}");
        assert!(is_not_called(&reads[1]), "{reads:?}");
    }

    #[tokio::test]
    async fn a_slow_success_does_not_close_the_breaker_for_brief_reads() {
        let limit = store().timeouts.brief_reads().unwrap();
        for (took, is_open) in [(limit + Duration::from_millis(1), true), (Duration::ZERO, false)] {
            let store = store_to_probe();
            let read = tokio::time::sleep(took).map(Ok);
            assert!(store.read_patiently(Table::History, read).await.is_ok());
            let state = store.reachability.tables[Table::History as usize].brief.state.lock();
            assert_eq!(state.failed.is_some(), is_open, "{took:?}");
        }
    }

    #[test]
    fn errors_from_dynamodb_have_their_kind() {
        for (status, code, kind) in [
            (400, "ThrottlingException", FailureKind::Throttled),
            (400, "ProvisionedThroughputExceededException", FailureKind::Throttled),
            (400, "RequestLimitExceeded", FailureKind::Throttled),
            (500, "Throttling", FailureKind::Throttled),
            (400, "ResourceNotFoundException", FailureKind::Refused),
            (500, "InternalServerError", FailureKind::ServerError),
        ] {
            let error = GetItemError::generic(ErrorMetadata::builder().code(code).build());
            let response = HttpResponse::new(status.try_into().unwrap(), "".into());
            assert_eq!(FailureKind::from_sdk(&SdkError::service_error(error, response)), kind);
        }
        let timeout = SdkError::<GetItemError>::timeout_error("late");
        assert_eq!(FailureKind::from_sdk(&timeout), FailureKind::Timeout);
    }

    /// Otherwise no alarm shows that requests fail.
    #[tokio::test]
    async fn a_refused_read_counts_as_the_failure_that_it_stands_for() {
        let store = store();
        let busy = async { Err(StoreError::Busy { operation: "Query", left: 1 }) };
        let reads = async {
            assert!(store.read_patiently::<()>(Table::History, busy).await.is_err());
            let refused = store.read_patiently(Table::History, succeed()).await.unwrap_err();
            assert!(refused.to_string().contains("throttled"), "{refused}");
        };
        let ((), consumption) = metering::measure_reads(reads).await;
        assert_eq!(consumption.failed_calls, 2);
        let counted: Vec<_> = store.failed_calls().filter(|(_, count)| *count > 0).collect();
        assert_eq!(counted, [(FailureKind::Throttled, 2)]);
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

    fn is_not_called(result: &Result<(), StoreError>) -> bool {
        matches!(result, Err(StoreError::NotCalled { .. }))
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
        assert!(is_not_called(&second), "the limit is used up");
        assert!(
            store.read_briefly(Table::Dataset, succeed()).await.is_ok(),
            "its breaker is closed"
        );
        assert!(is_not_called(&store.read_briefly(Table::ApiKeys, hang()).await));
        assert!(!store.is_reachable());
    }

    #[tokio::test]
    async fn patient_reads_still_call_a_table_that_failed_brief_reads() {
        let store = store();
        assert!(store.read_briefly(Table::ApiKeys, hang()).await.is_err());
        assert!(is_not_called(&store.read_briefly(Table::ApiKeys, succeed()).await));
        assert!(store.read_patiently(Table::ApiKeys, succeed()).await.is_ok());
        assert!(store.read_briefly(Table::ApiKeys, succeed()).await.is_ok(), "it was fast");
        let busy = async { Err(StoreError::Busy { operation: "GetItem", left: 1 }) };
        assert!(store.read_patiently::<()>(Table::ApiKeys, busy).await.is_err());
        assert!(is_not_called(&store.read_patiently(Table::ApiKeys, hang()).await));
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
