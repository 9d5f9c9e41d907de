//! The items in the history table.
//!
//! | `code` | `entry` | Contents |
//! |---|---|---|
//! | `publications` | publication ID | A [`PublishedDifference`] |
//! | publication ID | `0000`, `0001`, ... | The chunks of its packed difference |
//! | OCN or NPA | `#`, publication number and ID | A change to the carrier or area code |
//! | NPA | NXX, `#`, publication number and ID | A change to the exchange |
//!
//! A change's entry is `555#0000000042#20261121T090003Z-5fGh2kLmN8pQrS1t`, so a record's changes are in order. Items never
//! change, and DynamoDB's TTL deletes them.

use std::collections::{BTreeSet, HashMap};

use aws_sdk_dynamodb::{
    operation::query::builders::QueryFluentBuilder,
    primitives::Blob,
    types::{AttributeValue, ReturnConsumedCapacity},
};
use jiff::{SignedDuration, Timestamp};
use logging::with_causes;
use numbering::{
    changes::{Difference, RecordPair},
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Record, RecordKey, Version},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    History, Publication, PublishedDifference, Store, StoreError, Table,
    checksum::Item,
    client::{item_from_record, record_from_item},
    manifest::{CHUNK_BYTES, snapshot_hash},
    metering,
};

/// The partition of the publications.
const PUBLICATIONS: &str = "publications";
/// The page size for finding the first change after a publication. All of them count, unless an import died.
const FIRST_CHANGES: i32 = 3;
/// Items outlive their publication's time in the history by this much, so that TTL deletes none that a history refers to.
const ITEMS_OUTLIVE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A change to a record, to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryItem {
    /// The publication that made the change.
    pub publication: Publication,
    pub pair: RecordPair,
    /// The end of the publication's time in the history.
    pub ends_at: Timestamp,
}

/// A change to a record, made by a publication in the history.
#[derive(Debug, PartialEq)]
pub struct PastChange {
    /// The publication's position in the history.
    pub position: usize,
    pub pair: RecordPair,
}

/// An item's key and contents.
#[derive(Serialize)]
struct Entry<C> {
    code: String,
    entry: String,
    #[serde(flatten)]
    contents: C,
    /// Unix seconds.
    expires_at: i64,
}

#[derive(Serialize, Deserialize)]
struct StoredChange<R> {
    before: Option<R>,
    after: Option<R>,
}

/// A record's partition, and the prefix of its entries.
fn place(key: RecordKey) -> (String, String) {
    match key {
        RecordKey::Carrier(ocn) => (ocn.to_string(), "#".to_owned()),
        RecordKey::AreaCode(npa) => (npa.to_string(), "#".to_owned()),
        RecordKey::Exchange(NpaNxx { npa, nxx }) => (npa.to_string(), format!("{nxx}#")),
    }
}

/// The position of the publication that made a change, and the change's entry; `None` if the publication is not in the
/// history.
fn locate<'i>(positions: &HashMap<&Version, usize>, item: &'i Item) -> Option<(usize, &'i str)> {
    let entry = item.get("entry")?.as_s().ok()?;
    let publication = Version::parse(entry.rsplit_once('#')?.1)?;
    Some((*positions.get(&publication)?, entry))
}

fn expires_at(ends_at: Timestamp) -> i64 {
    (ends_at + ITEMS_OUTLIVE).as_second()
}

impl HistoryItem {
    /// The item's attributes.
    pub(crate) fn attributes(&self, table: &str) -> Result<Item, StoreError> {
        let Self { publication, pair, ends_at } = self;
        let (code, prefix) = place(pair.key);
        let contents = StoredChange { before: pair.before.as_ref(), after: pair.after.as_ref() };
        let Publication { id, number, .. } = publication;
        let (entry, expires_at) = (format!("{prefix}{number:010}#{id}"), expires_at(*ends_at));
        item_from_record(table, None, &Entry { code, entry, contents, expires_at })
    }
}

