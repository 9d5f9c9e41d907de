//! Finds other countries' ranges for requests.

use std::sync::Arc;

use store::{Countries, CountryData, LoadedCountry, Manifest};

use crate::{
    errors::{ApiError, quote},
    lookup::{expired_version, record_version},
    pagination::VersionParam,
    state::App,
};

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
        let country = self.countries.get(&self.store, code, data).await?;
        record_version(&data.piece.version);
        Ok(country)
    }
}
