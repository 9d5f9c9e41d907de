//! Reads single records from DynamoDB, checked against the dataset in memory, and selects the
//! dataset that a page of a list is taken from.
//!
//! The dataset names the version that last changed each record. An item is used only if it was
//! written by this version, since it then holds the same record. In any other case, and if DynamoDB
//! fails, the record comes from the dataset. So the lookups and lists of a container always agree,
//! even while an import is changing items.

use logging::with_causes;
use numbering::{
    dataset::Dataset,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn, RecordKey},
};
use store::{LoadedVersion, LookupItem, StoreError};

use crate::{
    errors::ApiError, pagination::VersionParam, params::quote, request_context, state::App,
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
        let read = self.app.store.carrier(ocn);
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
        let read = self.app.store.exchange(npa_nxx);
        match self.look_up(RecordKey::Exchange(npa_nxx), read, find).await {
            Found::Item(exchange) => {
                self.app.exchanges.insert(cache_key, exchange.clone()).await;
                Some(exchange)
            }
            Found::InMemory(exchange) => exchange,
        }
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
            Err(error) => tracing::warn!(
                error = with_causes(&error),
                "an item cannot be read; answering from the dataset in memory"
            ),
        }
        Found::InMemory(find(dataset))
    }
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
