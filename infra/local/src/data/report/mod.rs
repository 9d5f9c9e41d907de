//! Command results for a terminal or as JSON, including the import report.

mod changes;
mod quality;

use std::fmt::{self, Write as _};

use indicatif::HumanCount;
use ingest::{Delta, Differences, ImportReport, IngestError, Outcome};
use logging::with_causes;
use numbering::records::Version;
use serde::Serialize;

pub use changes::ChangesFile;
pub(crate) use changes::printable;
pub(crate) use quality::{share, shares};

use crate::{CliError, error::Context, terminal};

/// Prints `found` as a line of JSON, or as the table from `write_table`.
pub fn print<T: Serialize>(
    as_json: bool,
    found: &T,
    write_table: impl FnOnce(&mut String, &T) -> fmt::Result,
) -> Result<(), CliError> {
    if as_json {
        let json = serde_json::to_string(found).context("cannot print as JSON")?;
        terminal::print_raw(&(json + "\n"))
    } else {
        let mut table = String::new();
        write_table(&mut table, found).context("cannot print the table")?;
        terminal::print(&table)
    }
}

/// A failure as a report.
pub fn failure(error: &IngestError) -> String {
    serde_json::json!({ "outcome": "failed", "reason": with_causes(error) }).to_string()
}

/// Writes an import report as a short table.
pub fn write(table: &mut String, report: &ImportReport) -> fmt::Result {
    let version = report.version.as_ref().map_or("no version", Version::as_str);
    match &report.outcome {
        Outcome::Published => writeln!(table, "Version {version} is current")?,
        Outcome::RolledBack => writeln!(table, "Version {version} is current again")?,
        Outcome::Unchanged => writeln!(table, "Version {version} holds these files already")?,
        Outcome::Planned => writeln!(table, "A dry run: {version} stays current")?,
        Outcome::Refused { .. } => writeln!(table, "Refused: {version} stays current")?,
    }
    if report.replaces_sample {
        writeln!(
            table,
            "First import: it replaces the made-up sample and is compared with nothing"
        )?;
    }
    line(table, 2, "records", report.records)?;
    for (country, &count) in &report.by_country {
        line(table, 4, country, count)?;
    }
    for (status, &count) in &report.by_status {
        line(table, 4, status, count)?;
    }
    line(table, 2, "carriers", report.carriers as u32)?;
    line(table, 2, "area codes", report.area_codes as u32)?;
    line(table, 4, "with exchanges", report.area_codes_with_exchanges)?;
    differences(table, &report.changes.differences)?;
    if report.outcome == Outcome::Planned {
        for (npa, delta) in &report.changes.differences.by_area_code {
            changes(table, 4, npa, *delta)?;
        }
    }
    quality::write(table, &report.quality)?;
    let is_listed = matches!(report.outcome, Outcome::Planned | Outcome::Refused { .. });
    if is_listed {
        changes::write(table, &report.changes)?;
    }
    let written = HumanCount(report.items.written as u64);
    let deleted = HumanCount(report.items.deleted as u64);
    writeln!(table, "  {:<18}{written} written, {deleted} deleted", "items")?;
    let skipped = report.skipped.iter().map(|(reason, &count)| (count, reason.clone()));
    counted(table, "Skipped", skipped)?;
    let warnings = report.warnings.iter();
    counted(
        table,
        "Warnings",
        warnings.map(|(kind, warning)| {
            (warning.count, format!("{kind}: {}", warning.examples.join("; ")))
        }),
    )
}

fn line(table: &mut String, indent: usize, name: impl fmt::Display, count: u32) -> fmt::Result {
    let (name, count) = (format!("{:indent$}{name}", ""), HumanCount(count.into()).to_string());
    writeln!(table, "{name:<20}{count:>10}")
}

fn differences(table: &mut String, differences: &Differences) -> fmt::Result {
    let Differences { exchanges, carriers, area_codes, by_area_code: _ } = differences;
    for (name, delta) in
        [("exchanges", exchanges), ("carriers", carriers), ("area codes", area_codes)]
    {
        if delta.total() > 0 {
            changes(table, 2, name, *delta)?;
        }
    }
    Ok(())
}

fn changes(
    table: &mut String,
    indent: usize,
    name: impl fmt::Display,
    Delta { added, removed, changed }: Delta,
) -> fmt::Result {
    let name = format!("{:indent$}{name}", "");
    let [added, removed, changed] = [added, removed, changed].map(|n| HumanCount(n.into()));
    writeln!(table, "{name:<20}{added} added, {removed} removed, {changed} changed")
}

fn counted(
    table: &mut String,
    title: &str,
    kinds: impl Iterator<Item = (u32, String)> + Clone,
) -> fmt::Result {
    let total: u64 = kinds.clone().map(|(count, _)| u64::from(count)).sum();
    writeln!(table, "{title}: {}", HumanCount(total))?;
    for (count, kind) in kinds {
        writeln!(table, "{:>8}  {kind}", HumanCount(count.into()).to_string())?;
    }
    Ok(())
}
