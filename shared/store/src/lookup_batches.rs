//! Batch reads of exchanges, for requests with many numbers.

use std::{collections::HashMap, time::Duration};

use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use backon::ExponentialBuilder;
use logging::with_causes;
use numbering::records::{Exchange, NpaNxx, RecordKey};

use crate::{
    ItemKey, LookupItem, LookupTable, Store, StoreError, batch_get::BatchGet,
    client::record_from_item, item_check::Item,
};

/// The delays between five attempts at keys that DynamoDB was too busy for. They all fit within
/// [`crate::TimeoutProfile::lookups`].
const RETRY_DELAYS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(25))
    .with_max_delay(Duration::from_millis(400))
    .with_max_times(4)
    .with_jitter();

impl Store {
    /// The readable items of up to [`crate::READS_PER_BATCH`] distinct exchanges. Like single items, they are
    /// read eventually consistently.
    pub async fn exchanges(
        &self,
        npa_nxxs: &[NpaNxx],
    ) -> Result<HashMap<NpaNxx, LookupItem<Exchange>>, StoreError> {
        let read = tokio::time::timeout(self.timeouts.lookups(), self.read_exchanges(npa_nxxs));
        let too_late = |_| StoreError::Busy { operation: "BatchGetItem", left: npa_nxxs.len() };
        read.await.map_err(too_late)?
    }

    async fn read_exchanges(
        &self,
        npa_nxxs: &[NpaNxx],
    ) -> Result<HashMap<NpaNxx, LookupItem<Exchange>>, StoreError> {
        let table = LookupTable::Exchanges.name(&self.tables);
        let batch = BatchGet {
            table,
            key: LookupTable::Exchanges.key_attribute(),
            is_consistent: false,
            delays: RETRY_DELAYS,
            capacity: ReturnConsumedCapacity::Total,
            config: None,
        };
        let keys = npa_nxxs.iter().map(|&npa_nxx| ItemKey::from(RecordKey::Exchange(npa_nxx)));
        let mut found = HashMap::new();
        for item in self.batch_get(batch, keys.map(|key| key.value)).await? {
            let Some(npa_nxx) = npa_nxx_of(&item) else { continue };
            match record_from_item(table, item) {
                Ok(record) => _ = found.insert(npa_nxx, record),
                Err(error) => warn_of_unreadable(npa_nxx, &error),
            }
        }
        Ok(found)
    }
}

/// An unreadable item must not keep the others from being answered.
fn warn_of_unreadable(npa_nxx: NpaNxx, error: &StoreError) {
    tracing::warn!(error = with_causes(error), %npa_nxx, "an item cannot be read");
}

/// The exchange an item belongs to, from its partition key.
fn npa_nxx_of(item: &Item) -> Option<NpaNxx> {
    let value = item.get(LookupTable::Exchanges.key_attribute()).map(AttributeValue::as_s)?.ok()?;
    match (ItemKey { table: LookupTable::Exchanges, value: value.clone() }).record_key()? {
        RecordKey::Exchange(npa_nxx) => Some(npa_nxx),
        _ => None,
    }
}
