//! The `verify` command.

use std::fmt::{self, Write};

use clap::Args;
use indicatif::HumanCount;
use ingest::{Drift, HistoryDrift, HistoryVerification, Repair, Verification};
use store::Store;

use crate::{
    CliError,
    data::{args::ReportArgs, import::show_progress, report},
    database::{Access, on_database},
    error::pluralize,
    terminal::{width, wrap},
};

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Rewrite items that differ from the current version, and restore damaged parts of the history
    #[arg(long)]
    pub repair: bool,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// Compares all lookup items with the current version, repairs them if `--repair` is set, and prints the
/// result.
pub async fn verify(VerifyArgs { repair, report: args }: VerifyArgs) -> Result<(), CliError> {
    let access = if repair { Access::Change } else { Access::Read };
    let repair = if repair { Repair::Yes } else { Repair::No };
    let work = async |store: &Store| ingest::verify(store, repair, None, show_progress()).await;
    let verification = on_database(&args.data, access, work).await??;
    report::print(args.json, &verification, |table, it| write(table, it, repair))?;
    let drifted = verification.total_drift();
    match repair {
        Repair::No if drifted > 0 => Err(CliError::Drift(drifted)),
        Repair::Yes if !verification.history.lost.is_empty() => Err(CliError::LostHistory),
        Repair::Yes if !verification.unreadable_countries.is_empty() => {
            let countries: Vec<_> = verification.unreadable_countries.into_keys().collect();
            let codes = countries.join(",");
            let reason = "ranges are unreadable; run 'import --fetch --country";
            Err(CliError::failed(format!("{reason} {codes}'")))
        }
        _ => Ok(()),
    }
}

fn write(table: &mut String, verification: &Verification, repair: Repair) -> fmt::Result {
    let Verification { version, skipped, items, drift, repaired, history, unreadable_countries } =
        verification;
    for unreadable in skipped {
        writeln!(table, "{}", wrap(&format!("warning: {unreadable}"), width(), 9))?;
    }
    writeln!(table, "Version {version}, {} items", HumanCount(*items as u64))?;
    write_counts(table, &drift_kinds(drift))?;
    writeln!(table, "  {:<14}{:>10}", "repaired", HumanCount(*repaired as u64).to_string())?;
    write_history(table, history, repair)?;
    for (code, reason) in unreadable_countries {
        writeln!(table, "{}", wrap(&format!("ranges of {code}: {reason}"), width(), 6))?;
    }
    Ok(())
}

pub fn drift_kinds(drift: &Drift) -> [(&'static str, usize, &'static str); 5] {
    let Drift { contradicting, outdated, unreadable, missing, stray } = *drift;
    let wrong = "have the right version but the wrong record; lookups return them";
    [
        ("contradicting", contradicting, wrong),
        ("outdated", outdated, "have another version; lookups use memory instead"),
        ("unreadable", unreadable, "are damaged; lookups use memory instead"),
        ("missing", missing, "records without an item; lookups use memory instead"),
        ("stray", stray, "items without a record; lookups ignore them"),
    ]
}

pub fn history_kinds(
    history: &HistoryVerification,
    repair: Repair,
) -> [(&'static str, usize, &'static str); 4] {
    let HistoryDrift { publications, differences, changes } = history.drift;
    let damaged = match repair {
        Repair::No => "missing or damaged; requests that need them fail",
        Repair::Yes => "missing or damaged before the repair",
    };
    [
        ("publications", publications, damaged),
        ("differences", differences, damaged),
        ("changes", changes, damaged),
        ("unrecorded", history.unrecorded, "publications; the next import adds their changes"),
    ]
}

fn write_history(table: &mut String, history: &HistoryVerification, repair: Repair) -> fmt::Result {
    let publications = pluralize(history.publications, "publication");
    writeln!(table, "History, {publications}, {}", pluralize(history.changes, "change"))?;
    write_counts(table, &history_kinds(history, repair))?;
    for lost in &history.lost {
        writeln!(table, "{}", wrap(&format!("lost: {lost}"), width(), 6))?;
    }
    Ok(())
}

fn write_counts(table: &mut String, counts: &[(&str, usize, &str)]) -> fmt::Result {
    for &(kind, count, meaning) in counts {
        let count = HumanCount(count as u64).to_string();
        let line = format!("  {kind:<14}{count:>10}  {meaning}");
        writeln!(table, "{}", wrap(&line, width(), 28))?;
    }
    Ok(())
}
