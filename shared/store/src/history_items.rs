//! The items in the history table.
//!
//! | `code` | `entry` | Contents |
//! |---|---|---|
//! | `publications` | publication ID | A [`PublishedDifference`] |
//! | `copies` | publication ID | A copy of it, for repairs |
//! | publication ID | `0000`, `0001`, ... | The chunks of its packed difference |
//! | OCN or NPA | `#`, publication number and ID | A change to the carrier or area code |
//! | NPA | NXX, `#`, publication number and ID | A change to the exchange |
//!
//! A change's entry looks like `555#0000000042#20261121T090003Z-5fGh2kLmN8pQrS1t`. A publication lists the keys that it
//! changed, so readers can tell that a change is missing. Items never change, and DynamoDB's TTL deletes them.

use std::collections::HashMap;

use aws_sdk_dynamodb::{
    primitives::Blob,
    types::{AttributeValue, ReturnConsumedCapacity},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use jiff::{SignedDuration, Timestamp};
use numbering::{
    changes::{Difference, RecordPair},
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, NpaNxx, Record, RecordKey, Version},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Gap, History, Manifest, Publication, PublishedDifference, READS_PER_BATCH, Store, StoreError,
    Table,
    checksum::{self, Item, primary_key, text},
    client::{item_from_record, record_from_item},
    manifest::{CHUNK_BYTES, snapshot_hash},
    metering,
};

const PUBLICATIONS: &str = "publications";
const COPIES: &str = "copies";
/// The time that items outlive their difference's time in the history, so that TTL never deletes one in use.
const ITEM_EXPIRY_DELAY: SignedDuration = SignedDuration::from_hours(7 * 24);
const CONCURRENT_CALLS: usize = 8;

/// An item, with its key and contents.
#[derive(Serialize)]
struct Entry<C> {
    code: String,
    entry: String,
    #[serde(flatten)]
    contents: C,
    /// In Unix seconds.
    expires_at: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredChange<R> {
    before: Option<R>,
    after: Option<R>,
}

/// The partition and sort key of a change.
fn change_key(publication: &Publication, key: RecordKey) -> (String, String) {
    let Publication { id, number, .. } = publication;
    let (code, nxx) = match key {
        RecordKey::Carrier(ocn) => (ocn.to_string(), String::new()),
        RecordKey::AreaCode(npa) => (npa.to_string(), String::new()),
        RecordKey::Exchange(NpaNxx { npa, nxx }) => (npa.to_string(), nxx.to_string()),
    };
    (code, format!("{nxx}#{number:010}#{id}"))
}

/// Parses the partition and sort key of a change: the publication's ID and the record's key. `None` for other items.
fn parse_change_key(code: &str, entry: &str) -> Option<(Version, RecordKey)> {
    let (nxx, publication) = entry.split_once('#')?;
    let id = Version::parse(publication.split_once('#')?.1)?;
    let key = match (nxx, code.len()) {
        ("", 3) => RecordKey::AreaCode(code.parse().ok()?),
        ("", _) => RecordKey::Carrier(code.parse().ok()?),
        (nxx, _) => RecordKey::Exchange(NpaNxx { npa: code.parse().ok()?, nxx: nxx.parse().ok()? }),
    };
    Some((id, key))
}

/// The time after which TTL deletes a publication's items, in Unix seconds.
fn expires_at(publication: &Publication) -> i64 {
    publication.ends_at.unwrap_or_default() + ITEM_EXPIRY_DELAY.as_secs()
}

/// Returns a `map_err` function that turns an unreadable item into damage to a part of the history.
fn damage(part: impl FnOnce() -> String) -> impl FnOnce(StoreError) -> StoreError {
    move |error| match error {
        StoreError::Item { source, .. } => StoreError::DamagedHistory { part: part(), source },
        other => other,
    }
}

/// The item for a change that a publication made.
pub(crate) fn change_item(
    table: &str,
    publication: &Publication,
    pair: &RecordPair,
) -> Result<Item, StoreError> {
    let (code, entry) = change_key(publication, pair.key);
    let contents = StoredChange { before: pair.before.as_ref(), after: pair.after.as_ref() };
    let expires_at = expires_at(publication);
    item_from_record(table, None, &Entry { code, entry, contents, expires_at })
}

impl Store {
    /// Writes a publication and its packed difference. Nothing refers to it before [`Store::publish`].
    pub async fn write_difference(
        &self,
        difference: &PublishedDifference,
        packed: &[u8],
    ) -> Result<(), StoreError> {
        let table = self.tables.name(Table::History);
        let id = difference.publication.id.to_string();
        let expires_at = expires_at(&difference.publication);
        for (index, data) in packed.chunks(CHUNK_BYTES).enumerate() {
            let entry = format!("{index:04}");
            let key = Entry { code: id.clone(), entry, contents: (), expires_at };
            let mut chunk = item_from_record(table, None, &key)?;
            chunk.insert("data".to_owned(), AttributeValue::B(Blob::new(data)));
            self.put(Table::History, chunk).await?;
        }
        for code in [COPIES, PUBLICATIONS] {
            let (code, entry) = (code.to_owned(), id.clone());
            let publication = Entry { code, entry, contents: difference, expires_at };
            self.put(Table::History, item_from_record(table, None, &publication)?).await?;
        }
        Ok(())
    }

