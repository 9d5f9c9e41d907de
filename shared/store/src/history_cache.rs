//! Keeps the last history in memory. It is read only for requests about the past.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use tokio::sync::Mutex;

use crate::{History, Manifest, Store, StoreError};

/// The lifetime of a history in memory. Old differences end in the meantime, but their items remain for days.
const TTL: Duration = Duration::from_hours(1);

/// The lifetime of a history with a gap, which may be repaired.
const TTL_WITH_GAP: Duration = Duration::from_secs(5);

pub struct HistoryCache {
    store: Store,
    /// The history, and when it was read.
    cached: ArcSwapOption<(Arc<History>, Instant)>,
    /// Locked by the request that reads the history. Others wait for it.
    reading: Mutex<()>,
}

impl HistoryCache {
    pub fn new(store: Store) -> Self {
        Self { store, cached: ArcSwapOption::empty(), reading: Mutex::default() }
    }

    /// The history that ends with the manifest's publication.
    pub async fn get(&self, manifest: &Manifest) -> Result<Arc<History>, StoreError> {
        if let Some(cached) = self.find(manifest) {
            return Ok(cached);
        }
        let _reading = self.reading.lock().await;
        if let Some(cached) = self.find(manifest) {
            return Ok(cached);
        }
        let history = Arc::new(self.store.history(manifest, Timestamp::now()).await?);
        self.cached.store(Some(Arc::new((Arc::clone(&history), Instant::now()))));
        Ok(history)
    }

    fn find(&self, manifest: &Manifest) -> Option<Arc<History>> {
        let cached = self.cached.load_full()?;
        is_usable(&cached, manifest, Instant::now()).then(|| Arc::clone(&cached.0))
    }
}

/// Returns `true` if the history ends with the manifest's publication, and is recent.
fn is_usable(
    (history, read_at): &(Arc<History>, Instant),
    manifest: &Manifest,
    now: Instant,
) -> bool {
    let lifetime = if history.gap().is_some() { TTL_WITH_GAP } else { TTL };
    *history.current() == manifest.publication && now.duration_since(*read_at) < lifetime
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::tests::{difference, manifest, publications};

    #[test]
    fn a_history_is_read_again_after_an_hour_or_an_import_and_soon_if_it_has_a_gap() {
        let [first, second] = publications();
        let (manifest, read_at) = (manifest(&second), Instant::now());
        let history = |stored| Arc::new(History::new(&manifest, stored, second.at));
        for (history, lifetime) in
            [(history(vec![difference(&first, &second)]), TTL), (history(Vec::new()), TTL_WITH_GAP)]
        {
            let cached = (history, read_at);
            let last = read_at + lifetime - Duration::from_millis(1);
            assert!(is_usable(&cached, &manifest, last));
            assert!(!is_usable(&cached, &manifest, read_at + lifetime));
            let next = crate::history::tests::manifest(&first);
            assert!(!is_usable(&cached, &next, read_at));
        }
    }
}
