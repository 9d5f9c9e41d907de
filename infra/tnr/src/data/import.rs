//! The `import` and `rollback` commands.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
};

use indicatif::HumanCount;
use ingest::{
    CountryReport, Gate, ImportReport, IngestError, Options, Outcome, Progress as Step, Source,
    Sources, Warning, published_url,
};
use store::Store;

use crate::{
    CliError,
    data::{
        args::{ChangeArgs, ImportArgs, RollbackArgs, report_option},
        report,
    },
    database::{Access, on_database},
    terminal::{
        NextCommands, next_steps,
        progress::{Progress, Unit},
        quote, show_note,
    },
};

pub async fn import(args: ImportArgs) -> Result<(), CliError> {
    if args.reports.has_only_countries() {
        return import_countries(args).await;
    }
    let missing = args.reports.missing_reports();
    if !missing.is_empty() {
        let missing = missing.join(" and ");
        return Err(CliError::failed(format!("pass {missing}, or --fetch")));
    }
    let is_fetched = args.reports.is_fetched();
    let countries = args.reports.country_sources();
    let allow = args.allow.iter().copied().collect();
    let sources = args.reports.sources();
    let options = Options {
        allow,
        strict: args.strict,
        replace_manifest: args.replace_manifest,
        ..options(&args.change)
    };
    check_changes_file(&args.change)?;
    let import = async |store: &Store| {
        ingest::import(store, &sources, &countries, options, show_progress()).await
    };
    let report =
        on_database(&args.change.data, access(&args.change, Access::Create), import).await?;
    finish(report, &args.change).map_err(|error| match error {
        CliError::Ingest(error @ IngestError::NotFetched { .. }) if is_fetched => {
            let commands = commands_for_files(&sources, &args.change.data.next());
            CliError::NotFetched { error, commands }
        }
        other => other,
    })
}

/// Imports other countries' ranges, and leaves the rest of the data unchanged.
async fn import_countries(args: ImportArgs) -> Result<(), CliError> {
    let change = &args.change;
    for (option, is_set) in [
        ("--changes", change.changes.is_some()),
        ("--replace-manifest", args.replace_manifest),
        ("--restart-history", change.restart_history),
    ] {
        if is_set {
            let message =
                format!("{option} does not apply to other countries alone; pass the reports too");
            return Err(CliError::failed(message));
        }
    }
    let countries = args.reports.country_sources();
    let allow = args.allow.iter().copied().collect();
    let options = Options { allow, strict: args.strict, ..options(&args.change) };
    let import = async |store: &Store| {
        ingest::import_countries(store, &countries, options, show_progress()).await
    };
    let reports =
        on_database(&args.change.data, access(&args.change, Access::Change), import).await??;
    let verbose = args.change.verbose;
    report::print(args.change.json, &reports, |table, reports| {
        report::write_countries(table, reports, verbose)
    })?;
    check_countries(&reports)
}