impl Store {
    /// Writes a publication and its packed difference. Nothing refers to it before [`Store::publish`].
    pub async fn write_difference(
        &self,
        difference: &PublishedDifference,
        packed: &[u8],
    ) -> Result<(), StoreError> {
        let table = self.tables.history.as_str();
        let id = difference.publication.id.to_string();
        let ends_at =
            Timestamp::from_second(difference.ends_at).map_err(StoreError::item(table))?;
        let expires_at = expires_at(ends_at);
        for (index, data) in packed.chunks(CHUNK_BYTES).enumerate() {
            let entry = format!("{index:04}");
            let key = Entry { code: id.clone(), entry, contents: (), expires_at };
            let mut chunk = item_from_record(table, None, &key)?;
            chunk.insert("data".to_owned(), AttributeValue::B(Blob::new(data)));
            self.put_history(chunk).await?;
        }
        let (code, contents) = (PUBLICATIONS.to_owned(), difference);
        let publication = Entry { code, entry: id, contents, expires_at };
        self.put_history(item_from_record(table, None, &publication)?).await
    }

    async fn put_history(&self, item: Item) -> Result<(), StoreError> {
        let table = self.tables.history.as_str();
        let put = self.client.put_item().table_name(table).set_item(Some(item));
        put.send().await.map(drop).map_err(StoreError::call("PutItem", table))
    }

    /// Reads the history that ends with `current`, which is in the manifest. It begins after a damaged publication.
    pub async fn history(
        &self,
        current: &Publication,
        now: Timestamp,
    ) -> Result<History, StoreError> {
        let publications = self.entries(PUBLICATIONS, "", true);
        let items = self.read_patiently(Table::History, publications).await?;
        let read = |item| {
            let log = |error: &StoreError| {
                tracing::error!(error = with_causes(error), "a publication cannot be read");
            };
            record_from_item(&self.tables.history, item).inspect_err(log).ok()
        };
        Ok(History::new(current.clone(), items.into_iter().filter_map(read).collect(), now))
    }

    /// Reads a publication's difference. Eventually consistent at first, at half the cost: the hash shows if a chunk is
    /// missing.
    pub async fn difference(
        &self,
        published: &PublishedDifference,
    ) -> Result<Difference, StoreError> {
        let table = self.tables.history.as_str();
        let id = &published.publication.id;
        for is_consistent in [false, true] {
            let chunks = self.entries(id.as_str(), "", is_consistent);
            let mut packed = Vec::new();
            for mut item in self.read_patiently(Table::History, chunks).await? {
                if let Some(AttributeValue::B(data)) = item.remove("data") {
                    packed.extend(data.into_inner());
                }
            }
            if snapshot_hash(&packed) == published.hash {
                return Difference::unpack(&packed).map_err(StoreError::item(table));
            }
        }
        Err(StoreError::item(table)(format!("the hash of difference {id} is wrong")))
    }

    /// Reads all changes to a record, oldest first.
    pub async fn changes_of(
        &self,
        history: &History,
        key: RecordKey,
    ) -> Result<Vec<PastChange>, StoreError> {
        let (code, prefix) = place(key);
        let items = self.entries(&code, &prefix, true);
        let items = self.read_patiently(Table::History, items).await?;
        self.past_changes(history, key, items).collect()
    }

    /// Reads the first change after the publication at a position to an area code, and to each of its exchanges.
    pub async fn first_changes_in(
        &self,
        history: &History,
        position: usize,
        npa: Npa,
    ) -> Result<Vec<PastChange>, StoreError> {
        let code = npa.to_string();
        let items = self.read_patiently(Table::History, self.entries(&code, "", true)).await?;
        let mut found = BTreeSet::new();
        let positions = history.positions();
        let first = items.into_iter().filter_map(|item| {
            let (changed_at, entry) = locate(&positions, &item)?;
            let key = match entry.split_once('#')?.0 {
                "" => RecordKey::AreaCode(npa),
                nxx => RecordKey::Exchange(NpaNxx { npa, nxx: nxx.parse().ok()? }),
            };
            let is_first = changed_at > position && found.insert(key);
            is_first.then(|| self.past_change(key, changed_at, item))
        });
        first.collect()
    }

