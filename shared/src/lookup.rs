//! Reads single records from DynamoDB, checked against the dataset in memory, and selects the
//! dataset that a page of a list is taken from.
//!
//! The dataset names the version that last changed each record. An item is used only if it was
//! written by this version, since it then holds the same record. In any other case, and if DynamoDB
//! fails, the record comes from the dataset. So the lookups and lists of a container always agree,
//! even while an import is changing items.

use std::collections::{BTreeSet, HashMap};

use futures_util::future::join_all;
use logging::with_causes;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn, RecordKey},
};
use store::{LoadedVersion, LookupItem, READS_PER_BATCH, StoreError, Table};

use crate::{
    errors::{ApiError, quote},
    pagination::VersionParam,
    request_context,
    state::App,
};

/// Whether an exchange may be answered from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The exchange may have been read some minutes ago.
    Cached,
    /// The exchange is read now.
    Fresh,
}

/// A record, and whether an item or the dataset in memory has it.
enum Found<R> {
    Item(R),
    InMemory(Option<R>),
}

impl<R> Found<R> {
    fn record(self) -> Option<R> {
        match self {
            Self::Item(record) => Some(record),
            Self::InMemory(record) => record,
        }
    }
}

impl App {
    /// The dataset that a page is taken from.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`] if the version is no longer available, and
    /// [`ApiError::Unavailable`] if no dataset is in memory and none can be loaded.
    pub async fn dataset_for_listing(
        &self,
        param: &VersionParam,
    ) -> Result<LoadedVersion, ApiError> {
        let loaded = match &param.version {
            None => self.dataset.get().await?,
            Some(version) => {
                self.dataset.of_version(version).await?.ok_or_else(|| version_is_gone(version))?
            }
        };
        record_version(&loaded);
        Ok(loaded)
    }

    /// The lookups of one request.
    ///
    /// # Errors
    /// Returns [`ApiError::Unavailable`] if no dataset is in memory and none can be loaded.
    pub async fn lookups(&self) -> Result<Lookups<'_>, ApiError> {
        let current = self.dataset.get().await?;
        record_version(&current);
        Ok(Lookups { app: self, current })
    }
}

/// Looks up single records, all in the same version of the data.
pub struct Lookups<'a> {
    app: &'a App,
    current: LoadedVersion,
}

