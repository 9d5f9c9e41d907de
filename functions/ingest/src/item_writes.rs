//! Writes many items, several batches at a time.

use std::{pin::pin, time::Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use store::{ItemWrite, Store, WRITES_PER_BATCH};

use crate::{IngestError, Progress, options::before_deadline};

const CONCURRENT_BATCHES: usize = 8;

pub(crate) async fn write_items(
    store: &Store,
    phase: &'static str,
    writes: impl ExactSizeIterator<Item = ItemWrite>,
    deadline: Option<Instant>,
    progress: &impl Fn(Progress),
) -> Result<(), IngestError> {
    progress(Progress::Planned { phase, items: writes.len() });
    let batches = stream::iter(writes).chunks(WRITES_PER_BATCH);
    let calls = batches
        .map(|batch| async move { store.write(&batch).await.map(|()| batch.len()) })
        .buffer_unordered(CONCURRENT_BATCHES);
    let mut written = pin!(calls);
    while let Some(count) = before_deadline(deadline, written.try_next()).await?? {
        progress(Progress::Written(count));
    }
    Ok(())
}
