//! A container that serves one version of the data.

use futures_util::future::join_all;
use numbering::records::{Exchange, NpaNxx, Ocn};
use proptest::{prop_assert, prop_assert_eq, test_runner::TestCaseError};
use serde_json::Value;
use shared::{app, lookup::Freshness, state::App};
use store::{DatasetError, LoadedVersion, Store};

use crate::support::function_calls::get;

use super::files::{FILE_SETS, NXXS, OCNS, exchanges};

/// The app of the container.
pub struct Reader {
    app: App,
}

impl Reader {
    /// A container with nothing in memory.
    pub fn new(store: &Store) -> Self {
        Self { app: App::with_store(store.clone()) }
    }

    /// The version that it serves; `None` if no version is readable.
    pub async fn version(&self) -> Result<Option<LoadedVersion>, TestCaseError> {
        use DatasetError::{Empty, NoneReadable, StillUnreadable};
        match self.app.dataset.get().await {
            Ok(loaded) => Ok(Some(loaded)),
            Err(Empty | NoneReadable { .. } | StillUnreadable) => Ok(None),
            Err(error) => Err(TestCaseError::fail(format!("no version to read: {error}"))),
        }
    }

    /// The file set that matches the exchanges of its version.
    pub async fn file_set(&self) -> Option<usize> {
        let loaded = self.version().await.ok()??;
        let served = loaded.dataset.exchanges_in("415".parse().unwrap());
        let served: Vec<String> = served.map(|exchange| describe(&exchange)).collect();
        (0..FILE_SETS).find(|&set| exchanges(set) == served)
    }

    /// Asserts that each lookup of a carrier or exchange matches the lists in its version.
    pub async fn check(&self) -> Result<(), TestCaseError> {
        let Some(loaded) = self.version().await? else { return Ok(()) };
        prop_assert!(self.file_set().await.is_some(), "the version matches no file set");
        let (dataset, lookups) = (&loaded.dataset, &self.app.lookups().await.unwrap());
        let carriers = OCNS.map(|ocn| ocn.parse::<Ocn>().unwrap());
        let found = join_all(carriers.map(|ocn| lookups.carrier(ocn))).await;
        for (ocn, found) in carriers.into_iter().zip(found) {
            prop_assert_eq!(found, dataset.carrier(ocn), "{}", ocn);
        }
        let exchanges = NXXS.map(|nxx| format!("415-{nxx}").parse::<NpaNxx>().unwrap());
        let found =
            join_all(exchanges.map(|npa_nxx| lookups.exchange(npa_nxx, Freshness::Fresh))).await;
        for (npa_nxx, found) in exchanges.into_iter().zip(found) {
            prop_assert_eq!(found, dataset.exchange(npa_nxx), "{}", npa_nxx);
        }
        Ok(())
    }

    /// The service status in `/health`.
    pub async fn health(&self) -> Value {
        let api = app::service([status::routes()], self.app.clone());
        get(&api, "/health").await.1["status"].take()
    }
}

fn describe(exchange: &Exchange) -> String {
    let ocn = exchange.ocn.map_or(String::new(), |ocn| ocn.to_string());
    let company = exchange.company_name.as_deref().unwrap_or_default();
    let rate_center = exchange.rate_center.as_deref().unwrap_or_default();
    format!("{},{ocn},{company},{rate_center}", exchange.nxx)
}
