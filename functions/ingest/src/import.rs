//! Runs a complete import. Starts over if another one finishes first, such as when two reports are uploaded at once.
//! Can verify the items afterward.

use std::time::Duration;

use logging::with_causes;
use numbering::time::this_second;
use rand::RngExt;
use store::{Store, StoreError};

use crate::{
    CountryReport, CountrySources, ImportReport, IngestError, Options, Progress, Repair, Sources,
    import_countries, ingest, notes::Warning, options::before_deadline, verify,
};

const MAX_RESTARTS: u32 = 3;
/// The maximum wait before a restart. Waits are random, so that two imports do not collide again.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(3);

/// Imports `sources`, then `countries`, then verifies the items if the options ask for it, each even after a refusal. If
/// another import or rollback finishes first, starts over, at most three times. Countries fail independently, and a failed
/// verification is only a warning.
pub async fn import(
    store: &Store,
    sources: &Sources,
    countries: &CountrySources,
    options: Options,
    progress: impl Fn(Progress),
) -> Result<ImportReport, IngestError> {
    let attempt = async |options| ingest(store, sources, options, &progress).await;
    let mut report = restart_while_overtaken(attempt, options, MAX_WAIT).await?;
    if report.version.is_some() {
        let imported = import_countries(store, countries, options, &progress).await;
        report.countries = imported.unwrap_or_else(|error| {
            let failed = CountryReport::failed(&error);
            countries.keys().map(|country| (country.code().to_owned(), failed.clone())).collect()
        });
    }
    if !options.verify || options.dry_run || report.version.is_none() {
        return Ok(report);
    }
    match verify(store, Repair::Yes, options.deadline, &progress).await {
        Ok(verification) => report.verification = Some(verification),
        Err(error) => {
            let examples = vec![with_causes(&error)];
            let kind = "the items cannot be compared with the current version".to_owned();
            report.warnings.insert(kind, Warning { count: 1, examples });
        }
    }
    Ok(report)
}

pub(crate) async fn restart_while_overtaken<T>(
    import: impl AsyncFn(Options) -> Result<T, IngestError>,
    options: Options,
    max_wait: Duration,
) -> Result<T, IngestError> {
    let mut result = import(options).await;
    for restart in 1..=MAX_RESTARTS {
        if !matches!(result, Err(IngestError::Store(StoreError::Overtaken))) {
            break;
        }
        let wait = max_wait.mul_f64(rand::rng().random::<f64>());
        tracing::warn!(restart, ?wait, "another import finished first; starting over");
        before_deadline(options.deadline, tokio::time::sleep(wait)).await?;
        // The other import may be newer than the first attempt, so each restart gets a new time.
        result = import(Options { now: this_second(), ..options }).await;
    }
    result
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use jiff::Timestamp;

    use super::*;

    #[tokio::test]
    async fn overtaken_imports_restart_three_times_with_a_new_time() {
        let started = this_second();
        let times = RefCell::new(Vec::new());
        let import = async |options: Options| {
            times.borrow_mut().push(options.now);
            Err::<(), _>(IngestError::Store(StoreError::Overtaken))
        };
        let options = Options { now: Timestamp::UNIX_EPOCH, ..Options::default() };
        let result = restart_while_overtaken(import, options, Duration::ZERO).await;
        assert!(matches!(result, Err(IngestError::Store(StoreError::Overtaken))), "{result:?}");
        let times = times.into_inner();
        assert_eq!((times.len(), times[0]), (4, Timestamp::UNIX_EPOCH));
        assert!(times[1..].iter().all(|&time| time >= started), "{times:?}");
    }
}
