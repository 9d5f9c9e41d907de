//! BatchGetItem with retries.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use backon::{BackoffBuilder, ExponentialBuilder};

use crate::{Store, StoreError, checksum::Item, metering};

const OPERATION: &str = "BatchGetItem";

/// The maximum number of items in a BatchGetItem call.
pub const READS_PER_BATCH: usize = 100;

/// The delays between five attempts, which fit within [`crate::TimeoutProfile::lookups`].
const LOOKUP_DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(25))
    .with_max_delay(Duration::from_millis(400))
    .with_max_times(4)
    .with_jitter();

/// A primary key with these attributes.
pub(crate) fn primary_key<const N: usize>(attributes: [(&str, String); N]) -> Item {
    attributes.map(|(name, value)| (name.to_owned(), AttributeValue::S(value))).into()
}

impl Store {
    /// Reads items as [`Self::batch_get`] does, within the time that a lookup may take.
    pub(crate) async fn batch_lookup(
        &self,
        table: &str,
        is_consistent: bool,
        keys: Vec<Item>,
    ) -> Result<Vec<Item>, StoreError> {
        let too_late = StoreError::Busy { operation: OPERATION, left: keys.len() };
        let read = self.batch_get(table, is_consistent, LOOKUP_DELAYS, keys);
        tokio::time::timeout(self.timeouts.lookups(), read).await.unwrap_or(Err(too_late))
    }

    /// Reads up to [`READS_PER_BATCH`] items from a table. Missing items are left out, and the order is arbitrary. Retries the
    /// keys that DynamoDB did not process after these delays.
    pub(crate) async fn batch_get(
        &self,
        table: &str,
        is_consistent: bool,
        delays: ExponentialBuilder,
        keys: Vec<Item>,
    ) -> Result<Vec<Item>, StoreError> {
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
