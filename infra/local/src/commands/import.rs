//! Imports the published reports, or goes back to the version before.

use ingest::{ImportReport, IngestError, NamedSources, Options, Outcome, RollbackTarget};
use store::Store;

use crate::{
    LocalError,
    args::{ChangeArgs, ImportArgs, RollbackArgs},
    database::{Access, on_database},
    import_progress::with_progress,
    report,
};

/// Imports the reports named on the command line and prints what changed.
///
/// # Errors
/// Returns an error if the import is refused or fails; clients then see the data as it was.
pub async fn import(args: ImportArgs) -> Result<(), LocalError> {
    let is_fetched = args.fetch || args.mirror.is_some();
    let sources = NamedSources {
        nanpa: args.nanpa,
        cnac: args.cnac,
        npa_report: args.npa_report,
        carriers: args.carriers,
        thousands_blocks: args.thousands_blocks,
    }
    .or_published(args.mirror.as_ref());
    let options = Options {
        max_shrink: args.max_shrink,
        max_change: args.max_change,
        max_suspect: args.max_suspect,
        allow_older: args.allow_older,
        ..options(&args.change)
    };
    check_changes_file(&args.change)?;
    let import = async |store: &Store| {
        with_progress(async |show| ingest::ingest(store, &sources, options, show).await).await
    };
    let report =
        on_database(&args.change.data, access(&args.change, Access::Create), import).await?;
    conclude(report, &args.change).map_err(|error| match error {
        LocalError::Ingest(error @ IngestError::NotFetched { .. }) if is_fetched => {
            LocalError::NotFetched(error)
        }
        other => other,
    })
}

/// Goes back to an older version and prints what changed.
///
/// # Errors
/// Returns an error if there is no such version or it cannot be read, or the database cannot be
/// written.
pub async fn rollback(args: RollbackArgs) -> Result<(), LocalError> {
    let RollbackArgs { to, change: args } = args;
    let target = to.map_or(RollbackTarget::NewestReadable, RollbackTarget::Named);
    let options = options(&args);
    check_changes_file(&args)?;
    let rollback = async |store: &Store| {
        with_progress(async |show| ingest::rollback(store, &target, options, show).await).await
    };
    let report = on_database(&args.data, access(&args, Access::Change), rollback).await?;
    conclude(report, &args)
}

fn options(args: &ChangeArgs) -> Options {
    Options { dry_run: args.dry_run, ..Options::default() }
}

/// A dry run changes nothing.
fn access(args: &ChangeArgs, access: Access) -> Access {
    if args.dry_run { Access::Rehearse } else { access }
}

fn check_changes_file(args: &ChangeArgs) -> Result<(), LocalError> {
    args.changes.as_ref().map_or(Ok(()), |file| file.check(args.force))
}

fn conclude(
    report: Result<ImportReport, IngestError>,
    args: &ChangeArgs,
) -> Result<(), LocalError> {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            if args.json {
                println!("{}", report::failure(&error));
            }
            return Err(error.into());
        }
    };
    report::print(args.json, &report, report::write)?;
    if let (Some(file), Some(changes)) = (&args.changes, &report.changes) {
        file.write(changes, args.force)?;
    }
    match report.outcome {
        Outcome::Refused { reason } => Err(LocalError::Refused(reason)),
        _ => Ok(()),
    }
}
