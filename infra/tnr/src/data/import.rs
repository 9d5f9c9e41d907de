//! The `import` command, and the report of a changed version that `rollback` shares.

use std::{
    env,
    fmt::{self, Write},
};

use indicatif::HumanCount;
use ingest::{Gate, ImportReport, IngestError, Options, Outcome, Warning};
use store::Store;

use crate::{
    CliError,
    data::{
        args::{ChangeArgs, ImportArgs},
        import_progress::with_progress,
        report,
    },
    database::{Access, args::DataArgs, on_database},
    terminal::{
        next_commands::{next_steps, rebuild_command},
        show_note,
    },
};

pub async fn import(args: ImportArgs) -> Result<(), CliError> {
    let is_fetched = args.reports.is_fetched();
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
        with_progress(async |show| ingest::import(store, &sources, options, show).await).await
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

pub(super) fn options(args: &ChangeArgs) -> Options {
    let &ChangeArgs { dry_run, history_days, restart_history, .. } = args;
    Options { dry_run, history_days, restart_history, ..Options::default() }
}

pub(super) fn access(args: &ChangeArgs, access: Access) -> Access {
    if args.dry_run { Access::DryRun } else { access }
}

pub(super) fn check_changes_file(args: &ChangeArgs) -> Result<(), CliError> {
    args.changes.as_ref().map_or(Ok(()), |file| file.check(args.force))
}

pub(super) fn finish(
    report: Result<ImportReport, IngestError>,
    args: &ChangeArgs,
) -> Result<(), CliError> {
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
    report::print(args.json, &report, |table, report| write(table, report, args, env::args()))?;
    if let Some(file) = &args.changes {
        file.write(&report.changes, args.force)?;
    }
    match report.outcome {
        Outcome::Refused { reason, allowed_by } => {
            let command = allowed_by.map(|gates| allowing_command(&gates, env::args(), &args.data));
            Err(CliError::Refused { reason, command })
        }
        _ => Ok(()),
    }
}

/// Each kind of warning with an example, unless the report is printed with all of them.
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

fn write(
    table: &mut String,
    report: &ImportReport,
    options: &ChangeArgs,
    argv: impl IntoIterator<Item = String>,
) -> fmt::Result {
    report::write_import(table, report, options.verbose)?;
    table.write_str(&next_steps(next_command(report, options, argv).as_slice()))
}

/// The command that follows an import; `None` after a refusal, whose message has one.
fn next_command(
    report: &ImportReport,
    options: &ChangeArgs,
    argv: impl IntoIterator<Item = String>,
) -> Option<String> {
    let next = options.data.next();
    let is_first = report.changes.differences.exchanges.added == report.records;
    match report.outcome {
        Outcome::Refused { .. } => None,
        Outcome::Planned => {
            Some(rebuild_command(argv, &["--dry-run", "--verbose", "--force"], &["--changes"], []))
        }
        Outcome::Published if !is_first => Some(next.tnr("changes")),
        Outcome::RolledBack => Some(next.tnr("changes")),
        Outcome::Published | Outcome::Unchanged => Some(next.tnr("lookup +13052345678")),
    }
}

/// The same import without `--dry-run` that allows these gates. Includes data locations from
/// the environment, because whoever reads a nightly import's log has a different environment.
fn allowing_command(
    gates: &[Gate],
    argv: impl IntoIterator<Item = String>,
    data: &DataArgs,
) -> String {
    let flags = ["--dry-run", "--json", "--verbose", "--force"];
    let gates = gates.iter().map(Gate::to_string).collect::<Vec<_>>().join(",");
    let added = data.environment_options().into_iter().chain(["--allow".to_owned(), gates]);
    rebuild_command(argv, &flags, &["--changes", "--allow"], added)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use ingest::{BeforeAfter, ReportName, Source, Sources};
    use jiff::Timestamp;
    use numbering::records::{Country, Version};

    use super::*;
    use crate::{data::sample::sample, database::Database};

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        args: ImportArgs,
    }

    fn import_args(words: &[String]) -> ImportArgs {
        TestCli::try_parse_from(&words[1..]).unwrap().args
    }

    #[test]
    fn refusals_suggest_the_same_import_with_the_gates_to_allow() {
        let argv = "tnr import --fetch --nanpa my.txt --allow=dates --allow suspect --dry-run \
                     --changes c.csv --force --json --data-dir here";
        let argv: Vec<String> = argv.split(' ').map(str::to_owned).collect();
        let gates = [Gate::Changes, Gate::Losses];
        let command = allowing_command(&gates, argv.clone(), &import_args(&argv).change.data);
        let (_, arguments) = command.split_once(" import").unwrap();
        let expected = " --fetch --nanpa my.txt --data-dir here --allow changes,losses";
        assert_eq!(arguments, expected);
        let words: Vec<String> =
            format!("tnr import{arguments}").split(' ').map(str::to_owned).collect();
        let pasted = import_args(&words);
        assert_eq!((&pasted.allow[..], pasted.change.dry_run), (&gates[..], false));
    }

    /// The first lines of a sample file.
    fn head(source: Source, lines: usize) -> Source {
        let Source::Embedded(file) = source else { panic!("{source:?}") };
        let head: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').take(lines).collect();
        Source::Embedded(head.concat().leak())
    }

    /// The command's output, with a placeholder for the version.
    fn printed(report: &ImportReport, command: &str) -> String {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let args = import_args(&words).change;
        let mut text = String::new();
        write(&mut text, report, &args, words).unwrap();
        let text = anstream::adapter::strip_str(&text).to_string().replace("cargo run --", "tnr");
        let text = match &report.version {
            Some(version) => text.replace(version.as_str(), "VERSION"),
            None => text,
        };
        // Without the fields of changed records.
        let is_change = |line: &str| line.starts_with("  added ") || line.starts_with("  changed ");
        let lines = text.lines().map(|line| if is_change(line) { &line[..28] } else { line });
        let lines: String = lines.map(|line| line.trim_end().to_owned() + "\n").collect();
        let warnings: String = warning_lines(report, &args).map(|line| line + "\n").collect();
        format!("$ {command}\n{warnings}{lines}\n")
    }

    /// A dry run of a few rows, whose report then gets every outcome.
    #[tokio::test]
    async fn imports_end_in_one_summary_line_and_the_next_command() {
        let database = Database::in_memory().await.unwrap();
        let required = [ReportName::Nanpa, ReportName::Cnac, ReportName::NpaReport];
        let few = required.map(|name| (name, head(sample().get(name).unwrap().clone(), 4)));
        let allow = Gate::ALL.iter().copied().collect();
        let options = Options { allow, dry_run: true, ..Options::default() };
        let sources = Sources::from_iter(few);
        let mut report =
            ingest::ingest(&database.store(), &sources, options, |_| ()).await.unwrap();
        let figure = |before, after| BeforeAfter { before: Some(before), after };
        let us = [
            ("distinct_ocns", figure(2.0, None)),
            ("ocn", figure(97.3, Some(0.0))),
            ("records", figure(202468.0, Some(202460.0))),
        ];
        report.quality.countries = [(Country::Us, us.into())].into();
        report.quality.carrier_types = Default::default();
        let examples = vec!["first".to_owned(), "second".to_owned()];
        report.warnings.insert("suspicious".to_owned(), Warning { count: 1235, examples });
        report.warnings.insert("unusual".to_owned(), Warning { count: 1, examples: Vec::new() });

        let import = "tnr import --nanpa a --cnac b --npa-report c";
        let dry_run = &*format!("{import} --dry-run --changes c.csv --force");
        let refused = Outcome::Refused { reason: "too many changes".to_owned(), allowed_by: None };
        let mut text = printed(&report, dry_run);
        report.version = Some(Version::new(Timestamp::UNIX_EPOCH));
        for (outcome, command) in [
            (Outcome::Planned, &*format!("{dry_run} --verbose")),
            (Outcome::Published, import),
            (Outcome::Unchanged, &*format!("{import} --data-dir d --verbose")),
            (refused, import),
        ] {
            report.outcome = outcome;
            text += &printed(&report, command);
        }
        // Not the first import.
        report.records += 1;
        for outcome in [Outcome::Published, Outcome::RolledBack] {
            report.outcome = outcome;
            text += &printed(&report, import);
        }
        insta::assert_snapshot!(text);
        let json: Vec<String> = import.split(' ').chain(["--json"]).map(str::to_owned).collect();
        assert_eq!(warning_lines(&report, &import_args(&json).change).count(), 0);
    }
}
