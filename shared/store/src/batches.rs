//! Bulk reads, and bulk writes of lookup items and history changes, with retries.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::{
    error::{ProvideErrorMetadata, SdkError},
    operation::batch_write_item::BatchWriteItemError,
    types::{DeleteRequest, KeysAndAttributes, PutRequest, ReturnConsumedCapacity, WriteRequest},
};
use backon::{BackoffBuilder, ExponentialBuilder};
use numbering::{changes::RecordPair, records::Record};

use crate::{
    FailureKind, ItemKey, LookupItem, Publication, Store, StoreError, Table, Tables,
    checksum::Item, client::item_from_record, history_items::change_item, metering,
};

/// The maximum number of writes in a BatchWriteItem call.
pub const WRITES_PER_BATCH: usize = 25;

#[derive(Debug, Clone, PartialEq)]
pub enum ItemWrite {
    Put(LookupItem<Record>),
    Delete(ItemKey),
    /// Adds a change that the publication made to a record's history.
    AddChange(Publication, RecordPair),
}

impl ItemWrite {
    /// The table's name and the request.
    fn request<'t>(&self, tables: &'t Tables) -> Result<(&'t str, WriteRequest), StoreError> {
        Ok(match self {
            Self::Put(lookup_item) => {
                let key = ItemKey::from(lookup_item.record.key());
                let table = tables.name(key.table);
                (table, put(item_from_record(table, Some(key.attribute()), lookup_item)?))
            }
            Self::Delete(key) => {
                let (name, value) = key.attribute();
                let delete = DeleteRequest::builder().key(name, value).build();
                let delete = delete.expect("the key is set");
                (tables.name(key.table), WriteRequest::builder().delete_request(delete).build())
            }
            Self::AddChange(publication, pair) => {
                let table = tables.name(Table::History);
                (table, put(change_item(table, publication, pair)?))
            }
        })
    }
}

fn put(item: Item) -> WriteRequest {
    let put = PutRequest::builder().set_item(Some(item)).build();
    WriteRequest::builder().put_request(put.expect("the item is set")).build()
}

impl Store {
    /// Makes up to [`WRITES_PER_BATCH`] writes in one call. While DynamoDB is too busy, retries with increasing
    /// delays for about a minute and a half.
    pub async fn write(&self, writes: &[ItemWrite]) -> Result<(), StoreError> {
        let mut left: HashMap<String, Vec<WriteRequest>> = HashMap::new();
        for write in writes {
            let (table, request) = write.request(&self.tables)?;
            left.entry(table.to_owned()).or_default().push(request);
        }
        let mut delays = RETRY_DELAYS.build();
        loop {
            let call = self.client.batch_write_item().set_request_items(Some(left.clone()));
            left = match call.send().await {
                Ok(output) => output.unprocessed_items.unwrap_or_default(),
                Err(error) if is_transient(&error) => left,
                Err(error) => {
                    let tables = left.into_keys().collect::<Vec<_>>().join(", ");
                    return Err(StoreError::call("BatchWriteItem", &tables)(error));
                }
            };
            let count: usize = left.values().map(Vec::len).sum();
            if count == 0 {
                return Ok(());
            }
            let delay = delays
                .next()
                .ok_or(StoreError::Busy { operation: "BatchWriteItem", left: count })?;
            tokio::time::sleep(delay).await;
        }
    }
}

/// The delays between thirteen attempts. Half of each delay is random, so that callers do not retry in lockstep.
pub(crate) const RETRY_DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(50))
    .with_max_delay(Duration::from_secs(15))
    .with_max_times(12)
    .with_jitter();

/// Returns `true` if DynamoDB may accept the call later. The client has already retried it several times.
fn is_transient(error: &SdkError<BatchWriteItemError>) -> bool {
    !is_disk_failure(error) && FailureKind::from_sdk(error) != FailureKind::Refused
}

/// Returns `true` if the embedded database failed to write to its file, which it reports as an internal error.
/// Retries would not help, and the operator needs to know the reason.
fn is_disk_failure(error: &SdkError<BatchWriteItemError>) -> bool {
    const SQLITE_MESSAGES: [&str; 2] = ["database or disk is full", "disk I/O error"];
    let message = error.message().unwrap_or_default();
    SQLITE_MESSAGES.iter().any(|text| message.contains(text))
}

const BATCH_GET: &str = "BatchGetItem";

/// The delays between five attempts, which fit within [`crate::TimeoutProfile::lookups`].
const LOOKUP_DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(25))
    .with_max_delay(Duration::from_millis(400))
    .with_max_times(4)
    .with_jitter();

impl Store {
    /// Like [`Self::batch_get`], but within the time that a lookup may take.
    pub(crate) async fn batch_lookup(
        &self,
        table: Table,
        is_consistent: bool,
        keys: Vec<Item>,
    ) -> Result<Vec<Item>, StoreError> {
        let too_late = StoreError::Busy { operation: BATCH_GET, left: keys.len() };
        let read = self.batch_get(table, is_consistent, LOOKUP_DELAYS, keys);
        tokio::time::timeout(self.timeouts.lookups(), read).await.unwrap_or(Err(too_late))
    }

    /// Reads up to [`READS_PER_BATCH`] items from a table, in no particular order. Leaves out missing items. Retries
    /// the keys that DynamoDB did not process, after these delays.
    pub(crate) async fn batch_get(
        &self,
        table: Table,
        is_consistent: bool,
        delays: ExponentialBuilder,
        keys: Vec<Item>,
    ) -> Result<Vec<Item>, StoreError> {
        let table = self.tables.name(table);
        let keys = KeysAndAttributes::builder()
            .consistent_read(is_consistent)
            .set_keys(Some(keys))
            .build()
            .expect("the keys are set");
        let mut left = Some(keys);
        let mut delays = delays.build();
        let mut found = Vec::new();
        while let Some(keys) = left {
            let request = self
                .client
                .batch_get_item()
                .request_items(table, keys)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let output = request.send().await.map_err(StoreError::call(BATCH_GET, table))?;
            metering::add_capacity(output.consumed_capacity().first());
            let items = output.responses.and_then(|mut tables| tables.remove(table));
            found.extend(items.into_iter().flatten());
            left = output.unprocessed_keys.and_then(|mut tables| tables.remove(table));
            if let Some(keys) = &left {
                let left = keys.keys().len();
                let delay = delays.next().ok_or(StoreError::Busy { operation: BATCH_GET, left })?;
                tokio::time::sleep(delay).await;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::{config::http::HttpResponse, error::ErrorMetadata};
    use logging::with_causes;

    use super::*;

    #[test]
    fn full_disk_is_reported_immediately_instead_of_retried() {
        let internal = |message: &str| {
            let metadata = ErrorMetadata::builder().code("InternalServerError").message(message);
            let response = HttpResponse::new(500.try_into().unwrap(), "".into());
            SdkError::service_error(BatchWriteItemError::generic(metadata.build()), response)
        };
        let full = internal("backend: database or disk is full");
        assert!(!is_transient(&full));
        assert!(with_causes(&full).contains("disk is full"), "{}", with_causes(&full));
        assert!(is_transient(&internal("try again")));
    }
}