/// Returns an error if a country was refused or could not be read.
fn check_countries(reports: &BTreeMap<String, CountryReport>) -> Result<(), CliError> {
    let (mut gates, mut refused, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (code, CountryReport { outcome, .. }) in reports {
        match outcome {
            Outcome::Failed { reason } => failed.push(format!("{code}: {reason}")),
            Outcome::Refused { reason, allowed_by } => {
                gates.extend(allowed_by.iter().flatten().copied());
                refused.push(format!("{code}: {}", reason.replace('\n', "; ")));
            }
            _ => (),
        }
    }
    failed.iter().filter(|_| !refused.is_empty()).for_each(|line| show_note(line));
    if !refused.is_empty() {
        let gates = Gate::ALL.into_iter().filter(|gate| gates.contains(gate)).collect();
        return Err(CliError::Refused { reason: refused.join("\n"), gates });
    }
    if failed.is_empty() { Ok(()) } else { Err(CliError::failed(failed.join("\n"))) }
}

/// The commands that download the published reports and import the files.
fn commands_for_files(sources: &Sources, next: &NextCommands) -> String {
    let mut curl = "curl --fail --location --remote-name-all".to_owned();
    let mut import = next.tnr("import");
    for (name, source) in sources.iter() {
        let mut file = source.to_string();
        if let (Source::Url(_), Some(url)) = (source, published_url(name)) {
            curl += &format!(" \\\n  {url}");
            file = url.rsplit('/').next().unwrap_or_default().to_owned();
        }
        let option = report_option(name);
        import += &format!(" \\\n  --{option} {}", quote(&file));
    }
    format!("{curl}\n{import}")
}

pub async fn rollback(args: RollbackArgs) -> Result<(), CliError> {
    let RollbackArgs { to, change: args } = args;
    let options = options(&args);
    check_changes_file(&args)?;
    let rollback = async |store: &Store| {
        ingest::rollback(store, to.as_deref(), options, show_progress()).await
    };
    let report = on_database(&args.data, access(&args, Access::Change), rollback).await?;
    finish(report, &args)
}

fn options(args: &ChangeArgs) -> Options {
    let &ChangeArgs { dry_run, history_days, restart_history, .. } = args;
    Options { dry_run, history_days, restart_history, ..Options::default() }
}

fn access(args: &ChangeArgs, access: Access) -> Access {
    if args.dry_run { Access::DryRun } else { access }
}

fn check_changes_file(args: &ChangeArgs) -> Result<(), CliError> {
    args.changes.as_ref().map_or(Ok(()), |file| file.check(args.force))
}

fn finish(report: Result<ImportReport, IngestError>, args: &ChangeArgs) -> Result<(), CliError> {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            if args.json {
                println!("{}", report::failure(&error));
            }
            return Err(error.into());
        }
    };
    warning_lines(&report, args).for_each(|line| show_note(&line));
    report::print(args.json, &report, |table, report| write(table, report, args))?;
    if let Some(file) = &args.changes {
        file.write(&report.changes, args.force)?;
    }
    match report.outcome {
        Outcome::Refused { reason, allowed_by } => {
            Err(CliError::Refused { reason, gates: allowed_by.unwrap_or_default() })
        }
        _ => check_countries(&report.countries),
    }
}

/// A line for each kind of warning, with an example. Empty if the whole report is printed.
fn warning_lines(
    report: &ImportReport,
    &ChangeArgs { json, verbose, .. }: &ChangeArgs,
) -> impl Iterator<Item = String> {
    let warnings = report.warnings.iter().filter(move |_| !json && !verbose);
    warnings.map(|(kind, Warning { count, examples })| {
        let example = examples.first().map_or(String::new(), |example| format!(": {example}"));
        let more = if *count > 1 {
            format!(" and {} more", HumanCount(u64::from(count - 1)))
        } else {
            String::new()
        };
        format!("warning: {kind}{example}{more}")
    })
}

fn write(table: &mut String, report: &ImportReport, options: &ChangeArgs) -> fmt::Result {
    report::write_import(table, report, options.verbose)?;
    table.write_str(&next_steps(next_command(report, options).as_slice()))
}

/// The next command after an import; `None` after a refusal, whose message includes one.
fn next_command(report: &ImportReport, options: &ChangeArgs) -> Option<String> {
    let next = options.data.next();
    let is_first = report.changes.differences.exchanges.added == report.records;
    match report.outcome {
        Outcome::Refused { .. } | Outcome::Failed { .. } => None,
        Outcome::Planned => Some("the same command without --dry-run".to_owned()),
        Outcome::Published if !is_first => Some(next.tnr("changes")),
        Outcome::RolledBack => Some(next.tnr("changes")),
        Outcome::Published | Outcome::Unchanged => Some(next.tnr("lookup +13052345678")),
    }
}

/// A function that shows the stages of an import, rollback or verification until it is dropped.
pub fn show_progress() -> impl Fn(Step) {
    let progress = Progress::new();
    move |step| show(&progress, step)
}

fn show(progress: &Progress, step: Step) {
    match step {
        Step::Fetching { file, bytes, total } => {
            progress.start(format!("Fetching {file}"), Unit::Bytes, total);
            progress.set(bytes);
        }
        Step::Reading { file, rows } => {
            progress.start(format!("Reading {file}"), Unit::Count("rows"), None);
            progress.set(rows);
        }
        Step::Comparing => progress.start("Comparing with the current data", Unit::Time, None),
        Step::Planned { phase, items } => {
            progress.start(phase, Unit::Count("items"), Some(items as u64));
        }
        Step::Written(items) => progress.add(items as u64),
        Step::Publishing => progress.start("Publishing", Unit::Time, None),
        Step::Verifying => {
            progress.start("Comparing items with the current data", Unit::Time, None);
        }
    }
}
