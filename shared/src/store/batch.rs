//! Lookup items and their bulk writes.
//!
//! An item holds a record and, until the next change, the one it replaced: so while an import
//! writes items, and after one was killed, every lookup still answers from the version in force.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    error::ProvideErrorMetadata,
    operation::batch_write_item::BatchWriteItemError,
    types::{AttributeValue, DeleteRequest, PutRequest, WriteRequest},
};
use backon::{BackoffBuilder, ExponentialBuilder};
use serde::{Deserialize, Serialize};

use super::{Item, SdkError, Store, StoreError, Tables, exchange_key, item};
use crate::records::{Record, RecordKey};

/// Most writes one BatchWriteItem call takes (DynamoDB's limit).
pub const BATCH: usize = 25;

/// An item of the tables of carriers and exchanges, but for its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Versioned<R> {
    /// The publication from which on `record` holds.
    since: u64,
    /// `None` where there is nothing from then on.
    record: Option<R>,
    /// What held before.
    before: Option<R>,
}

/// What an item tells a reader who knows of one publication.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen<R> {
    /// The record as that publication has it, if it has one.
    Record(Option<R>),
    /// Nothing: there is no item, or it was changed twice since. A newer publication may be in force.
    Nothing,
}

impl<R> Versioned<R> {
    /// The record as the publication `sequence` has it.
    pub(super) fn at(self, sequence: u64) -> Seen<R> {
        match self.since.checked_sub(sequence) {
            None | Some(0) => Seen::Record(self.record),
            Some(1) => Seen::Record(self.before),
            Some(_) => Seen::Nothing,
        }
    }
}

/// What becomes of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub key: RecordKey,
    /// The publication from which on it holds.
    pub since: u64,
    /// `None` removes the record.
    pub record: Option<Record>,
    /// What holds until then.
    pub before: Option<Record>,
}

impl Change {
    fn is_carrier(&self) -> bool {
        matches!(self.key, RecordKey::Carrier(_))
    }

    fn request(&self, table: &str) -> Result<WriteRequest, StoreError> {
        let (name, value) = match self.key {
            RecordKey::Carrier(ocn) => ("ocn", ocn.to_string()),
            RecordKey::AreaCode(npa) => ("npa_nxx", npa.to_string()),
            RecordKey::Exchange(npa_nxx) => ("npa_nxx", exchange_key(npa_nxx)),
        };
        let key = AttributeValue::S(value);
        if self.record.is_none() && self.before.is_none() {
            let delete = DeleteRequest::builder().key(name, key).build().ok();
            return Ok(WriteRequest::builder().set_delete_request(delete).build());
        }
        let mut item = self.item(table)?;
        item.insert(name.to_owned(), key);
        let put = PutRequest::builder().set_item(Some(item)).build().ok();
        Ok(WriteRequest::builder().set_put_request(put).build())
    }

    fn item(&self, table: &str) -> Result<Item, StoreError> {
        let Self { key: _, since, record, before } = self;
        item(table, &Versioned { since: *since, record: record.as_ref(), before: before.as_ref() })
    }
}

impl Store {
    /// Writes up to 25 `changes` in one call, as long as `may_write` allows it. What DynamoDB is too
    /// busy for is tried again after growing waits, for about a minute and a half.
    ///
    /// # Errors
    /// [`StoreError::Held`] where it is no longer allowed; or where DynamoDB refuses the call or
    /// stays too busy. Some changes may have been written.
    pub async fn write(
        &self,
        changes: &[Change],
        may_write: impl Fn() -> bool,
    ) -> Result<(), StoreError> {
        let Tables { carriers, exchanges, .. } = &self.tables;
        let mut left: HashMap<String, Vec<WriteRequest>> = HashMap::new();
        for change in changes {
            let table = if change.is_carrier() { carriers } else { exchanges };
            left.entry(table.clone()).or_default().push(change.request(table)?);
        }
        let mut waits = WAITS.build();
        loop {
            if !may_write() {
                return Err(StoreError::Held);
            }
            let call = self.client.batch_write_item().set_request_items(Some(left.clone()));
            left = match call.send().await {
                Ok(answer) => answer.unprocessed_items.unwrap_or_default(),
                Err(error) if is_too_busy(&error) => left,
                Err(error) => {
                    let tables = left.into_keys().collect::<Vec<_>>().join(", ");
                    return Err(StoreError::call("BatchWriteItem", &tables)(error));
                }
            };
            let count: usize = left.values().map(Vec::len).sum();
            if count == 0 {
                return Ok(());
            }
            let wait = waits.next().ok_or(StoreError::Busy { left: count })?;
            tokio::time::sleep(wait).await;
        }
    }
}

/// Thirteen tries; half of each wait is left to chance, so that callers do not come back together.
pub(super) const WAITS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_secs(15))
    .with_max_times(12)
    .with_jitter();

/// Whether DynamoDB may well take later what it did not take now; the client has tried a few times.
fn is_too_busy<R>(error: &SdkError<BatchWriteItemError, R>) -> bool {
    if has_no_disk(error) {
        return false;
    }
    let throttled = matches!(
        error.code(),
        Some(
            "ProvisionedThroughputExceededException"
                | "ThrottlingException"
                | "RequestLimitExceeded"
                | "InternalServerError"
        )
    );
    throttled
        || matches!(
            error,
            SdkError::TimeoutError(_) | SdkError::ResponseError(_) | SdkError::DispatchFailure(_)
        )
}

/// Whether the embedded database cannot write into its file. It answers that as an internal error,
/// too, but waiting does not help, and the operator has to be told.
fn has_no_disk<R>(error: &SdkError<BatchWriteItemError, R>) -> bool {
    let of_sqlite = ["database or disk is full", "disk I/O error"];
    error.message().is_some_and(|message| of_sqlite.iter().any(|text| message.contains(text)))
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::error::ErrorMetadata;

    use super::*;
    use crate::errors::with_causes;

    #[test]
    fn a_full_disk_is_told_at_once_and_not_taken_for_a_busy_database() {
        let internal = |message: &str| {
            let metadata = ErrorMetadata::builder().code("InternalServerError").message(message);
            SdkError::service_error(BatchWriteItemError::generic(metadata.build()), ())
        };
        let full = internal("backend: database or disk is full");
        assert!(!is_too_busy(&full));
        assert!(with_causes(&full).contains("disk is full"), "{}", with_causes(&full));
        assert!(is_too_busy(&internal("try again")));
    }
}
