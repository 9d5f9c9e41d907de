//! Imports that start anew because another one came first: two reports that land in the data bucket at
//! once start two imports, and that is no reason to call an operator.

use std::time::Duration;

use numbering::time::this_second;
use rand::RngExt;
use store::{Store, StoreError};

use crate::{
    ImportReport, IngestError, Options, Progress, Sources, ingest, options::before_deadline,
};

/// The most times an import starts anew.
const MAX_RESTARTS: u32 = 3;
/// The longest wait before an import starts anew. The waits are random, so that two imports do
/// not go on meeting each other.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Imports `sources`. If another import or a rollback comes first, the import starts anew from what that
/// one has published, at most three times and within the deadline.
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
        // The version has a time of its own: the other import may be newer than the first attempt.
        let options = Options { now: this_second(), ..options };
        outcome = ingest(store, sources, options, &progress).await;
    }
    outcome
}
