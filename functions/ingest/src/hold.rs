//! One import at a time: the hold it takes on the data, renews, and gives up.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use shared::store::{Begun, Hold, LONGEST_WRITE, Store, StoreError};
use tokio::{
    sync::{Mutex, MutexGuard},
    task::JoinHandle,
};

use crate::{IngestError, Progress, publish::Limits};

/// How long a hold lasts that is not renewed, as a killed import's is not.
pub(crate) const LASTS: Duration = Duration::from_secs(60);

/// How often a waiting import looks whether the hold has ended or is renewed.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A hold that this process has, renewed beside whatever else it does.
pub(crate) struct Held {
    store: Store,
    hold: Arc<Mutex<Hold>>,
    /// When it ends, in seconds since 1970: a suspended process has to see that it lost it.
    until: Arc<AtomicI64>,
    lasts: Duration,
    renewal: JoinHandle<()>,
}

impl Held {
    /// Takes the hold, to leave `begun` behind if this process dies. Waits for the end of a hold
    /// that is not renewed; gives what its import had begun, too.
    ///
    /// # Errors
    /// [`IngestError::Running`] where another import goes on.
    pub async fn take(
        store: &Store,
        begun: Vec<Begun>,
        limits: Limits,
        progress: &impl Fn(Progress),
    ) -> Result<(Self, Vec<Begun>), IngestError> {
        let lasts = limits.hold_lasts;
        let ended = match limits.take_over {
            true => store.hold().await?,
            false => wait_for_end(store, progress).await?,
        };
        let inherited = ended.as_ref().map_or(Vec::new(), |hold| hold.snapshots.clone());
        let known = |new: &Begun| inherited.iter().any(|old| old.version == new.version);
        let new = begun.into_iter().filter(|begun| !known(begun));
        let hold = Hold {
            token: format!("{:016x}", rand::random::<u64>()),
            until: end(lasts),
            snapshots: inherited.iter().cloned().chain(new).collect(),
        };
        match store.put_hold(&hold, ended.as_ref()).await {
            Err(StoreError::Held) => return Err(IngestError::Running { until: end(lasts) }),
            Err(error) => return Err(error.into()),
            Ok(()) => (),
        }
        let until = Arc::new(AtomicI64::new(hold.until.as_second()));
        let hold = Arc::new(Mutex::new(hold));
        let renewal = tokio::spawn(renew(store.clone(), hold.clone(), until.clone(), lasts));
        Ok((Self { store: store.clone(), hold, until, lasts, renewal }, inherited))
    }

    /// Whether a write that begins now will have ended before the hold may.
    pub fn is_safe(&self) -> bool {
        let left = self.until.load(Ordering::SeqCst) - Timestamp::now().as_second();
        left > LONGEST_WRITE.as_secs().cast_signed()
    }

    /// Notes that items of the snapshot `version` are about to be written.
    ///
    /// # Errors
    /// [`StoreError::Held`] where another import has taken the hold.
    pub async fn begin_items(&self, version: &str) -> Result<(), StoreError> {
        let mut hold = self.hold.lock().await;
        let mut next = hold.clone();
        for begun in next.snapshots.iter_mut().filter(|begun| begun.version == version) {
            begun.items = true;
        }
        put(&self.store, &mut hold, next, &self.until, self.lasts).await
    }

    /// The hold as it was last written; it is not renewed while the guard lives, since DynamoDB
    /// cancels a transaction that meets another write of its items.
    pub async fn hold(&self) -> MutexGuard<'_, Hold> {
        self.hold.lock().await
    }

    /// Gives the hold up with nothing left over.
    pub async fn end(self) -> Result<(), StoreError> {
        self.renewal.abort();
        self.store.delete_hold(&*self.hold.lock().await).await
    }

    /// Gives the hold up with all that was begun left to the next import.
    pub async fn abandon(self) {
        self.renewal.abort();
        let mut hold = self.hold.lock().await;
        let next = hold.clone();
        if let Err(error) = put(&self.store, &mut hold, next, &self.until, Duration::ZERO).await {
            tracing::warn!(%error, "the next import has to wait until the hold ends");
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

/// Renews the hold until it is lost; whoever writes sees by the time that it was.
async fn renew(store: Store, hold: Arc<Mutex<Hold>>, until: Arc<AtomicI64>, lasts: Duration) {
    loop {
        tokio::time::sleep(lasts / 6).await;
        let mut hold = hold.lock().await;
        let next = hold.clone();
        match put(&store, &mut hold, next, &until, lasts).await {
            Ok(()) => (),
            Err(StoreError::Held) => {
                until.store(0, Ordering::SeqCst);
                return;
            }
            Err(error) => tracing::warn!(%error, "the hold could not be renewed"),
        }
    }
}

async fn put(
    store: &Store,
    hold: &mut Hold,
    next: Hold,
    until: &AtomicI64,
    lasts: Duration,
) -> Result<(), StoreError> {
    let next = Hold { until: end(lasts), ..next };
    store.put_hold(&next, Some(hold)).await?;
    until.store(next.until.as_second(), Ordering::SeqCst);
    *hold = next;
    Ok(())
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
    if first.until > Timestamp::now() {
        progress(Progress::Waiting(first.until));
    }
    loop {
        match store.hold().await? {
            Some(renewed) if renewed.until > first.until => {
                return Err(IngestError::Running { until: renewed.until });
            }
            Some(hold) if hold.until > Timestamp::now() => tokio::time::sleep(LOOK_AGAIN).await,
            ended => return Ok(ended),
        }
    }
}