    /// Reads the history up to the manifest's publication. Tries eventually consistent reads first, at half the cost:
    /// each publication names the previous one, so a missing one is noticed.
    pub async fn history(
        &self,
        manifest: &Manifest,
        now: Timestamp,
    ) -> Result<History, StoreError> {
        let stored = self.intact_publications(PUBLICATIONS, false).await?;
        let history = History::new(manifest, stored, now);
        if history.gap() != Some(Gap::Damaged) {
            return Ok(history);
        }
        let stored = self.intact_publications(PUBLICATIONS, true).await?;
        Ok(History::new(manifest, stored, now))
    }

    /// Reads every intact publication: the items, and their copies. Some may be from imports that were overtaken.
    pub async fn stored_publications(&self) -> Result<[Vec<PublishedDifference>; 2], StoreError> {
        let items = self.intact_publications(PUBLICATIONS, true).await?;
        Ok([items, self.intact_publications(COPIES, true).await?])
    }

    async fn intact_publications(
        &self,
        code: &str,
        is_consistent: bool,
    ) -> Result<Vec<PublishedDifference>, StoreError> {
        let items = self.partition(code, is_consistent);
        let items = self.read_patiently(Table::History, items).await;
        let items = items.map_err(damage(|| "the list of publications".to_owned()))?;
        let read = |item| record_from_item(self.tables.name(Table::History), item).ok();
        Ok(items.into_iter().filter_map(read).collect())
    }

    pub async fn difference(
        &self,
        published: &PublishedDifference,
    ) -> Result<Difference, StoreError> {
        published.unpack(&self.packed_difference(published).await?)
    }

    /// Reads a publication's difference, and verifies its hash. Tries eventually consistent reads first, at half the
    /// cost: the hash reveals a missing chunk.
    pub async fn packed_difference(
        &self,
        published: &PublishedDifference,
    ) -> Result<Vec<u8>, StoreError> {
        let part = || published.part();
        let id = &published.publication.id;
        for is_consistent in [false, true] {
            let chunks = self.partition(id.as_str(), is_consistent);
            let chunks = self.read_patiently(Table::History, chunks).await;
            let mut packed = Vec::new();
            for mut item in chunks.map_err(damage(part))? {
                if let Some(AttributeValue::B(data)) = item.remove("data") {
                    packed.extend(data.into_inner());
                }
            }
            // A repair that compresses better leaves old chunks at the end.
            packed.truncate(published.bytes as usize);
            if snapshot_hash(&packed) == published.hash {
                return Ok(packed);
            }
        }
        Err(StoreError::DamagedHistory { part: part(), source: "its hash is wrong".into() })
    }

    /// Rebuilds the manifest's current version from an older version and the differences since then.
    pub async fn rebuild(
        &self,
        manifest: &Manifest,
        older: &Dataset,
        version: &Version,
    ) -> Result<Dataset, StoreError> {
        let history = self.history(manifest, Timestamp::now()).await?;
        let Some(position) = history.position_of(version) else {
            history.check_complete()?;
            let source = "it is not in the history".into();
            return Err(StoreError::DamagedHistory { part: format!("version {version}"), source });
        };
        let mut rebuilt = None;
        for published in history.differences_after(position) {
            let before = rebuilt.as_ref().unwrap_or(older);
            let after = self.difference(published).await?.apply(before);
            rebuilt = Some(after.into_successor(before, published.publication.version.clone()));
        }
        let matches = |dataset: &Dataset| dataset.statistics() == manifest.current.statistics;
        rebuilt.filter(matches).ok_or_else(|| StoreError::DamagedHistory {
            part: format!("the path from version {version}"),
            source: "it does not lead to the current version".into(),
        })
    }

