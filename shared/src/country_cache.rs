//! Other countries' ranges in memory, loaded when a request first asks about a country.

use std::time::Duration;

use logging::with_causes;
use moka::future::Cache;
use numbering::records::Version;
use store::{CountryData, DatasetError, LoadedCountry, Store};

use crate::errors::ApiError;

/// The maximum number of countries in memory. The largest takes 10 MB.
const MAX_COUNTRIES: u64 = 12;
/// The interval after a failed read.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The countries that requests have asked about.
#[derive(Clone)]
pub(crate) struct CountryCache {
    loaded: Cache<Version, LoadedCountry>,
    /// Countries that were unreadable a few seconds ago.
    unreadable: Cache<Version, ()>,
}

impl Default for CountryCache {
    fn default() -> Self {
        Self {
            loaded: Cache::new(MAX_COUNTRIES),
            unreadable: Cache::builder().time_to_live(RETRY_INTERVAL).build(),
        }
    }
}

impl CountryCache {
    /// Loads a country, or returns [`ApiError::Unreadable`] if its ranges are damaged.
    pub async fn get(
        &self,
        store: &Store,
        code: &str,
        data: &CountryData,
    ) -> Result<LoadedCountry, ApiError> {
        let version = &data.piece.version;
        if self.unreadable.contains_key(version) {
            return Err(ApiError::Unreadable);
        }
        let load = store.country(code, data);
        let error = match self.loaded.try_get_with_by_ref(version, load).await {
            // A later import of the same ranges changes only their source.
            Ok(country) => return Ok(LoadedCountry { data: data.clone(), ..country }),
            Err(error) => error,
        };
        let cause = with_causes(error.as_ref());
        tracing::error!(error = cause, country = code, "failed to read a country's ranges");
        if !matches!(*error, DatasetError::Unreadable { .. }) {
            return Err(ApiError::from_dataset_error(&error));
        }
        self.unreadable.insert(version.clone(), ()).await;
        Err(ApiError::Unreadable)
    }
}
