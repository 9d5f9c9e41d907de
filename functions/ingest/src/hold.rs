//! One import at a time: the hold it takes on the data, renews, and gives up.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use shared::store::{Begun, Hold, Store, StoreError};

use crate::{IngestError, Progress};

/// How long a hold lasts that is not renewed, as a killed import's is not.
pub(crate) const LASTS: Duration = Duration::from_secs(30);

/// A hold that this process has.
pub(crate) struct Held<'a> {
    store: &'a Store,
    hold: Hold,
    lasts: Duration,
    renewed: Instant,
}

impl<'a> Held<'a> {
    /// Takes the hold, to leave `begun` behind if this process dies. Waits for the end of a hold
    /// that is not renewed; gives what its import had begun, too.
    ///
    /// # Errors
    /// [`IngestError::Running`] where another import goes on.
    pub async fn take(
        store: &'a Store,
        begun: Vec<Begun>,
        lasts: Duration,
        progress: &impl Fn(Progress),
    ) -> Result<(Self, Vec<Begun>), IngestError> {
        let ended = wait_for_end(store, progress).await?;
        let inherited = ended.as_ref().map_or(Vec::new(), |hold| hold.snapshots.clone());
        let known = |new: &Begun| inherited.iter().any(|old| old.version == new.version);
        let new = begun.into_iter().filter(|begun| !known(begun));
        let hold = Hold {
            token: format!("{:016x}", rand::random::<u64>()),
            until: end(lasts),
            snapshots: inherited.iter().cloned().chain(new).collect(),
        };
        match store.put_hold(&hold, ended.as_ref()).await {
            Err(StoreError::Held) => Err(IngestError::Running { until: end(lasts) }),
            Err(error) => Err(error.into()),
            Ok(()) => Ok((Self { store, hold, lasts, renewed: Instant::now() }, inherited)),
        }
    }

    /// Notes that items of the snapshot `version` are about to be written.
    pub async fn begin_items(&mut self, version: &str) -> Result<(), StoreError> {
        let mut next = self.hold.clone();
        for begun in next.snapshots.iter_mut().filter(|begun| begun.version == version) {
            begun.items = true;
        }
        self.put(next).await
    }

    /// Renews the hold, if it is time to.
    ///
    /// # Errors
    /// [`StoreError::Held`] where another import has taken it: this one must stop.
    pub async fn keep(&mut self) -> Result<(), StoreError> {
        match self.renewed.elapsed() > self.lasts / 3 {
            true => self.put(self.hold.clone()).await,
            false => Ok(()),
        }
    }

    /// The snapshots that may be left over.
    pub fn snapshots(&self) -> &[Begun] {
        &self.hold.snapshots
    }

    /// Gives the hold up with nothing left over.
    pub async fn end(self) -> Result<(), StoreError> {
        self.store.delete_hold(&self.hold).await
    }

    /// Gives the hold up with all that was begun left to the next import.
    pub async fn abandon(mut self) {
        self.lasts = Duration::ZERO;
        if let Err(error) = self.put(self.hold.clone()).await {
            tracing::warn!(%error, "the next import has to wait until the hold ends");
        }
    }

    async fn put(&mut self, next: Hold) -> Result<(), StoreError> {
        let next = Hold { until: end(self.lasts), ..next };
        self.store.put_hold(&next, Some(&self.hold)).await?;
        (self.hold, self.renewed) = (next, Instant::now());
        Ok(())
    }
}

fn end(lasts: Duration) -> Timestamp {
    let lasts = SignedDuration::try_from(lasts).unwrap_or(SignedDuration::MAX);
    Timestamp::now().saturating_add(lasts).unwrap_or(Timestamp::MAX)
}

async fn wait_for_end(
    store: &Store,
    progress: &impl Fn(Progress),
) -> Result<Option<Hold>, IngestError> {
    let Some(first) = store.hold().await? else { return Ok(None) };
    let left = Duration::try_from(first.until.duration_since(Timestamp::now())).unwrap_or_default();
    if left.is_zero() {
        return Ok(Some(first));
    }
    progress(Progress::Waiting(first.until));
    tokio::time::sleep(left).await;
    match store.hold().await? {
        Some(renewed) if renewed.until > first.until => {
            Err(IngestError::Running { until: renewed.until })
        }
        ended => Ok(ended),
    }
}
