//! Bulk writes: BatchWriteItem calls side by side, with what DynamoDB left over tried again.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, DeleteRequest, PutRequest, WriteRequest};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Item, Store, StoreError, exchange_key, item};
use crate::records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn};

/// Most writes one BatchWriteItem call takes (DynamoDB's limit).
const BATCH: usize = 25;
const CALLS_AT_ONCE: usize = 8;
/// Tries for what a call leaves unprocessed; the waits between them add up to about 25 s.
const TRIES: u32 = 10;

/// One item to be written or removed.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    PutCarrier(Carrier),
    DeleteCarrier(Ocn),
    PutExchange(Exchange),
    DeleteExchange(NpaNxx),
    PutAreaCode(AreaCode),
    DeleteAreaCode(Npa),
}

impl Change {
    fn is_carrier(&self) -> bool {
        matches!(self, Self::PutCarrier(_) | Self::DeleteCarrier(_))
    }

    fn request(&self, table: &str) -> Result<WriteRequest, StoreError> {
        Ok(match self {
            Self::PutCarrier(carrier) => put(item(table, carrier)?),
            Self::DeleteCarrier(ocn) => delete("ocn", ocn.to_string()),
            Self::PutExchange(exchange) => {
                put(keyed(item(table, exchange)?, exchange_key(exchange.npa_nxx())))
            }
            Self::DeleteExchange(npa_nxx) => delete("npa_nxx", exchange_key(*npa_nxx)),
            Self::PutAreaCode(area_code) => {
                put(keyed(item(table, area_code)?, area_code.npa.to_string()))
            }
            Self::DeleteAreaCode(npa) => delete("npa_nxx", npa.to_string()),
        })
    }
}

impl Store {
    /// Writes all `changes`, in no order, and calls `done` with the count of each finished call.
    ///
    /// # Errors
    /// Where DynamoDB refuses a call or leaves items unprocessed after every try; some changes may
    /// have been written by then.
    pub async fn write(
        &self,
        changes: Vec<Change>,
        done: impl Fn(usize),
    ) -> Result<(), StoreError> {
        let (carriers, exchanges): (Vec<_>, Vec<_>) =
            changes.into_iter().partition(Change::is_carrier);
        let tables = [(&self.tables.carriers, carriers), (&self.tables.exchanges, exchanges)];
        let batches = tables.iter().flat_map(|(table, changes)| {
            changes.chunks(BATCH).map(move |batch| (table.as_str(), batch))
        });
        stream::iter(batches)
            .map(async |(table, batch)| {
                let requests =
                    batch.iter().map(|change| change.request(table)).collect::<Result<_, _>>()?;
                self.write_batch(table, requests).await.map(|()| batch.len())
            })
            .buffer_unordered(CALLS_AT_ONCE)
            .try_for_each(async |count| {
                done(count);
                Ok(())
            })
            .await
    }

    async fn write_batch(&self, table: &str, batch: Vec<WriteRequest>) -> Result<(), StoreError> {
        let mut left = batch;
        for attempt in 0..TRIES {
            let answer = self.client.batch_write_item().request_items(table, left).send().await;
            let answer = answer.map_err(StoreError::call("BatchWriteItem", table))?;
            left = answer
                .unprocessed_items
                .and_then(|mut items| items.remove(table))
                .unwrap_or_default();
            if left.is_empty() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(25 << attempt)).await;
        }
        Err(StoreError::Call {
            operation: "BatchWriteItem",
            table: table.to_owned(),
            detail: format!("{} items were still unprocessed after {TRIES} tries", left.len()),
        })
    }
}

fn keyed(mut item: Item, npa_nxx: String) -> Item {
    item.insert("npa_nxx".to_owned(), AttributeValue::S(npa_nxx));
    item
}

fn put(item: Item) -> WriteRequest {
    let request = PutRequest::builder().set_item(Some(item)).build();
    WriteRequest::builder().set_put_request(request.ok()).build()
}

fn delete(key: &str, value: String) -> WriteRequest {
    let request = DeleteRequest::builder().key(key, AttributeValue::S(value)).build();
    WriteRequest::builder().set_delete_request(request.ok()).build()
}