    /// Reads changes by publication position and record key, in the order of `wanted`.
    pub async fn changes(
        &self,
        history: &History,
        wanted: &[(usize, RecordKey)],
    ) -> Result<Vec<RecordPair>, StoreError> {
        let keys: Vec<(String, String)> = wanted
            .iter()
            .filter_map(|&(position, key)| Some(change_key(history.publication(position)?, key)))
            .collect();
        let mut found: HashMap<(String, String), Item> = HashMap::new();
        // Tries eventually consistent reads first, at half the cost: the history knows which changes exist.
        for is_consistent in [false, true] {
            let missing = |key: &&(String, String)| !found.contains_key(*key);
            let missing: Vec<_> = keys.iter().filter(missing).cloned().collect();
            let batches = missing.chunks(READS_PER_BATCH).map(|batch| {
                let items = batch.iter().map(|(code, entry)| {
                    primary_key([("code", code.clone()), ("entry", entry.clone())])
                });
                let read = self.batch_lookup(Table::History, is_consistent, items.collect());
                self.read_patiently(Table::History, read)
            });
            let batches: Vec<_> = batches.collect();
            let batches: Vec<Vec<Item>> = stream::iter(batches)
                .buffer_unordered(CONCURRENT_CALLS)
                .try_collect()
                .await
                .map_err(damage(|| format!("one of {} changes", missing.len())))?;
            found.extend(batches.into_iter().flatten().map(|item| {
                let key = ["code", "entry"].map(|name| text(&item, name).unwrap_or_default());
                (key.map(str::to_owned).into(), item)
            }));
        }
        let table = self.tables.name(Table::History);
        let changes = wanted.iter().zip(&keys).map(|(&(_, key), (code, entry))| {
            let item = found.remove(&(code.clone(), entry.clone()));
            let item = item.ok_or_else(|| StoreError::item(table)("it is missing"));
            let change = item.and_then(|item| self.record_pair(key, item));
            change.map_err(damage(|| format!("the change {entry} to {key}")))
        });
        changes.collect()
    }

    fn record_pair(&self, key: RecordKey, item: Item) -> Result<RecordPair, StoreError> {
        let [before, after] = match key {
            RecordKey::Carrier(_) => self.records::<Carrier>(item, Record::Carrier),
            RecordKey::AreaCode(_) => self.records::<AreaCode>(item, Record::AreaCode),
            RecordKey::Exchange(_) => self.records::<Exchange>(item, Record::Exchange),
        }?;
        Ok(RecordPair { key, before, after })
    }

    /// The records before and after a change.
    fn records<R: DeserializeOwned>(
        &self,
        item: Item,
        record: fn(R) -> Record,
    ) -> Result<[Option<Record>; 2], StoreError> {
        let StoredChange { before, after } =
            record_from_item(self.tables.name(Table::History), item)?;
        Ok([before, after].map(|it| it.map(record)))
    }

    /// Calls `inspect` for each intact change in the table, with the publication's ID and the record's key. The scan is
    /// strongly consistent.
    pub async fn for_each_intact_change(
        &self,
        mut inspect: impl FnMut(Version, RecordKey),
    ) -> Result<(), StoreError> {
        let inspect = |item: Item| {
            let [code, entry] = ["code", "entry"].map(|name| text(&item, name).unwrap_or_default());
            if let Some((id, key)) = parse_change_key(code, entry)
                && checksum::verify(&item).is_ok()
            {
                inspect(id, key);
            }
            Ok(())
        };
        self.scan(Table::History, inspect).await
    }

    /// Reads a partition's items, sorted by entry.
    async fn partition(&self, code: &str, is_consistent: bool) -> Result<Vec<Item>, StoreError> {
        let table = self.tables.name(Table::History);
        let query = self
            .client
            .query()
            .table_name(table)
            .consistent_read(is_consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .key_condition_expression("code = :code")
            .expression_attribute_values(":code", AttributeValue::S(code.to_owned()));
        let mut items = Vec::new();
        let mut pages = query.into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(StoreError::call("Query", table))?;
            metering::add_capacity(page.consumed_capacity());
            items.extend(page.items.unwrap_or_default());
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::publications;

    #[test]
    fn change_keys_round_trip_and_other_keys_are_ignored() {
        let [publication] = publications();
        for (key, code, nxx) in [
            (RecordKey::Carrier("073H".parse().unwrap()), "073H", ""),
            (RecordKey::AreaCode("415".parse().unwrap()), "415", ""),
            (RecordKey::Exchange("415-007".parse().unwrap()), "415", "007"),
        ] {
            let (found_code, entry) = change_key(&publication, key);
            assert_eq!(found_code, code);
            assert_eq!(entry, format!("{nxx}#0000000000#{}", publication.id));
            assert_eq!(parse_change_key(code, &entry), Some((publication.id.clone(), key)));
        }
        let id = publication.id.as_str();
        for (code, entry) in [(PUBLICATIONS, id), (COPIES, id), (id, "0000"), ("415", "#1#x")] {
            assert_eq!(parse_change_key(code, entry), None, "{code} {entry}");
        }
    }

    #[test]
    fn items_are_deleted_a_week_after_their_difference_expires() {
        let [_, publication] = publications();
        let ends_at = publication.ends_at.unwrap();
        assert_eq!(expires_at(&publication), ends_at + 7 * 24 * 60 * 60);
    }
}
