//! Reads many exchanges at once, for requests that ask for many numbers.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use backon::{BackoffBuilder, ExponentialBuilder};
use logging::with_causes;
use numbering::records::{Exchange, NpaNxx, RecordKey};

use crate::{
    LookupItem, LookupTable, Store, StoreError, capacity, client::record_from_item,
    item_check::Item, lookup_items::ItemKey,
};

/// The most items that DynamoDB reads in one BatchGetItem call.
pub const READS_PER_BATCH: usize = 100;

const OPERATION: &str = "BatchGetItem";

/// The delays between five attempts at the keys for which DynamoDB was too busy. All of them end within
/// [`crate::TimeoutProfile::lookups`].
const RETRY_DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(25))
    .with_max_delay(Duration::from_millis(400))
    .with_max_times(4)
    .with_jitter();

impl Store {
    /// The items of these exchanges, of which there may be [`READS_PER_BATCH`] and none twice. Exchanges
    /// without an item that can be read are left out. Like a single item they are read eventually consistently.
    pub async fn exchanges(
        &self,
        npa_nxxs: &[NpaNxx],
    ) -> Result<HashMap<NpaNxx, LookupItem<Exchange>>, StoreError> {
        let read = tokio::time::timeout(self.timeouts.lookups(), self.read_exchanges(npa_nxxs));
        let too_late = |_| StoreError::Busy { operation: OPERATION, left: npa_nxxs.len() };
        read.await.map_err(too_late)?
    }

    async fn read_exchanges(
        &self,
        npa_nxxs: &[NpaNxx],
    ) -> Result<HashMap<NpaNxx, LookupItem<Exchange>>, StoreError> {
        let table = LookupTable::Exchanges.name(&self.tables);
        let mut keys = KeysAndAttributes::builder();
        for &npa_nxx in npa_nxxs {
            let (name, value) = ItemKey::from(RecordKey::Exchange(npa_nxx)).attribute();
            keys = keys.keys(Item::from([(name.to_owned(), value)]));
        }
        let mut left = Some(keys.build().map_err(StoreError::unbuildable(OPERATION, table))?);
        let mut delays = RETRY_DELAYS.build();
        let mut found = HashMap::new();
        while let Some(keys) = left {
            let call = self
                .client
                .batch_get_item()
                .request_items(table, keys)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let answer = call.send().await.map_err(StoreError::call(OPERATION, table))?;
            capacity::count(answer.consumed_capacity().first());
            let items = answer.responses.and_then(|mut tables| tables.remove(table));
            for item in items.into_iter().flatten() {
                let Some(npa_nxx) = npa_nxx_of(&item) else { continue };
                match record_from_item(table, item) {
                    Ok(record) => _ = found.insert(npa_nxx, record),
                    Err(error) => warn_of_unreadable(npa_nxx, &error),
                }
            }
            left = answer.unprocessed_keys.and_then(|mut tables| tables.remove(table));
            if let Some(keys) = &left {
                let left = keys.keys().len();
                let delay = delays.next().ok_or(StoreError::Busy { operation: OPERATION, left })?;
                tokio::time::sleep(delay).await;
            }
        }
        Ok(found)
    }
}

/// An item that cannot be read must not keep those beside it from being answered.
fn warn_of_unreadable(npa_nxx: NpaNxx, error: &StoreError) {
    tracing::warn!(error = with_causes(error), %npa_nxx, "an item cannot be read");
}

/// The exchange whose item this is, by its partition key.
fn npa_nxx_of(item: &Item) -> Option<NpaNxx> {
    let value = item.get(LookupTable::Exchanges.key_attribute()).map(AttributeValue::as_s)?.ok()?;
    match ItemKey::of_exchange(value).record_key()? {
        RecordKey::Exchange(npa_nxx) => Some(npa_nxx),
        _ => None,
    }
}
