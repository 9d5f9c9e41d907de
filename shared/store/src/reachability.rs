//! Circuit breakers for tables, and limits on how long a request waits for a table.
//!
//! After a failure, a table is not called for a few seconds, so that requests do not wait for it. After that, one
//! request every few seconds probes it, while the others continue without it. A background task cannot be the probe,
//! because Lambda freezes the process after each response.

use std::{
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use parking_lot::Mutex;
use strum::{Display, IntoStaticStr, VariantArray};
use tokio::time::{Instant, timeout};

use crate::{
    Store, StoreError, Table,
    metering::{self, RequestNumber},
};

/// A kind of failed call. Unlike DynamoDB's own metrics, includes calls that never reach it.
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

/// The state of all tables in this process.
#[derive(Debug, Default)]
pub(crate) struct Reachability {
    tables: [TableBreakers; Table::VARIANTS.len()],
    failed_calls: [AtomicU64; FailureKind::VARIANTS.len()],
}

/// Separate breakers, because a table that is too slow for brief reads may be fast enough for patient ones.
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
    /// Reads something that the caller also has in memory. All of a request's brief reads share the limit in
    /// [`crate::TimeoutProfile::brief_reads`]. Returns [`StoreError::NotCalled`] if the table failed recently.
    pub fn read_briefly<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guard_read(table, Patience::Brief, Box::pin(read))
    }

    /// Like [`Self::read_briefly`], but for something that the response needs, and with the full timeout.
    pub fn read_patiently<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.guard_read(table, Patience::Patient, Box::pin(read))
    }

    /// Takes a boxed read, because the compiler cannot compute the layout of such deeply nested futures.
    async fn guard_read<T>(
        &self,
        table: Table,
        patience: Patience,
        read: Pin<Box<impl Future<Output = Result<T, StoreError>>>>,
    ) -> Result<T, StoreError> {
        let Some(limit) = self.timeouts.brief_reads() else { return read.await };
        let TableBreakers { brief, patient } = &self.reachability.tables[table as usize];
        let left = metering::remaining_wait(limit);
        let (breaker, is_too_late) = match patience {
            Patience::Brief => (brief, left.is_zero()),
            Patience::Patient => (patient, false),
        };
        let admitted = if is_too_late {
            Err(FailureKind::Timeout)
        } else {
            breaker.admit(Instant::now(), metering::request_number())
        };
        admitted.map_err(|kind| {
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
        // An unreadable item does not mean that the table failed.
        match result.as_ref().err().and_then(StoreError::failure) {
            Some(kind) => {
                self.count_failure(kind);
                let (now, request) = (Instant::now(), metering::request_number());
                brief.record_failure(kind, now, request);
                if patience == Patience::Patient {
                    patient.record_failure(kind, now, request);
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

    /// Counts a failed call, or a call that was skipped because of an earlier failure of this kind.
    fn count_failure(&self, kind: FailureKind) {
        self.reachability.failed_calls[kind as usize].fetch_add(1, Ordering::Relaxed);
        metering::add_failed_call();
    }

    /// Returns `true` unless a table failed recently and no read from it has succeeded since.
    pub fn is_reachable(&self) -> bool {
        let now = Instant::now();
        self.reachability.tables.iter().all(|table| !table.brief.has_failed_recently(now))
    }

    /// The number of failed calls since the store was connected, by kind. Includes calls that were skipped because of
    /// an earlier failure.
    pub fn failed_calls(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        let counts = self.reachability.failed_calls.iter();
        let counts = counts.map(|count| count.load(Ordering::Relaxed));
        FailureKind::VARIANTS.iter().copied().zip(counts)
    }
}

/// The minimum time between calls to a failed table.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
/// The period during which a failure counts as recent.
const RECENT_FAILURE_WINDOW: Duration = Duration::from_secs(30);

/// Admits all reads from a working table. Lets one request probe a failed table per interval.
#[derive(Debug, Default)]
struct Breaker(Mutex<Option<Failure>>);

/// The last failure, if no read has succeeded since.
#[derive(Debug)]
struct Failure {
    kind: FailureKind,
    at: Instant,
    /// The request that has probed the table since, and the start time of the probe.
    probe: Option<(RequestNumber, Instant)>,
}

impl Breaker {
    /// Admits a read, or returns the failure that blocks it. Admits all reads of the request that probes the table: if
    /// any were refused, the request would fail and cancel its first read.
    fn admit(&self, now: Instant, request: RequestNumber) -> Result<(), FailureKind> {
        let mut failure = self.0.lock();
        let Some(Failure { kind, at, probe }) = &mut *failure else { return Ok(()) };
        let last_call = match *probe {
            Some((probing, _)) if probing == request => return Ok(()),
            Some((_, started)) => started.max(*at),
            None => *at,
        };
        if now < last_call + PROBE_INTERVAL {
            return Err(*kind);
        }
        *probe = Some((request, now));
        Ok(())
    }

    fn has_failed_recently(&self, now: Instant) -> bool {
        self.0.lock().as_ref().is_some_and(|failure| now < failure.at + RECENT_FAILURE_WINDOW)
    }

    /// Records a failure, which ends the request's own probe, but not one that another request has started.
    fn record_failure(&self, kind: FailureKind, now: Instant, request: RequestNumber) {
        let mut failure = self.0.lock();
        let probe = failure.take().and_then(|it| it.probe);
        let probe = probe.filter(|(probing, _)| *probing != request);
        *failure = Some(Failure { kind, at: now, probe });
    }

    fn record_success(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests;
