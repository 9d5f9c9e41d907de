//! What every handler can reach.

use std::{env, sync::Arc, time::Duration};

use moka::future::Cache;
use numbering::records::{Exchange, NpaNxx, Version};
use store::{CurrentDataset, Store};

use crate::{auth::KeyRing, quota::Quotas};

/// Time to live of a cached exchange.
const EXCHANGES_REMEMBERED_FOR: Duration = Duration::from_secs(300);
const MOST_EXCHANGES_IN_MEMORY: u64 = 10_000;
/// Where flag images are looked for unless `FLAGS_BASE_URL` says otherwise.
const DEFAULT_FLAGS_BASE_URL: &str = "https://flags.example.com";

/// What every handler can reach. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub dataset: Arc<CurrentDataset>,
    pub keys: Arc<KeyRing>,
    pub quotas: Arc<Quotas>,
    /// Where the flag images are hosted, without a slash at the end.
    pub flags_base_url: Arc<str>,
    /// Recently read exchanges, by NPA-NXX and version of the data.
    pub(crate) exchanges: Cache<(NpaNxx, Version), Exchange>,
}

impl App {
    /// An app on `store`, the rest as the environment says.
    pub fn on(store: Store) -> Self {
        let flags =
            env::var("FLAGS_BASE_URL").unwrap_or_else(|_| DEFAULT_FLAGS_BASE_URL.to_owned());
        let exchanges = Cache::builder()
            .max_capacity(MOST_EXCHANGES_IN_MEMORY)
            .time_to_live(EXCHANGES_REMEMBERED_FOR);
        Self {
            dataset: Arc::new(CurrentDataset::new(store.clone())),
            keys: Arc::new(KeyRing::new(store.clone())),
            quotas: Arc::new(Quotas::new(store.clone())),
            flags_base_url: flags.trim_end_matches('/').into(),
            exchanges: exchanges.build(),
            store,
        }
    }
}
