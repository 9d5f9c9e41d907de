//! BatchGetItem with retries.

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use backon::{BackoffBuilder, ExponentialBuilder};

use crate::{Store, StoreError, checksum::Item, metering};

const OPERATION: &str = "BatchGetItem";

/// The maximum number of items in a BatchGetItem call.
pub const READS_PER_BATCH: usize = 100;

/// A read of up to [`READS_PER_BATCH`] items from one table.
pub(crate) struct BatchGet<'a> {
    pub table: &'a str,
    pub is_consistent: bool,
    /// The delays between retries of keys that DynamoDB did not process.
    pub delays: ExponentialBuilder,
}

/// A primary key with these attributes.
pub(crate) fn primary_key<const N: usize>(attributes: [(&str, String); N]) -> Item {
    attributes.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

impl Store {
    /// Reads the items with these keys. Missing items are left out, and the order is arbitrary.
    pub(crate) async fn batch_get(
        &self,
        BatchGet { table, is_consistent, delays }: BatchGet<'_>,
        keys: impl Iterator<Item = Item>,
    ) -> Result<Vec<Item>, StoreError> {
        let keys = KeysAndAttributes::builder()
            .consistent_read(is_consistent)
            .set_keys(Some(keys.collect()))
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
            let output = request.send().await.map_err(StoreError::call(OPERATION, table))?;
            metering::add_capacity(output.consumed_capacity().first());
            let items = output.responses.and_then(|mut tables| tables.remove(table));
            found.extend(items.into_iter().flatten());
            left = output.unprocessed_keys.and_then(|mut tables| tables.remove(table));
            if let Some(keys) = &left {
                let left = keys.keys().len();
                let delay = delays.next().ok_or(StoreError::Busy { operation: OPERATION, left })?;
                tokio::time::sleep(delay).await;
            }
        }
        Ok(found)
    }
}
