//! A dataset made current: only what differs is written, and the manifest last of all.
//!
//! Killed at any point before that, an import leaves the old dataset serving lists and searches;
//! the next one compares with it again and completes.

use std::collections::BTreeMap;

use jiff::Timestamp;
use shared::{
    dataset::{Dataset, load},
    records::Country,
    store::{Change, Manifest, Store},
};

use crate::{Changes, IngestError, Options, Progress};

pub(crate) async fn publish(
    store: &Store,
    dataset: &Dataset,
    options: Options,
    now: Timestamp,
    progress: impl Fn(Progress),
) -> Result<(Manifest, Changes), IngestError> {
    let replaced = store.manifest().await?;
    let current = match &replaced {
        Some(manifest) => Some(load(store, manifest).await?),
        None => None,
    };
    if let (Some(manifest), true) = (&replaced, current.as_ref() == Some(dataset)) {
        return Ok((manifest.clone(), Changes::default()));
    }
    let statistics = dataset.statistics();
    if let Some(manifest) = &replaced {
        refuse_shrinking(&manifest.statistics.by_country, &statistics.by_country, options)?;
    }

    let (puts, deletions) = differences(current.as_ref(), dataset);
    let changes = Changes { written: puts.len(), deleted: deletions.len() };
    progress(Progress::Planned(changes.written + changes.deleted));
    let written = |count| progress(Progress::Written(count));
    store.write([puts, deletions].concat(), written).await?;

    progress(Progress::Publishing);
    let bytes = dataset.pack()?;
    let (manifest, dropped) = Manifest::of(&bytes, statistics, now, replaced.as_ref());
    store.write_snapshot(&manifest, &bytes).await?;
    store.publish(&manifest, replaced.as_ref()).await?;
    for snapshot in dropped {
        store.delete_snapshot(&snapshot).await?;
    }
    Ok((manifest, changes))
}

fn refuse_shrinking(
    before: &BTreeMap<Country, u32>,
    after: &BTreeMap<Country, u32>,
    Options { max_shrink }: Options,
) -> Result<(), IngestError> {
    let shrunk = before.iter().find_map(|(&country, &before)| {
        let after = after.get(&country).copied().unwrap_or_default();
        let lost_percent =
            100.0 * f64::from(before.saturating_sub(after)) / f64::from(before.max(1));
        (lost_percent > max_shrink).then_some((country, before, after))
    });
    match shrunk {
        Some((country, before, after)) => {
            Err(IngestError::Shrunk { country, before, after, most_percent: max_shrink })
        }
        None => Ok(()),
    }
}

/// What has to be written, and what removed, to turn the items of `current` into those of
/// `dataset`.
fn differences(current: Option<&Dataset>, dataset: &Dataset) -> (Vec<Change>, Vec<Change>) {
    let carriers = |dataset: &Dataset| -> Vec<_> {
        dataset.carriers().iter().map(|carrier| (carrier.ocn, carrier.clone())).collect()
    };
    let exchanges = |dataset: &Dataset| -> Vec<_> {
        dataset.exchanges().map(|exchange| (exchange.npa_nxx(), exchange)).collect()
    };
    let area_codes = |dataset: &Dataset| -> Vec<_> {
        dataset.area_codes().iter().map(|area_code| (area_code.npa, area_code.clone())).collect()
    };
    let (mut puts, mut deletions) = (Vec::new(), Vec::new());
    let mut changed = |(put, deleted): (Vec<Change>, Vec<Change>)| {
        puts.extend(put);
        deletions.extend(deleted);
    };
    changed(compare(current, dataset, carriers, Change::PutCarrier, Change::DeleteCarrier));
    changed(compare(current, dataset, area_codes, Change::PutAreaCode, Change::DeleteAreaCode));
    changed(compare(current, dataset, exchanges, Change::PutExchange, Change::DeleteExchange));
    (puts, deletions)
}

fn compare<K: Ord, R: PartialEq>(
    current: Option<&Dataset>,
    dataset: &Dataset,
    records: impl Fn(&Dataset) -> Vec<(K, R)>,
    put: impl Fn(R) -> Change,
    delete: impl Fn(K) -> Change,
) -> (Vec<Change>, Vec<Change>) {
    let mut old: BTreeMap<K, R> = current.map_or(Vec::new(), &records).into_iter().collect();
    let changed = records(dataset)
        .into_iter()
        .filter(|(key, record)| old.remove(key).as_ref() != Some(record));
    let puts = changed.map(|(_, record)| put(record)).collect();
    (puts, old.into_keys().map(delete).collect())
}
