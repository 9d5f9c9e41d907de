//! Which tables answer, and how long a request waits for one.

use std::{pin::Pin, time::Duration};

use tokio::time::{Instant, timeout};

use crate::{
    Store, StoreError,
    breaker::Breaker,
    capacity,
    failed_calls::{FailedCalls, FailureKind},
    waiting,
};

/// A table of the deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    Carriers,
    Exchanges,
    Dataset,
    ApiKeys,
    Usage,
}

const TABLES: usize = 5;

/// What a process knows of its tables.
#[derive(Debug, Default)]
pub(crate) struct Reachability {
    tables: [TableBreakers; TABLES],
    failed_calls: FailedCalls,
}

/// A table that is too slow for the one kind of reads may do for the other.
#[derive(Debug, Default)]
struct TableBreakers {
    brief: Breaker,
    patient: Breaker,
}

impl Store {
    /// Reads something that the caller has in memory as well. All brief reads of a request together
    /// wait as long as [`crate::TimeoutProfile::brief_reads`] says. A table that has failed is left
    /// alone for some seconds, and then tried by one request at a time.
    ///
    /// # Errors
    /// Returns [`StoreError::LeftAlone`] if the table is not asked, and another error if it does not
    /// answer in time.
    pub fn briefly<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        // In a box, since the compiler gives up on the layout of futures within futures at some depth.
        self.boxed_briefly(table, Box::pin(read))
    }

    async fn boxed_briefly<T>(
        &self,
        table: Table,
        read: Pin<Box<impl Future<Output = Result<T, StoreError>>>>,
    ) -> Result<T, StoreError> {
        let Some(limit) = self.timeouts.brief_reads() else { return read.await };
        let breakers = self.breakers(table);
        let left = waiting::left_of(limit);
        let admitted = breakers.brief.admit(Instant::now()).filter(|_| left > Duration::ZERO);
        let Some(_admitted) = admitted else { return Err(self.left_alone(table)) };
        let answer = waiting::counted(timeout(left, read)).await;
        let answer = answer.unwrap_or_else(|_| Err(StoreError::TooSlow { limit }));
        match self.failure_of(&answer) {
            Some(kind) => {
                self.count_failure(kind);
                breakers.brief.open(Instant::now());
            }
            None => {
                breakers.brief.close();
                breakers.patient.close();
            }
        }
        answer
    }

    /// Reads something without which there is no answer. It may take as long as the timeouts of the
    /// client allow. A table that has failed then, too, is tried by one request at a time.
    ///
    /// # Errors
    /// Returns [`StoreError::LeftAlone`] if the table is not asked, and another error if it does not
    /// answer.
    pub fn patiently<T>(
        &self,
        table: Table,
        read: impl Future<Output = Result<T, StoreError>>,
    ) -> impl Future<Output = Result<T, StoreError>> {
        self.boxed_patiently(table, Box::pin(read))
    }

    async fn boxed_patiently<T>(
        &self,
        table: Table,
        read: Pin<Box<impl Future<Output = Result<T, StoreError>>>>,
    ) -> Result<T, StoreError> {
        let Some(brief) = self.timeouts.brief_reads() else { return read.await };
        let breakers = self.breakers(table);
        let admitted = breakers.patient.admit(Instant::now());
        let Some(_admitted) = admitted else { return Err(self.left_alone(table)) };
        let started = Instant::now();
        let answer = read.await;
        match self.failure_of(&answer) {
            Some(kind) => {
                self.count_failure(kind);
                let now = Instant::now();
                breakers.patient.open(now);
                breakers.brief.open(now);
            }
            None => {
                breakers.patient.close();
                if started.elapsed() <= brief {
                    breakers.brief.close();
                }
            }
        }
        answer
    }

    /// Whether no table has failed a short time ago that has not answered since.
    pub fn is_reachable(&self) -> bool {
        let now = Instant::now();
        self.reachability.tables.iter().all(|table| !table.brief.has_failed_recently(now))
    }

    /// How many calls have failed since the store was connected, by kind.
    pub fn failed_calls(&self) -> impl Iterator<Item = (FailureKind, u64)> {
        self.reachability.failed_calls.by_kind().into_iter()
    }

    fn count_failure(&self, kind: FailureKind) {
        self.reachability.failed_calls.count(kind);
        capacity::count_failed_call();
    }

    fn breakers(&self, table: Table) -> &TableBreakers {
        &self.reachability.tables[table as usize]
    }

    fn left_alone(&self, table: Table) -> StoreError {
        StoreError::LeftAlone { table: self.tables.name(table).to_owned() }
    }

    /// How the table has failed; `None` if it has answered, whatever that answer is.
    fn failure_of<T>(&self, answer: &Result<T, StoreError>) -> Option<FailureKind> {
        answer.as_ref().err().and_then(StoreError::failure)
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::TimeoutProfile;

    const UNREACHABLE: &str = "http://127.0.0.1:1";

    fn store() -> Store {
        Store::at_emulator(UNREACHABLE, TimeoutProfile::Request)
    }

    async fn answering() -> Result<(), StoreError> {
        Ok(())
    }

    async fn hanging() -> Result<(), StoreError> {
        pending().await
    }

    async fn refusing() -> Result<(), StoreError> {
        Err(StoreError::Busy { operation: "GetItem", left: 1 })
    }

    fn is_left_alone(answer: &Result<(), StoreError>) -> bool {
        matches!(answer, Err(StoreError::LeftAlone { .. }))
    }

    /// Without the limit this test would never end.
    #[tokio::test]
    async fn a_read_of_a_table_that_hangs_is_given_up_and_the_next_does_not_wait() {
        let store = store();
        let first = store.briefly(Table::Exchanges, hanging()).await;
        assert!(matches!(first, Err(StoreError::TooSlow { .. })));
        assert!(is_left_alone(&store.briefly(Table::Exchanges, hanging()).await));
        assert!(!store.is_reachable());
        let others = store.briefly(Table::Carriers, answering()).await;
        assert!(others.is_ok(), "each table fails by itself");
    }

    #[tokio::test]
    async fn all_brief_reads_of_a_request_share_one_limit() {
        let store = store();
        let request = waiting::scope(async {
            let first = store.briefly(Table::ApiKeys, hanging()).await;
            assert!(matches!(first, Err(StoreError::TooSlow { .. })));
            store.briefly(Table::Dataset, hanging()).await
        });
        assert!(is_left_alone(&request.await), "nothing was left of the limit");
        let next_request = waiting::scope(store.briefly(Table::Dataset, answering())).await;
        assert!(next_request.is_ok(), "a table that was not asked has not failed");
    }

    #[tokio::test]
    async fn a_slow_table_goes_on_answering_those_who_have_nothing_in_memory() {
        let store = store();
        assert!(store.briefly(Table::ApiKeys, hanging()).await.is_err());
        assert!(store.patiently(Table::ApiKeys, answering()).await.is_ok());
        assert!(store.patiently(Table::ApiKeys, refusing()).await.is_err());
        assert!(is_left_alone(&store.patiently(Table::ApiKeys, hanging()).await));
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_is_an_answer() {
        let store = store();
        let unreadable =
            async { Err::<(), _>(StoreError::item("exchanges")("no such field".to_owned())) };
        assert!(store.briefly(Table::Exchanges, unreadable).await.is_err());
        assert!(store.is_reachable());
        assert!(store.failed_calls().all(|(_, count)| count == 0));
    }

    #[tokio::test]
    async fn a_call_that_reaches_nobody_counts_as_a_failed_connection() {
        let store = store();
        assert!(store.patiently(Table::Dataset, store.manifest()).await.is_err());
        for (kind, count) in store.failed_calls() {
            assert_eq!(count, u64::from(kind == FailureKind::Connection), "{kind:?}");
        }
    }

    /// A late answer is better than none for an import.
    #[tokio::test]
    async fn an_import_waits_and_tries_every_time() {
        let store = Store::at_emulator(UNREACHABLE, TimeoutProfile::Batch);
        for _ in 0..2 {
            let answer = store.briefly(Table::Dataset, refusing()).await;
            assert!(matches!(answer, Err(StoreError::Busy { .. })));
        }
        let waited = store.briefly(Table::Dataset, async {
            tokio::time::sleep(Duration::from_millis(400)).await;
            Ok(())
        });
        assert!(waited.await.is_ok());
    }
}
