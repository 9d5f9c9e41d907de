//! The `import` and `rollback` commands.

use std::env;

use ingest::{
    ImportReport, IngestError, Options, Outcome, RollbackTarget, Sources, Waivers, published_blocks,
};
use store::Store;

use crate::{
    CliError,
    data::{
        args::{ChangeArgs, ImportArgs, RollbackArgs},
        import_progress::with_progress,
        report,
    },
    database::{Access, args::DataArgs, on_database},
    terminal::next_commands::rebuild_command,
};

/// Imports reports and prints the changes.
pub async fn import(args: ImportArgs) -> Result<(), CliError> {
    let is_fetched = args.fetch || args.mirror.is_some();
    let waivers = args.waivers();
    let published = Sources::published(args.mirror.as_ref());
    let [us_blocks, canadian_blocks] = published_blocks(args.mirror.as_ref());
    let sources = Sources {
        nanpa: args.nanpa.unwrap_or(published.nanpa),
        cnac: args.cnac.unwrap_or(published.cnac),
        npa_report: args.npa_report.unwrap_or(published.npa_report),
        carriers: args.carriers,
        thousands_blocks: args.thousands_blocks.or(args.us_blocks.then_some(us_blocks)),
        canadian_blocks: args.canadian_blocks.or(is_fetched.then_some(canadian_blocks)),
    };
    let options = Options {
        waivers,
        strict: args.strict,
        replace_manifest: args.replace_manifest,
        ..options(&args.change)
    };
    check_changes_file(&args.change)?;
    let import = async |store: &Store| {
        with_progress(async |show| ingest::ingest(store, &sources, options, show).await).await
    };
    let report =
        on_database(&args.change.data, access(&args.change, Access::Create), import).await?;
    finish(report, &args.change).map_err(|error| match error {
        CliError::Ingest(error @ IngestError::NotFetched { .. }) if is_fetched => {
            CliError::NotFetched(error)
        }
        other => other,
    })
}

/// Rolls back to an older version and prints the changes.
pub async fn rollback(args: RollbackArgs) -> Result<(), CliError> {
    let RollbackArgs { to, change: args } = args;
    let target = to.map_or(RollbackTarget::NewestReadable, RollbackTarget::Named);
    let options = options(&args);
    check_changes_file(&args)?;
    let rollback = async |store: &Store| {
        with_progress(async |show| ingest::rollback(store, &target, options, show).await).await
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
    report::print(args.json, &report, report::write)?;
    if let Some(file) = &args.changes {
        file.write(&report.changes, args.force)?;
    }
    match report.outcome {
        Outcome::Refused { reason, allowed_by } => {
            let command =
                allowed_by.map(|waivers| command_with_waivers(&waivers, env::args(), &args.data));
            Err(CliError::Refused { reason, command })
        }
        _ => Ok(()),
    }
}

/// The same import without `--dry-run` and with the waivers it needs. Includes data locations from
/// the environment, because whoever reads a nightly import's log has a different environment.
fn command_with_waivers(
    waivers: &Waivers,
    argv: impl IntoIterator<Item = String>,
    data: &DataArgs,
) -> String {
    let flags = ["--dry-run", "--json", "--force", "--allow-older"];
    let with_values = ["--changes", "--max-change", "--max-loss", "--max-suspect"];
    let place = data.environment_options();
    rebuild_command(argv, &flags, &with_values, place.into_iter().chain(waivers.arguments()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        args: ImportArgs,
    }

    fn import_args(words: &[String]) -> ImportArgs {
        TestCli::try_parse_from(&words[1..]).unwrap().args
    }

    #[test]
    fn refusals_suggest_the_same_import_with_waivers() {
        let argv = "tnr import --fetch --nanpa my.txt --max-change=5 --max-loss 6 --dry-run \
                     --changes c.csv --force --json --data-dir here --allow-older";
        let argv: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        let waivers = Waivers { max_change: Some(4893), max_loss: Some(670), ..Waivers::default() };
        let command = command_with_waivers(&waivers, argv.clone(), &import_args(&argv).change.data);
        let (_, arguments) = command.split_once(" import").unwrap();
        let expected = " --fetch --nanpa my.txt --data-dir here --max-change 4893 --max-loss 670";
        assert_eq!(arguments, expected);
        let words: Vec<String> =
            format!("tnr import{arguments}").split(' ').map(str::to_owned).collect();
        let pasted = import_args(&words);
        assert_eq!((pasted.waivers(), pasted.change.dry_run), (waivers, false));
    }
}
