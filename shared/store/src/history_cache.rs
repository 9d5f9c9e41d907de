//! Keeps the last history in memory. It is read only for requests about the past.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;

use crate::{History, Publication, Store, StoreError};

/// The lifetime of a history in memory. Old differences end in the meantime, but their items remain for days.
const TTL: Duration = Duration::from_secs(60 * 60);

pub struct HistoryCache {
    store: Store,
    /// The history, and when it was read.
    cached: ArcSwapOption<(Arc<History>, Instant)>,
}

impl HistoryCache {
    pub fn new(store: Store) -> Self {
        Self { store, cached: ArcSwapOption::empty() }
    }

    /// The history that ends with `current`, which is in the manifest.
    pub async fn get(&self, current: &Publication) -> Result<Arc<History>, StoreError> {
        if let Some(cached) = self.cached.load_full()
            && cached.0.current() == current
            && cached.1.elapsed() < TTL
        {
            return Ok(Arc::clone(&cached.0));
        }
        let history = Arc::new(self.store.history(current, Timestamp::now()).await?);
        self.cached.store(Some(Arc::new((Arc::clone(&history), Instant::now()))));
        Ok(history)
    }
}
