//! Single records, each read as one item of the version in force, or while DynamoDB does not answer,
//! from the snapshot in memory; and the dataset that a page of a list comes from.

use crate::{
    app::App,
    dataset::{Dataset, Versioned},
    errors::ApiError,
    pagination::OfVersion,
    params::broken,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn},
    store::StoreError,
    telemetry,
};

/// Whether an exchange that was read in the last minutes may be answered from memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    Remembered,
    Fresh,
}

impl App {
    /// The dataset a page is taken from.
    ///
    /// # Errors
    /// 400 where `version` is not kept any longer, 503 where there is nothing to answer from.
    pub async fn listed(&self, wanted: &OfVersion) -> Result<Versioned, ApiError> {
        let gone = |version| {
            broken("version", version, "must be one that is still kept; begin again without it")
        };
        let listed = match &wanted.version {
            None => self.dataset.get().await?,
            Some(version) => {
                let kept = self.dataset.of_version(version).await?;
                kept.ok_or_else(|| gone(version))?
            }
        };
        telemetry::note(|facts| facts.data_version = Some(listed.0.clone()));
        Ok(listed)
    }

    /// The carrier with this OCN.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] where neither DynamoDB nor memory can tell.
    pub async fn carrier(&self, ocn: Ocn) -> Result<Option<Carrier>, ApiError> {
        let read = self.store.carrier(ocn, self.sequence().await?).await;
        self.or_from_memory(read, |dataset| dataset.carrier(ocn).cloned())
    }

    /// The area code.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] where neither DynamoDB nor memory can tell.
    pub async fn area_code(&self, npa: Npa) -> Result<Option<AreaCode>, ApiError> {
        let read = self.store.area_code(npa, self.sequence().await?).await;
        self.or_from_memory(read, |dataset| dataset.area_code(npa).cloned())
    }

    /// The exchange with this NPA-NXX.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] where neither DynamoDB nor memory can tell.
    pub async fn exchange(
        &self,
        npa_nxx: NpaNxx,
        freshness: Freshness,
    ) -> Result<Option<Exchange>, ApiError> {
        let sequence = self.sequence().await?;
        let remembered = match freshness {
            Freshness::Remembered => self.exchanges.get(&(npa_nxx, sequence)).await,
            Freshness::Fresh => None,
        };
        if let Some(exchange) = remembered {
            telemetry::note(|facts| facts.cache_hits += 1);
            return Ok(exchange);
        }
        telemetry::note(|facts| facts.cache_misses += 1);
        let read = self.store.exchange(npa_nxx, sequence).await;
        if let Ok(exchange) = &read {
            self.exchanges.insert((npa_nxx, sequence), exchange.clone()).await;
        }
        self.or_from_memory(read, |dataset| dataset.exchange(npa_nxx))
    }

    async fn sequence(&self) -> Result<u64, ApiError> {
        let manifest = self.dataset.manifest().await?;
        telemetry::note(|facts| facts.data_version = Some(manifest.current.version.clone()));
        Ok(manifest.sequence)
    }

    fn or_from_memory<R>(
        &self,
        read: Result<Option<R>, StoreError>,
        find: impl FnOnce(&Dataset) -> Option<R>,
    ) -> Result<Option<R>, ApiError> {
        match (read, self.dataset.in_memory()) {
            (Ok(record), _) => Ok(record),
            (Err(error), Some(dataset)) => {
                tracing::error!(%error, "answering from the snapshot in memory");
                Ok(find(&dataset))
            }
            (Err(error), None) => Err(error.into()),
        }
    }
}
