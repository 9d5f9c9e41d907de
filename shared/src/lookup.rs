//! Looks up single records in DynamoDB, and selects the dataset for a page of a list.
//!
//! The in-memory dataset records which version last changed each record. An item is used only if it was written by
//! that version. Otherwise, or if DynamoDB fails, the record comes from the dataset. So a container's lookups always
//! agree with its lists, even while an import is changing items.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use futures_util::future::join_all;
use logging::with_causes;
use numbering::dataset::Dataset;
use numbering::records::{Carrier, Exchange, NpaNxx, Ocn, RecordKey, Version};
use store::{LoadedVersion, LookupItem, READS_PER_BATCH, StoreError, Table};

use crate::{
    errors::{ApiError, quote},
    pagination::VersionParam,
    request_context,
    state::App,
};

/// The cache policy for a lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    Cached,
    Fresh,
}

impl App {
    pub async fn dataset_for_listing(
        &self,
        param: &VersionParam,
    ) -> Result<LoadedVersion, ApiError> {
        let loaded = match &param.version {
            None => self.dataset.get().await?,
            Some(version) => {
                let loaded = self.dataset.version(version).await?;
                loaded.ok_or_else(|| expired_version(version))?
            }
        };
        record_version(&loaded.version);
        Ok(loaded)
    }

    pub async fn lookups(&self) -> Result<Lookups<'_>, ApiError> {
        let current = self.dataset.get().await?;
        record_version(&current.version);
        Ok(Lookups { app: self, current })
    }
}

pub(crate) fn expired_version(version: &str) -> ApiError {
    let message = format!(
        "version '{}' is no longer available; restart pagination without the version parameter",
        quote(version)
    );
    ApiError::invalid_param("version", message)
}

/// Looks up records in one version of the data.
pub struct Lookups<'a> {
    app: &'a App,
    current: LoadedVersion,
}

impl Lookups<'_> {
    /// The version that these lookups return. Area codes come from it, so that looking up an exchange takes one read.
    pub fn dataset(&self) -> &Dataset {
        &self.current.dataset
    }

    pub fn into_dataset(self) -> Arc<Dataset> {
        self.current.dataset
    }

    /// Finds a carrier. Does not call DynamoDB if the carrier is not in the dataset.
    pub async fn carrier(&self, ocn: Ocn) -> Option<Carrier> {
        let Self { app: App { store, .. }, current: LoadedVersion { dataset, .. } } = self;
        let expected = dataset.last_changed(RecordKey::Carrier(ocn))?;
        let read = store.read_briefly(Table::Carriers, store.carrier(ocn)).await;
        match log_failure(read).flatten() {
            Some(item) if item.version == expected => Some(item.record),
            _ => dataset.carrier(ocn),
        }
    }

    pub async fn exchange(&self, npa_nxx: NpaNxx, freshness: Freshness) -> Option<Exchange> {
        self.exchanges(&[npa_nxx].into(), freshness).await.remove(&npa_nxx)
    }

    /// Finds exchanges. Leaves out unknown ones. Reads in batches, all of them concurrently.
    pub async fn exchanges(
        &self,
        npa_nxxs: &BTreeSet<NpaNxx>,
        freshness: Freshness,
    ) -> HashMap<NpaNxx, Exchange> {
        let cache_key = |npa_nxx| (npa_nxx, self.current.version.clone());
        let mut found = HashMap::new();
        let mut missed = Vec::new();
        for &npa_nxx in npa_nxxs {
            let cached = match freshness {
                Freshness::Cached => self.app.exchanges.get(&cache_key(npa_nxx)).await,
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
        let dataset = &self.current.dataset;
        missed.retain(|npa_nxx| dataset.last_changed(RecordKey::Exchange(*npa_nxx)).is_some());
        let mut items = self.read_items(&missed).await;
        for npa_nxx in missed {
            let expected = dataset.last_changed(RecordKey::Exchange(npa_nxx));
            let item =
                items.remove(&npa_nxx).filter(|item| Some(&item.version) == expected.as_ref());
            if let Some(LookupItem { record, .. }) = item {
                self.app.exchanges.insert(cache_key(npa_nxx), record.clone()).await;
                found.insert(npa_nxx, record);
            } else if let Some(exchange) = dataset.exchange(npa_nxx) {
                found.insert(npa_nxx, exchange);
            }
        }
        found
    }

    /// Reads the items of exchanges. Functions without a batch endpoint lack permission for batch reads, so a
    /// single item is read with `GetItem`.
    async fn read_items(&self, npa_nxxs: &[NpaNxx]) -> HashMap<NpaNxx, LookupItem<Exchange>> {
        let store = &self.app.store;
        if let [only] = *npa_nxxs {
            let read = store.read_briefly(Table::Exchanges, store.exchange(only)).await;
            return log_failure(read).flatten().map(|item| (only, item)).into_iter().collect();
        }
        let read = |batch| store.read_briefly(Table::Exchanges, store.exchanges(batch));
        let reads = join_all(npa_nxxs.chunks(READS_PER_BATCH).map(read)).await;
        reads.into_iter().filter_map(log_failure).flatten().collect()
    }
}

/// Returns a read's value, or logs its error.
fn log_failure<T>(read: Result<T, StoreError>) -> Option<T> {
    let log = |error: &StoreError| {
        let error = with_causes(error);
        tracing::warn!(error, "failed to read an item; using the in-memory dataset");
    };
    read.inspect_err(log).ok()
}

pub(crate) fn record_version(version: &Version) {
    request_context::record(|context| context.data_version = Some(version.to_string()));
}
