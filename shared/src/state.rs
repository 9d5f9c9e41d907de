//! State shared by all handlers.

use std::{env, sync::Arc, time::Duration};

use moka::future::Cache;
use numbering::records::{Exchange, NpaNxx, Version};
use store::{CurrentDataset, Store};

use crate::{
    auth::{KeyRing, OriginSecrets},
    flag_images::FlagImages,
    http::AllowedOrigins,
    quota::Quotas,
    telemetry::Observer,
};

/// Cache lifetime of an exchange.
const EXCHANGE_CACHE_TIME: Duration = Duration::from_secs(300);
const EXCHANGE_CACHE_SIZE: u64 = 10_000;
/// The default origins whose pages may read responses: all, since a page needs a key anyway.
const DEFAULT_ORIGINS: &str = "*";

/// State shared by all handlers. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub dataset: Arc<CurrentDataset>,
    pub keys: Arc<KeyRing>,
    pub quotas: Arc<Quotas>,
    /// The host of the flag images that responses link to.
    pub flag_images: FlagImages,
    /// The origins whose pages may read responses in a browser.
    pub allowed_origins: AllowedOrigins,
    /// Observer of answered requests, in addition to the access log.
    pub observer: Option<Observer>,
    /// The secrets that requests from API Gateway must carry, if any.
    pub origin_secrets: OriginSecrets,
    /// Recently read exchanges, by NPA-NXX and data version.
    pub(crate) exchanges: Cache<(NpaNxx, Version), Exchange>,
}

impl App {
    /// Creates an app that reads from `store`. Its other settings come from the environment.
    pub fn on(store: Store) -> Self {
        let exchange_cache =
            Cache::builder().max_capacity(EXCHANGE_CACHE_SIZE).time_to_live(EXCHANGE_CACHE_TIME);
        let flag_images = FlagImages::from_env().unwrap_or_else(|error| {
            tracing::error!(%error, "the service links to its own images of flags");
            FlagImages::Own
        });
        Self {
            dataset: Arc::new(CurrentDataset::new(store.clone())),
            keys: Arc::new(KeyRing::new(store.clone())),
            quotas: Arc::new(Quotas::new(store.clone())),
            flag_images,
            allowed_origins: AllowedOrigins::parse(&setting("CORS_ORIGINS", DEFAULT_ORIGINS)),
            observer: None,
            origin_secrets: OriginSecrets::parse(&setting("ORIGIN_SECRET", "")),
            exchanges: exchange_cache.build(),
            store,
        }
    }
}

/// The value of environment variable `name`, or `default`.
fn setting(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}
