//! A container that serves one version of the data.

use axum::Router;
use futures_util::future::join_all;
use numbering::records::{AreaCode, Carrier, Exchange, Npa, NpaNxx, Ocn};
use proptest::{prop_assert, prop_assert_eq, test_runner::TestCaseError};
use serde_json::Value;
use shared::{lookup::Freshness, state::App};
use store::{DatasetError, LoadedVersion, Store};

use crate::support::in_process::{api, get};

use super::files::{FILE_SETS, NPAS, NXXS, OCNS, exchanges};

/// The container: its app, and the API on it.
pub struct Reader {
    app: App,
    /// The API functions on the same app.
    service: Router,
}

impl Reader {
    /// A container with nothing in memory.
    pub fn new(store: &Store) -> Self {
        let app = App::with_store(store.clone());
        let service = api(app.clone());
        Self { app, service }
    }

    /// The version it serves; `None` if no version is readable.
    pub async fn version(&self) -> Result<Option<LoadedVersion>, TestCaseError> {
        use DatasetError::{Empty, NoneReadable, StillUnreadable};
        match self.app.dataset.get().await {
            Ok(loaded) => Ok(Some(loaded)),
            Err(Empty | NoneReadable { .. } | StillUnreadable) => Ok(None),
            Err(error) => Err(TestCaseError::fail(format!("no version to read: {error}"))),
        }
    }

    /// The file set that matches its version's exchanges.
    pub async fn file_set(&self) -> Option<usize> {
        let loaded = self.version().await.ok()??;
        let served = loaded.dataset.exchanges_in("415".parse().unwrap());
        let served: Vec<String> = served.map(|exchange| describe(&exchange)).collect();
        (0..FILE_SETS).find(|&set| exchanges(set) == served)
    }

    /// Asserts that each lookup matches the lists of its version.
    pub async fn check(&self) -> Result<(), TestCaseError> {
        let Some(loaded) = self.version().await? else { return Ok(()) };
        prop_assert!(self.file_set().await.is_some(), "the version matches no file set");
        let dataset = &loaded.dataset;
        let lookups = &self.app.lookups().await.unwrap();
        for npa in NPAS {
            let npa: Npa = npa.parse().unwrap();
            let found: Option<AreaCode> = lookups.area_code(npa);
            prop_assert_eq!(found, dataset.area_code(npa), "{}", npa);
        }
        let carriers = join_all(OCNS.map(|ocn| async move {
            let ocn: Ocn = ocn.parse().unwrap();
            (ocn, lookups.carrier(ocn).await)
        }));
        for (ocn, found) in carriers.await {
            let found: Option<Carrier> = found;
            prop_assert_eq!(found, dataset.carrier(ocn), "{}", ocn);
        }
        let exchanges = join_all(NXXS.map(|nxx| async move {
            let npa_nxx: NpaNxx = format!("415-{nxx}").parse().unwrap();
            let found = lookups.exchange(npa_nxx, Freshness::Fresh).await;
            (npa_nxx, found, self.format(npa_nxx).await)
        }));
        for (npa_nxx, found, format) in exchanges.await {
            let listed = dataset.exchange(npa_nxx);
            prop_assert_eq!(&found, &listed, "{}", npa_nxx);
            let rate_center = listed.as_ref().and_then(|exchange| exchange.rate_center.as_deref());
            prop_assert_eq!(format["location"]["rateCenter"].as_str(), rate_center, "{}", npa_nxx);
            let ocn = listed.as_ref().and_then(|it| it.ocn).map(|ocn| ocn.to_string());
            prop_assert_eq!(format["carrier"]["ocn"].as_str(), ocn.as_deref(), "{}", npa_nxx);
        }
        Ok(())
    }

    /// The service status in `/health`.
    pub async fn health(&self) -> Value {
        get(&self.service, "/health").await.1["status"].take()
    }

    /// The `/v1/format` response for a number in the exchange.
    async fn format(&self, npa_nxx: NpaNxx) -> Value {
        let NpaNxx { npa, nxx } = npa_nxx;
        get(&self.service, &format!("/v1/format/+1{npa}{nxx}4567?cache=false")).await.1
    }
}

fn describe(exchange: &Exchange) -> String {
    let ocn = exchange.ocn.map_or(String::new(), |ocn| ocn.to_string());
    let company = exchange.company_name.as_deref().unwrap_or_default();
    let rate_center = exchange.rate_center.as_deref().unwrap_or_default();
    format!("{},{ocn},{company},{rate_center}", exchange.nxx)
}
