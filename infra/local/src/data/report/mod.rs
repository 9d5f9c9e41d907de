//! Command results as text or JSON, including the import report.

mod carrier_types;
mod changes;
mod quality;

use std::fmt::{self, Write as _};

use indicatif::HumanCount;
use ingest::{Delta, Differences, ImportReport, IngestError, Outcome, QualityReport};
use logging::with_causes;
use numbering::records::Version;
use serde::Serialize;

pub use changes::ChangesFile;
pub(crate) use quality::{format_percentage, percentages};

use crate::{
    CliError,
    error::Context,
    terminal::{self, escape::escape_controls},
};

/// The number of companies without a carrier type in an import report.
const MAX_COMPANIES: usize = 10;

/// Prints `result` as a line of JSON, or as the table from `write_table`.
pub fn print<T: Serialize>(
    as_json: bool,
    result: &T,
    write_table: impl FnOnce(&mut String, &T) -> fmt::Result,
) -> Result<(), CliError> {
    if as_json {
        let json = serde_json::to_string(result).context("cannot print as JSON")?;
        terminal::print_raw(&(json + "\n"))
    } else {
        let mut table = String::new();
        write_table(&mut table, result).context("cannot print the table")?;
        terminal::print(&table)
    }
}

/// The JSON report for a failed import.
pub fn failure(error: &IngestError) -> String {
    serde_json::json!({ "outcome": "failed", "reason": with_causes(error) }).to_string()
}

/// Writes the completeness of one version.
pub fn write_quality(table: &mut String, quality: &QualityReport) -> fmt::Result {
    quality::write(table, quality)?;
    carrier_types::write(table, &quality.carrier_types, usize::MAX)
}

/// Writes an import report as a table.
pub fn write(table: &mut String, report: &ImportReport) -> fmt::Result {
    let version = report.version.as_ref().map(Version::as_str);
    let unchanged = version.map(|it| format!("{it} stays current"));
    let unchanged = unchanged.as_deref().unwrap_or("nothing is published");
    let version = version.unwrap_or_default();
    match &report.outcome {
        Outcome::Published => writeln!(table, "Version {version} is current")?,
        Outcome::RolledBack => writeln!(table, "Version {version} is current again")?,
        Outcome::Unchanged => writeln!(table, "Version {version} already has this data")?,
        Outcome::Planned => writeln!(table, "Dry run: {unchanged}")?,
        Outcome::Refused { .. } => writeln!(table, "Refused: {unchanged}")?,
    }
    if report.replaces_sample {
        writeln!(table, "First import: replaces the made-up sample without comparing the data")?;
    }
    write_count(table, 2, "records", report.records)?;
    for (country, &count) in &report.by_country {
        write_count(table, 4, country, count)?;
    }
    for (status, &count) in &report.by_status {
        write_count(table, 4, status, count)?;
    }
    write_count(table, 2, "carriers", report.carriers as u32)?;
    write_count(table, 2, "area codes", report.area_codes as u32)?;
    write_count(table, 4, "with exchanges", report.area_codes_with_exchanges)?;
    let Differences { exchanges, carriers, area_codes, by_area_code } = &report.changes.differences;
    for (name, delta) in
        [("exchanges", exchanges), ("carriers", carriers), ("area codes", area_codes)]
    {
        if delta.total() > 0 {
            write_delta(table, 2, name, delta)?;
        }
    }
    if report.outcome == Outcome::Planned {
        for (npa, delta) in by_area_code {
            write_delta(table, 4, npa, delta)?;
        }
    }
    quality::write(table, &report.quality)?;
    carrier_types::write(table, &report.quality.carrier_types, MAX_COMPANIES)?;
    if matches!(report.outcome, Outcome::Planned | Outcome::Refused { .. }) {
        changes::write(table, &report.changes)?;
    }
    let written = HumanCount(report.items.written as u64);
    let deleted = HumanCount(report.items.deleted as u64);
    writeln!(table, "  {:<18}{written} written, {deleted} deleted", "items")?;
    let skipped = report.skipped.iter().map(|(reason, &count)| (count, reason.clone()));
    write_reasons(table, "Skipped", skipped)?;
    let warnings = report
        .warnings
        .iter()
        .map(|(kind, warning)| (warning.count, format!("{kind}: {}", warning.examples.join("; "))));
    write_reasons(table, "Warnings", warnings)
}

fn write_count(
    table: &mut String,
    indent: usize,
    name: impl fmt::Display,
    count: u32,
) -> fmt::Result {
    let (name, count) = (format!("{:indent$}{name}", ""), HumanCount(count.into()).to_string());
    writeln!(table, "{name:<20}{count:>10}")
}

fn write_delta(
    table: &mut String,
    indent: usize,
    name: impl fmt::Display,
    &Delta { added, removed, changed }: &Delta,
) -> fmt::Result {
    let name = format!("{:indent$}{name}", "");
    let [added, removed, changed] = [added, removed, changed].map(|n| HumanCount(n.into()));
    writeln!(table, "{name:<20}{added} added, {removed} removed, {changed} changed")
}

fn write_reasons(
    table: &mut String,
    title: &str,
    reasons: impl Iterator<Item = (u32, String)> + Clone,
) -> fmt::Result {
    let total: u64 = reasons.clone().map(|(count, _)| u64::from(count)).sum();
    writeln!(table, "{title}: {}", HumanCount(total))?;
    for (count, reason) in reasons {
        let count = HumanCount(count.into()).to_string();
        writeln!(table, "{count:>8}  {}", escape_controls(&reason))?;
    }
    Ok(())
}
