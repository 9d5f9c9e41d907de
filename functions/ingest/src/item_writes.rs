//! Writes items so that they match a version, several batches at a time.

use std::{pin::pin, time::Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use numbering::{dataset::Dataset, records::RecordKey};
use serde::Serialize;
use store::{ItemWrite, LookupItem, Store, WRITES_PER_BATCH};

use crate::{IngestError, Progress, options::before_deadline};

const CONCURRENT_BATCHES: usize = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Items {
    pub written: usize,
    pub deleted: usize,
}

impl Items {
    pub(crate) fn from_keys(dataset: &Dataset, keys: &[RecordKey]) -> Self {
        let deleted = keys.iter().filter(|&&key| dataset.last_changed(key).is_none()).count();
        Self { written: keys.len() - deleted, deleted }
    }
}

/// Returns the writes that make the items of `keys` match `dataset`. Lazy, because a first import writes every item.
pub(crate) fn item_writes(
    dataset: &Dataset,
    keys: &[RecordKey],
) -> impl ExactSizeIterator<Item = ItemWrite> {
    keys.iter().map(|&key| match (dataset.last_changed(key), dataset.record(key)) {
        (Some(version), Some(record)) => ItemWrite::Put(LookupItem { version, record }),
        _ => ItemWrite::Delete(key.into()),
    })
}

/// Executes writes, several batches at a time.
pub(crate) async fn write_items(
    store: &Store,
    phase: &'static str,
    writes: impl ExactSizeIterator<Item = ItemWrite>,
    deadline: Option<Instant>,
    progress: &impl Fn(Progress),
) -> Result<(), IngestError> {
    if writes.len() == 0 {
        return Ok(());
    }
    progress(Progress::Planned { phase, items: writes.len() });
    let batches = stream::iter(writes).chunks(WRITES_PER_BATCH);
    let calls = batches
        .map(|batch| async move { store.write(&batch).await.map(|()| batch.len()) })
        .buffer_unordered(CONCURRENT_BATCHES);
    let mut written = pin!(calls);
    while let Some(count) = before_deadline(deadline, written.try_next()).await?? {
        progress(Progress::Written(count));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use numbering::records::{Status, Version};

    use super::*;
    use crate::{
        changes::Changes,
        quality::tests::{area_code, carrier, exchange},
    };

    #[test]
    fn items_have_the_version_that_last_changed_their_record() {
        let [first, second] = [(); 2].map(|()| Version::new(Timestamp::UNIX_EPOCH));
        let dataset = |name: &str, npa_nxx: &str| {
            let exchange = |npa_nxx| exchange(npa_nxx, None, "SNFC", Status::Assigned);
            let carriers = vec![carrier("0051", "Equal", 1), carrier("0052", name, 1)];
            let exchanges = ["415-200", npa_nxx].map(exchange).to_vec();
            Dataset::new(carriers, vec![area_code("415", 2)], exchanges)
        };
        let before = dataset("Old", "415-201").into_successor(&Dataset::default(), first.clone());
        let after = dataset("New", "415-202").into_successor(&before, second.clone());
        let (before, after) = (Arc::new(before), Arc::new(after));
        let changed_keys = Changes::between(&before, &after).keys;
        let exchange_key = |npa_nxx: &str| RecordKey::Exchange(npa_nxx.parse().unwrap());
        let carrier_key = |ocn: &str| RecordKey::Carrier(ocn.parse().unwrap());
        let put = |key: RecordKey, version: &Version| {
            let record = after.record(key).unwrap();
            ItemWrite::Put(LookupItem { version: version.clone(), record })
        };
        let expected = [
            ItemWrite::Delete(exchange_key("415-201").into()),
            put(exchange_key("415-202"), &second),
            put(carrier_key("0052"), &second),
        ];
        assert_eq!(item_writes(&after, &changed_keys).collect::<Vec<_>>(), expected);
        assert_eq!(Items::from_keys(&after, &changed_keys), Items { written: 2, deleted: 1 });
        let equal = [carrier_key("0051")];
        let rewritten: Vec<ItemWrite> = item_writes(&after, &equal).collect();
        assert_eq!(rewritten, [put(equal[0], &first)]);
    }
}
