//! Single records, each read as one item of the version in force, or while DynamoDB does not answer,
//! from the snapshot in memory; and the dataset that a page of a list comes from.

use crate::{
    app::App,
    dataset::{Dataset, ManifestReading, Versioned},
    errors::ApiError,
    pagination::OfVersion,
    params::broken,
    records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn},
    store::{Seen, StoreError},
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
        let read = |sequence| self.store.carrier(ocn, sequence);
        self.look_up(read, |dataset| dataset.carrier(ocn).cloned()).await.map(|(_, found)| found)
    }

    /// The area code.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] where neither DynamoDB nor memory can tell.
    pub async fn area_code(&self, npa: Npa) -> Result<Option<AreaCode>, ApiError> {
        let read = |sequence| self.store.area_code(npa, sequence);
        self.look_up(read, |dataset| dataset.area_code(npa).cloned()).await.map(|(_, found)| found)
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
        let read = |sequence| self.store.exchange(npa_nxx, sequence);
        let (sequence, exchange) = self.look_up(read, |dataset| dataset.exchange(npa_nxx)).await?;
        if let Some(sequence) = sequence {
            self.exchanges.insert((npa_nxx, sequence), exchange.clone()).await;
        }
        Ok(exchange)
    }

    async fn sequence(&self) -> Result<u64, ApiError> {
        let manifest = self.dataset.manifest().await?;
        telemetry::note(|facts| facts.data_version = Some(manifest.current.version.clone()));
        Ok(manifest.sequence)
    }

    /// Reads a record, and where there is none, whether a newer publication is in force: an item that
    /// went with the flip must not be missed while lists still show it. Also gives the publication
    /// the record is of; `None` where memory had to answer.
    async fn look_up<R, F>(
        &self,
        read: impl Fn(u64) -> F,
        find: impl FnOnce(&Dataset) -> Option<R>,
    ) -> Result<(Option<u64>, Option<R>), ApiError>
    where
        F: Future<Output = Result<Seen<R>, StoreError>>,
    {
        let sequence = self.sequence().await?;
        let error = match read(sequence).await {
            Ok(Seen::Record(record)) => return Ok((Some(sequence), record)),
            Ok(Seen::Nothing) => match self.dataset.read_manifest().await {
                ManifestReading::Fresh(Some(newer)) if newer.sequence != sequence => {
                    match read(newer.sequence).await {
                        Ok(Seen::Record(record)) => return Ok((Some(newer.sequence), record)),
                        Ok(Seen::Nothing) => return Ok((Some(newer.sequence), None)),
                        Err(error) => error,
                    }
                }
                _ => return Ok((Some(sequence), None)),
            },
            Err(error) => error,
        };
        match self.dataset.in_memory() {
            Some(dataset) => {
                tracing::error!(%error, "answering from the snapshot in memory");
                Ok((None, find(&dataset)))
            }
            None => Err(error.into()),
        }
    }
}
