//! Caches the last history in memory. It is read only for requests for past data.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{History, Manifest, Store, StoreError};

/// The lifetime of a cached history. Old differences expire in the meantime, but their items remain for days.
const TTL: Duration = Duration::from_hours(1);

/// The lifetime of a cached history with a gap, which may be repaired.
const TTL_WITH_GAP: Duration = Duration::from_secs(5);

pub struct HistoryCache {
    store: Store,
    /// The history, and the time when it was read.
    cached: Mutex<Option<(Arc<History>, Instant)>>,
    /// Locked by the request that reads the history. Other requests wait for it.
    reading: tokio::sync::Mutex<()>,
}

impl HistoryCache {
    pub fn new(store: Store) -> Self {
        Self { store, cached: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// The history up to the manifest's publication.
    pub async fn get(&self, manifest: &Manifest) -> Result<Arc<History>, StoreError> {
        if let Some(cached) = self.find(manifest) {
            return Ok(cached);
        }
        let _reading = self.reading.lock().await;
        if let Some(cached) = self.find(manifest) {
            return Ok(cached);
        }
        let history = Arc::new(self.store.history(manifest, Timestamp::now()).await?);
        *self.cached.lock() = Some((Arc::clone(&history), Instant::now()));
        Ok(history)
    }

    /// Drops the cached history if a read found damage, because a repair replaces items that it refers to. Drops it at
    /// most as often as a history with a gap, because reading it again costs more than most reads.
    pub fn check<T>(&self, read: Result<T, StoreError>) -> Result<T, StoreError> {
        if matches!(read, Err(StoreError::DamagedHistory { .. })) {
            self.cached.lock().take_if(|(_, read_at)| read_at.elapsed() >= TTL_WITH_GAP);
        }
        read
    }

    fn find(&self, manifest: &Manifest) -> Option<Arc<History>> {
        let cached = self.cached.lock().clone()?;
        is_usable(&cached, manifest, Instant::now()).then_some(cached.0)
    }
}

/// Returns `true` if the history ends with the manifest's publication and is recent.
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
    fn history_is_reread_after_an_hour_an_import_or_a_gap() {
        let [first, second] = publications();
        let (manifest, read_at) = (manifest(&second), Instant::now());
        let history = |stored| Arc::new(History::new(&manifest, stored, second.at));
        let intact = history(vec![difference(&first, &second)]);
        for (history, lifetime) in [(intact, TTL), (history(Vec::new()), TTL_WITH_GAP)] {
            let cached = (history, read_at);
            let last = read_at + lifetime - Duration::from_millis(1);
            assert!(is_usable(&cached, &manifest, last));
            assert!(!is_usable(&cached, &manifest, read_at + lifetime));
            assert!(!is_usable(&cached, &crate::history::tests::manifest(&first), read_at));
        }
    }

    /// Otherwise a server would report damage for an hour after the repair.
    #[test]
    fn damaged_history_is_reread_after_five_seconds() {
        let cache = HistoryCache::new(Store::unreachable());
        let [publication] = publications();
        let manifest = manifest(&publication);
        let history = Arc::new(History::new(&manifest, Vec::new(), publication.at));
        let damage = || Err(StoreError::DamagedHistory { part: String::new(), source: "".into() });
        let busy = Err(StoreError::Busy { operation: "Query", left: 1 });
        for (age, read, is_kept) in [
            (TTL_WITH_GAP, damage(), false),
            (Duration::ZERO, damage(), true),
            (TTL_WITH_GAP, busy, true),
            (TTL_WITH_GAP, Ok(()), true),
        ] {
            let read_at = Instant::now() - age;
            *cache.cached.lock() = Some((Arc::clone(&history), read_at));
            let context = format!("{age:?} {read:?}");
            _ = cache.check(read);
            assert_eq!(cache.find(&manifest).is_some(), is_kept, "{context}");
        }
    }
}
