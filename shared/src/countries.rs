//! Other countries' ranges, loaded when a request first asks about a country.

use std::{sync::Arc, time::Duration};

use logging::with_causes;
use moka::future::Cache;
use numbering::records::Version;
use store::{Countries, CountryData, DatasetError, LoadedCountry, Manifest};

use crate::{
    errors::{ApiError, quote},
    lookup::{expired_version, record_version},
    pagination::VersionParam,
    state::App,
};

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

impl App {
    /// The manifest from the last read. It lists the version in use.
    pub(crate) async fn manifest(&self) -> Result<Arc<Manifest>, ApiError> {
        self.dataset.get().await?;
        let (_, manifest) = self.dataset.in_memory().ok_or(ApiError::Unavailable)?;
        Ok(manifest)
    }

    /// The imported countries.
    pub async fn countries(&self) -> Result<Countries, ApiError> {
        Ok(self.manifest().await?.countries.clone())
    }

    /// Loads the country with this ISO 3166-1 code for a list, in the requested version.
    pub async fn country_for_listing(
        &self,
        code: &str,
        version: &VersionParam,
    ) -> Result<LoadedCountry, ApiError> {
        let code = code.to_uppercase();
        let manifest = self.manifest().await?;
        let missing = || {
            ApiError::not_found(format!("No number ranges found for country '{}'", quote(&code)))
        };
        let data = manifest.countries.0.get(&code).ok_or_else(missing)?;
        if let Some(expired) = version.version.as_ref().filter(|it| data.piece.version != ***it) {
            return Err(expired_version(expired));
        }
        self.load_country(&code, data).await
    }

    /// Loads the country whose data may cover numbers with this calling code; `None` if it was not imported.
    pub async fn country_with_calling_code(
        &self,
        calling_code: i32,
    ) -> Result<Option<LoadedCountry>, ApiError> {
        match self.manifest().await?.countries.with_calling_code(calling_code) {
            Some((code, data)) => self.load_country(code, data).await.map(Some),
            None => Ok(None),
        }
    }

    /// Loads a country, or returns [`ApiError::Unreadable`] if its ranges are damaged.
    pub async fn load_country(
        &self,
        code: &str,
        data: &CountryData,
    ) -> Result<LoadedCountry, ApiError> {
        let CountryCache { loaded, unreadable } = &self.countries;
        let version = &data.piece.version;
        if unreadable.contains_key(version) {
            return Err(ApiError::Unreadable);
        }
        let load = self.store.country(code, data);
        let error = match loaded.try_get_with_by_ref(version, load).await {
            Ok(country) => {
                record_version(version);
                // A later import of the same ranges changes only their source.
                return Ok(LoadedCountry { data: data.clone(), ..country });
            }
            Err(error) => error,
        };
        let cause = with_causes(error.as_ref());
        tracing::error!(error = cause, country = code, "failed to read a country's ranges");
        if !matches!(*error, DatasetError::Unreadable { .. }) {
            return Err(ApiError::from_dataset_error(&error));
        }
        unreadable.insert(version.clone(), ()).await;
        Err(ApiError::Unreadable)
    }
}
