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
    error::{Context, pluralize},
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

/// Writes an import's summary. Before it come its changes if none were made, and all details if `verbose`.
pub fn write_import(table: &mut String, report: &ImportReport, verbose: bool) -> fmt::Result {
    let has_changed = !matches!(report.outcome, Outcome::Planned | Outcome::Refused { .. });
    if verbose {
        write_records(table, report)?;
    }
    if verbose || !has_changed {
        write_deltas(table, report, verbose)?;
    }
    if verbose {
        write_findings(table, report)?;
    }
    if !has_changed {
        changes::write(table, &report.changes)?;
    }
    writeln!(table, "{}", summary(report, verbose))
}

/// The outcome with its counts, as one line.
fn summary(report: &ImportReport, verbose: bool) -> String {
    let version = report.version.as_ref().map(Version::as_str);
    let unchanged =
        version.map_or("nothing is published".to_owned(), |it| format!("{it} stays current"));
    let version = version.unwrap_or_default();
    let outcome = match &report.outcome {
        Outcome::Published => format!("Version {version} is current"),
        Outcome::RolledBack => format!("Version {version} is current again"),
        Outcome::Unchanged => format!("Version {version} already has this data"),
        Outcome::Planned => format!("Dry run, {unchanged}"),
        Outcome::Refused { .. } => format!("Refused, {unchanged}"),
    };
    let sample = if report.replaces_sample { ", instead of the made-up sample" } else { "" };
    let count = |count: u64, what| (count > 0).then(|| pluralize(count as usize, what));
    let skipped: u64 = report.skipped.values().map(|&rows| u64::from(rows)).sum();
    let warnings = report.warnings.values().map(|it| u64::from(it.count)).sum();
    let counts = [
        count(report.records.into(), "exchange"),
        count(report.carriers as u64, "carrier"),
        count(report.area_codes as u64, "area code"),
        count(report.changes.total() as u64, "change"),
        count(skipped, "skipped row"),
        count(warnings, "warning"),
    ];
    let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let more = if skipped + warnings > 0 && !verbose { "; --verbose lists them" } else { "" };
    format!("{outcome}{sample}: {counts}{more}")
}

fn write_records(table: &mut String, report: &ImportReport) -> fmt::Result {
    write_count(table, 2, "records", report.records)?;
    for (country, &count) in &report.by_country {
        write_count(table, 4, country, count)?;
    }
    for (status, &count) in &report.by_status {
        write_count(table, 4, status, count)?;
    }
    write_count(table, 2, "carriers", report.carriers as u32)?;
    write_count(table, 2, "area codes", report.area_codes as u32)?;
    write_count(table, 4, "with exchanges", report.area_codes_with_exchanges)
}

fn write_deltas(table: &mut String, report: &ImportReport, verbose: bool) -> fmt::Result {
    let Differences { exchanges, carriers, area_codes, by_area_code } = &report.changes.differences;
    for (name, delta) in
        [("exchanges", exchanges), ("carriers", carriers), ("area codes", area_codes)]
    {
        if delta.total() > 0 {
            write_delta(table, 2, name, delta)?;
        }
    }
    if verbose && report.outcome == Outcome::Planned {
        for (npa, delta) in by_area_code {
            write_delta(table, 4, npa, delta)?;
        }
    }
    Ok(())
}

fn write_findings(table: &mut String, report: &ImportReport) -> fmt::Result {
    quality::write(table, &report.quality)?;
    carrier_types::write(table, &report.quality.carrier_types, MAX_COMPANIES)?;
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