impl Lookups<'_> {
    /// The carrier with this OCN.
    pub async fn carrier(&self, ocn: Ocn) -> Option<Carrier> {
        let find = |dataset: &Dataset| dataset.carrier(ocn);
        let store = &self.app.store;
        let read = store.briefly(Table::Carriers, store.carrier(ocn));
        self.look_up(RecordKey::Carrier(ocn), read, find).await.record()
    }

    /// The area code with this NPA, from the dataset in memory, so that an exchange with its area
    /// code costs one read.
    pub fn area_code(&self, npa: Npa) -> Option<AreaCode> {
        self.current.dataset.area_code(npa)
    }

    /// The exchange with this NPA-NXX.
    pub async fn exchange(&self, npa_nxx: NpaNxx, freshness: Freshness) -> Option<Exchange> {
        let cache_key = (npa_nxx, self.current.version.clone());
        if freshness == Freshness::Cached
            && let Some(exchange) = self.app.exchanges.get(&cache_key).await
        {
            request_context::record(|context| context.cache_hits += 1);
            return Some(exchange);
        }
        request_context::record(|context| context.cache_misses += 1);
        let find = |dataset: &Dataset| dataset.exchange(npa_nxx);
        let store = &self.app.store;
        let read = store.briefly(Table::Exchanges, store.exchange(npa_nxx));
        match self.look_up(RecordKey::Exchange(npa_nxx), read, find).await {
            Found::Item(exchange) => {
                self.app.exchanges.insert(cache_key, exchange.clone()).await;
                Some(exchange)
            }
            Found::InMemory(exchange) => exchange,
        }
    }

    /// The exchanges with these NPA-NXXs, each as [`Self::exchange`] would answer it. Exchanges that are
    /// not in the data are left out. Those to read are read in batches, all batches at the same time.
    pub async fn exchanges(
        &self,
        npa_nxxs: &BTreeSet<NpaNxx>,
        freshness: Freshness,
    ) -> HashMap<NpaNxx, Exchange> {
        let mut found = HashMap::new();
        let mut missed = Vec::new();
        for &npa_nxx in npa_nxxs {
            let cache_key = (npa_nxx, self.current.version.clone());
            let cached = match freshness {
                Freshness::Cached => self.app.exchanges.get(&cache_key).await,
                Freshness::Fresh => None,
            };
            match cached {
                Some(exchange) => _ = found.insert(npa_nxx, exchange),
                None => missed.push(npa_nxx),
            }
        }
        request_context::record(|context| {
            context.cache_hits += found.len() as u32;
            context.cache_misses += missed.len() as u32;
        });
        // If the dataset has no such record, no item is read.
        let dataset = &self.current.dataset;
        missed.retain(|npa_nxx| dataset.last_changed(RecordKey::Exchange(*npa_nxx)).is_some());
        let mut items = self.items_of(&missed).await;
        for npa_nxx in missed {
            let expected = dataset.last_changed(RecordKey::Exchange(npa_nxx));
            let item =
                items.remove(&npa_nxx).filter(|item| Some(&item.version) == expected.as_ref());
            if let Some(LookupItem { record, .. }) = item {
                let cache_key = (npa_nxx, self.current.version.clone());
                self.app.exchanges.insert(cache_key, record.clone()).await;
                found.insert(npa_nxx, record);
            } else if let Some(exchange) = dataset.exchange(npa_nxx) {
                found.insert(npa_nxx, exchange);
            }
        }
        found
    }

    /// The items of these exchanges, without those of the batches that cannot be read.
    async fn items_of(&self, npa_nxxs: &[NpaNxx]) -> HashMap<NpaNxx, LookupItem<Exchange>> {
        let store = &self.app.store;
        let batches = npa_nxxs
            .chunks(READS_PER_BATCH)
            .map(|batch| store.briefly(Table::Exchanges, store.exchanges(batch)));
        let mut items = HashMap::new();
        let mut failure = None;
        for batch in join_all(batches).await {
            match batch {
                Ok(read) => items.extend(read),
                Err(error) if error.is_left_alone() => (),
                Err(error) => failure = Some(error),
            }
        }
        if let Some(error) = failure {
            warn_of_unread(&error);
        }
        items
    }

    /// The record of `key` in this version. If the dataset has no such record, no item is read.
    async fn look_up<R>(
        &self,
        key: RecordKey,
        read: impl Future<Output = Result<Option<LookupItem<R>>, StoreError>>,
        find: impl FnOnce(&Dataset) -> Option<R>,
    ) -> Found<R> {
        let dataset = &self.current.dataset;
        let Some(expected) = dataset.last_changed(key) else { return Found::InMemory(None) };
        match read.await {
            Ok(Some(item)) if item.version == expected => return Found::Item(item.record),
            Ok(_) => (),
            Err(error) if error.is_left_alone() => (),
            Err(error) => warn_of_unread(&error),
        }
        Found::InMemory(find(dataset))
    }
}

fn warn_of_unread(error: &StoreError) {
    tracing::warn!(
        error = with_causes(error),
        "an item cannot be read; answering from the dataset in memory"
    );
}

fn version_is_gone(version: &str) -> ApiError {
    ApiError::InvalidRequest(format!(
        "version '{}' is no longer available; restart pagination without the version parameter",
        quote(version)
    ))
}

fn record_version(loaded: &LoadedVersion) {
    request_context::record(|context| context.data_version = Some(loaded.version.to_string()));
}
