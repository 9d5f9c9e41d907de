//! State shared by all handlers.

use std::{sync::Arc, time::Duration};

use moka::future::Cache;
use numbering::records::{Exchange, NpaNxx, Version};
use store::{CurrentDataset, HistoryCache, Store};

use crate::{
    auth::KeyRing, body::BodyBudget, config::Config, country_cache::CountryCache, export::Exporter,
    heavy_work::HeavyWork, quota::Quotas, telemetry::Observer,
};

const EXCHANGE_CACHE_TTL: Duration = Duration::from_secs(300);
const EXCHANGE_CACHE_SIZE: u64 = 10_000;

/// State shared by all handlers. Cheap to clone.
#[derive(Clone)]
pub struct App {
    pub store: Store,
    pub dataset: Arc<CurrentDataset>,
    pub keys: Arc<KeyRing>,
    pub quotas: Arc<Quotas>,
    pub config: Config,
    pub heavy_work: HeavyWork,
    pub bodies: BodyBudget,
    /// Called with each request after its response, in addition to the access log.
    pub observer: Option<Observer>,
    /// Spans for OpenTelemetry.
    pub exporter: Arc<Exporter>,
    pub history_cache: Arc<HistoryCache>,
    pub(crate) countries: CountryCache,
    /// Recently read exchanges.
    pub(crate) exchanges: Cache<(NpaNxx, Version), Exchange>,
}

impl App {
    pub fn new(store: Store, config: Config) -> Self {
        let exchange_cache =
            Cache::builder().max_capacity(EXCHANGE_CACHE_SIZE).time_to_live(EXCHANGE_CACHE_TTL);
        Self {
            dataset: Arc::new(CurrentDataset::new(store.clone())),
            keys: Arc::new(KeyRing::new(store.clone())),
            quotas: Arc::new(Quotas::new(store.clone())),
            config,
            heavy_work: HeavyWork::default(),
            bodies: BodyBudget::default(),
            observer: None,
            exporter: Arc::default(),
            countries: CountryCache::default(),
            history_cache: Arc::new(HistoryCache::new(store.clone())),
            exchanges: exchange_cache.build(),
            store,
        }
    }

    /// Creates an app with default settings.
    pub fn with_store(store: Store) -> Self {
        Self::new(store, Config::default())
    }
}