    /// Reads the first change to a record after the publication at a position.
    pub async fn first_change_after(
        &self,
        history: &History,
        position: usize,
        key: RecordKey,
    ) -> Result<Option<PastChange>, StoreError> {
        let Some(next) = history.publication(position + 1) else { return Ok(None) };
        let (code, prefix) = place(key);
        let query = self
            .query_history(&code)
            .consistent_read(true)
            .key_condition_expression("code = :code AND entry BETWEEN :first AND :last")
            .expression_attribute_values(
                ":first",
                AttributeValue::S(format!("{prefix}{:010}", next.number)),
            )
            .expression_attribute_values(":last", AttributeValue::S(format!("{prefix}~")))
            .limit(FIRST_CHANGES);
        let first = self
            .read_pages(query, |items| self.past_changes(history, key, items).next().transpose());
        self.read_patiently(Table::History, first).await
    }

    /// The changes to a record that publications in the history made.
    fn past_changes(
        &self,
        history: &History,
        key: RecordKey,
        items: Vec<Item>,
    ) -> impl Iterator<Item = Result<PastChange, StoreError>> {
        let positions = history.positions();
        items.into_iter().filter_map(move |item| {
            let (position, _) = locate(&positions, &item)?;
            Some(self.past_change(key, position, item))
        })
    }

    fn past_change(
        &self,
        key: RecordKey,
        position: usize,
        item: Item,
    ) -> Result<PastChange, StoreError> {
        Ok(PastChange { position, pair: self.record_pair(key, item)? })
    }

    fn record_pair(&self, key: RecordKey, item: Item) -> Result<RecordPair, StoreError> {
        match key {
            RecordKey::Carrier(_) => self.typed_pair::<Carrier>(key, item, Record::Carrier),
            RecordKey::AreaCode(_) => self.typed_pair::<AreaCode>(key, item, Record::AreaCode),
            RecordKey::Exchange(_) => self.typed_pair::<Exchange>(key, item, Record::Exchange),
        }
    }

    fn typed_pair<R: DeserializeOwned>(
        &self,
        key: RecordKey,
        item: Item,
        record: fn(R) -> Record,
    ) -> Result<RecordPair, StoreError> {
        let table = self.tables.history.as_str();
        let entry = item.get("entry").and_then(|entry| entry.as_s().ok()).cloned();
        let stored: StoredChange<R> = record_from_item(table, item).map_err(|error| {
            let entry = entry.unwrap_or_default();
            StoreError::item(table)(format!("{key}, entry {entry}: {}", with_causes(&error)))
        })?;
        let (before, after) = (stored.before.map(record), stored.after.map(record));
        Ok(RecordPair { key, before, after })
    }

    /// Reads a partition's items whose entry has a prefix, ordered by entry.
    async fn entries(
        &self,
        code: &str,
        prefix: &str,
        is_consistent: bool,
    ) -> Result<Vec<Item>, StoreError> {
        let query = self.query_history(code).consistent_read(is_consistent);
        let query = match prefix {
            "" => query.key_condition_expression("code = :code"),
            prefix => query
                .key_condition_expression("code = :code AND begins_with(entry, :prefix)")
                .expression_attribute_values(":prefix", AttributeValue::S(prefix.to_owned())),
        };
        let mut all = Vec::new();
        let collect = |items: Vec<Item>| {
            all.extend(items);
            Ok(None::<()>)
        };
        self.read_pages(query, collect).await?;
        Ok(all)
    }

    /// Starts a query. It must be strongly consistent if a missing item would be a missing change.
    fn query_history(&self, code: &str) -> QueryFluentBuilder {
        self.client
            .query()
            .table_name(&self.tables.history)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .expression_attribute_values(":code", AttributeValue::S(code.to_owned()))
    }

    /// Reads pages of items until `find` returns something.
    async fn read_pages<T>(
        &self,
        query: QueryFluentBuilder,
        mut find: impl FnMut(Vec<Item>) -> Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let mut pages = query.into_paginator().send();
        while let Some(page) = pages.next().await {
            let page = page.map_err(StoreError::call("Query", &self.tables.history))?;
            metering::add_capacity(page.consumed_capacity());
            if let Some(found) = find(page.items.unwrap_or_default())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
