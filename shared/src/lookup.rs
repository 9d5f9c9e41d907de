//! Reads single records from DynamoDB, with the snapshot in memory as the arbiter, and selects the
//! dataset that a page of a list is taken from.
//!
//! An item counts if it was written by the very version that last changed its record, as the
//! dataset in memory knows it. It then holds that record; whatever else is found, and if DynamoDB
//! fails, the dataset itself answers. So lookups and lists of a container always agree, whatever an
//! import is doing to the items meanwhile.

use crate::{errors::ApiError, pagination::OfVersion, params::broken, request_context, state::App};
use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn, RecordKey};
use store::LoadedVersion;
use store::{LookupItem, StoreError};

/// Whether an exchange that was read in the last minutes may be answered from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    Remembered,
    Fresh,
}

/// A record, and whether DynamoDB or the dataset in memory gave it.
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
    /// The dataset a page is taken from.
    ///
    /// # Errors
    /// 400 if the version asked for is no longer kept, 503 if there is nothing to answer from.
    pub async fn listed(&self, wanted: &OfVersion) -> Result<LoadedVersion, ApiError> {
        let listed = match &wanted.version {
            None => self.dataset.get().await?,
            Some(version) => {
                let kept = self.dataset.of_version(version).await?;
                let rule = "must be one that is still kept; begin again without it";
                kept.ok_or_else(|| broken("version", version, rule))?
            }
        };
        note_version(&listed);
        Ok(listed)
    }

    /// The lookups of one request.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] if no version of the data is in memory and none can be loaded.
    pub async fn lookups(&self) -> Result<Lookups<'_>, ApiError> {
        let current = self.dataset.get().await?;
        note_version(&current);
        Ok(Lookups { app: self, current })
    }
}

/// Looks single records up, all in one version of the data.
pub struct Lookups<'a> {
    app: &'a App,
    current: LoadedVersion,
}

impl Lookups<'_> {
    /// The carrier with this OCN.
    pub async fn carrier(&self, ocn: Ocn) -> Option<Carrier> {
        let find = |dataset: &Dataset| dataset.carrier(ocn).cloned();
        let read = self.app.store.carrier(ocn);
        self.look_up(RecordKey::Carrier(ocn), read, find).await.record()
    }

    /// The area code.
    pub async fn area_code(&self, npa: Npa) -> Option<AreaCode> {
        let find = |dataset: &Dataset| dataset.area_code(npa).cloned();
        let read = self.app.store.area_code(npa);
        self.look_up(RecordKey::AreaCode(npa), read, find).await.record()
    }

    /// The exchange with this NPA-NXX.
    pub async fn exchange(&self, npa_nxx: NpaNxx, freshness: Freshness) -> Option<Exchange> {
        let cache_key = (npa_nxx, self.current.version.clone());
        let remembered = match freshness {
            Freshness::Remembered => self.app.exchanges.get(&cache_key).await,
            Freshness::Fresh => None,
        };
        if remembered.is_some() {
            request_context::record(|context| context.cache_hits += 1);
            return remembered;
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

    /// The record of `key` as the version has it. A record it does not have costs no read.
    async fn look_up<R>(
        &self,
        key: RecordKey,
        read: impl Future<Output = Result<Option<LookupItem<R>>, StoreError>>,
        find: impl FnOnce(&Dataset) -> Option<R>,
    ) -> Found<R> {
        let dataset = &self.current.dataset;
        let Some(expected) = dataset.last_changed(key) else { return Found::InMemory(None) };
        match read.await {
            Ok(Some(item)) if item.version == *expected => return Found::Item(item.record),
            Ok(_) => (),
            Err(error) => tracing::error!(
                error = with_causes(&error),
                "answering from the snapshot in memory"
            ),
        }
        Found::InMemory(find(dataset))
    }
}

fn note_version(loaded: &LoadedVersion) {
    request_context::record(|context| context.data_version = Some(loaded.version.to_string()));
}
