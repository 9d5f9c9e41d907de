//! The state that all handlers share.

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

/// The time to live of a cached exchange.
const EXCHANGE_CACHE_TIME: Duration = Duration::from_secs(300);
const EXCHANGE_CACHE_SIZE: u64 = 10_000;
/// Whose pages may read responses if `CORS_ORIGINS` is not set: anybody's, since a page has to have
/// a key anyway.
const DEFAULT_ORIGINS: &str = "*";

/// The state that all handlers share. It is cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub dataset: Arc<CurrentDataset>,
    pub keys: Arc<KeyRing>,
    pub quotas: Arc<Quotas>,
    /// The host of flag images, to which responses link.
    pub flag_images: FlagImages,
    /// The origins whose pages may read responses in a browser.
    pub allowed_origins: AllowedOrigins,
    /// Observer of answered requests, besides the access log.
    pub observer: Option<Observer>,
    /// Secrets of which a request from API Gateway must have one, if there are any.
    pub origin_secrets: OriginSecrets,
    /// Recently read exchanges, by NPA-NXX and version of the data.
    pub(crate) exchanges: Cache<(NpaNxx, Version), Exchange>,
}

impl App {
    /// An app that reads from `store`. Its other settings come from the environment.
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

/// The environment variable `name`, or else `default`.
fn setting(name: &str, default: &str) -> String {
    env::var(name).unwrap_or_else(|_| default.to_owned())
}
