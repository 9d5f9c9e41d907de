//! Imports the published reports, or goes back to the version before.

use indicatif::{ProgressBar, ProgressStyle};
use ingest::{ImportReport, IngestError, NamedSources, Options, Outcome, Progress};
use store::Store;

use crate::{
    LocalError,
    args::{ChangeArgs, ImportArgs},
    database::on_database,
    report::{self, ChangesFile, ChangesWriter},
};

/// Imports the reports named on the command line and prints what changed.
///
/// # Errors
/// Returns an error if the import is refused or fails; clients then see the data as it was.
pub async fn import(args: ImportArgs) -> Result<(), LocalError> {
    let sources = NamedSources {
        nanpa: args.nanpa,
        cnac: args.cnac,
        npa_report: args.npa_report,
        carriers: args.carriers,
        thousands_blocks: args.thousands_blocks,
    }
    .or_published();
    let options = Options {
        max_shrink: args.max_shrink,
        max_change: args.max_change,
        max_suspect: args.max_suspect,
        allow_older: args.allow_older,
        ..options(&args.change)
    };
    let changes = args.change.changes.as_ref().map(ChangesFile::create).transpose()?;
    let import = async |store: &Store| {
        with_progress(async |show| ingest::ingest(store, &sources, options, show).await).await
    };
    let report = on_database(&args.change.data, import).await?;
    conclude(report, args.change.json, changes)
}

/// Goes back to the version before and prints what changed.
///
/// # Errors
/// Returns an error if there is no older version, or the database cannot be written.
pub async fn rollback(args: ChangeArgs) -> Result<(), LocalError> {
    let options = options(&args);
    let changes = args.changes.as_ref().map(ChangesFile::create).transpose()?;
    let rollback = async |store: &Store| {
        with_progress(async |show| ingest::rollback(store, options, show).await).await
    };
    let report = on_database(&args.data, rollback).await?;
    conclude(report, args.json, changes)
}

fn options(args: &ChangeArgs) -> Options {
    Options { dry_run: args.dry_run, ..Options::default() }
}

fn conclude(
    report: Result<ImportReport, IngestError>,
    json: bool,
    changes: Option<ChangesWriter>,
) -> Result<(), LocalError> {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            if json {
                println!("{}", report::failure(&error));
            }
            return Err(error.into());
        }
    };
    if let (Some(file), Some(changes)) = (changes, &report.changes) {
        file.write(changes)?;
    }
    report::print(json, &report, report::write)?;
    match report.outcome {
        Outcome::Refused { reason } => Err(LocalError::Refused(reason)),
        _ => Ok(()),
    }
}

const STYLE: &str = "{msg:<32} {wide_bar} {human_pos}/{human_len} {eta}";

/// Runs `work` with a progress bar on stderr, which stays hidden unless stderr is a terminal.
pub(crate) async fn with_progress<T>(work: impl AsyncFnOnce(&dyn Fn(Progress)) -> T) -> T {
    let bar = ProgressBar::no_length();
    let show = |step| show(&bar, step);
    let done = work(&show).await;
    bar.finish_and_clear();
    done
}

fn show(bar: &ProgressBar, step: Progress) {
    match step {
        Progress::Reading(file) => bar.set_message(format!("Reading {file}")),
        Progress::Comparing => bar.set_message("Comparing"),
        Progress::Planned(writes) => {
            if let Ok(style) = ProgressStyle::with_template(STYLE) {
                bar.set_style(style);
            }
            bar.set_message("Writing");
            bar.set_length(writes as u64);
        }
        Progress::Written(writes) => bar.inc(writes as u64),
        Progress::Publishing => bar.set_message("Publishing"),
        Progress::Verifying => bar.set_message("Comparing items"),
    }
}
