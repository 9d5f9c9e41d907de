//! Imports that start over because another one finished first. Two reports landing in the data bucket at once start two
//! imports, which must not page an operator.

use std::time::Duration;

use numbering::time::this_second;
use rand::RngExt;
use store::{Store, StoreError};

use crate::{
    ImportReport, IngestError, Options, Progress, Sources, ingest, options::before_deadline,
};

/// Maximum restarts of an import.
const MAX_RESTARTS: u32 = 3;
/// Maximum wait before an import starts over. Waits are random, so two imports do not keep colliding.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Imports `sources`. If another import or rollback finishes first, starts over from its result, at most three times
/// and within the deadline.
pub async fn ingest_after_others(
    store: &Store,
    sources: &Sources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let mut outcome = ingest(store, sources, options, &progress).await;
    for restart in 1..=MAX_RESTARTS {
        if !matches!(outcome, Err(IngestError::Store(StoreError::Overtaken))) {
            break;
        }
        let wait = MAX_WAIT.mul_f64(rand::rng().random::<f64>());
        tracing::warn!(restart, ?wait, "another import came first; starting anew");
        before_deadline(options.deadline, tokio::time::sleep(wait)).await?;
        // A restart gets its own time: the other import may be newer than the first attempt.
        let options = Options { now: this_second(), ..options };
        outcome = ingest(store, sources, options, &progress).await;
    }
    outcome
}
