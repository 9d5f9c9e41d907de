//! Command results as text or JSON, including the import report.

mod changes;
mod quality;

use std::{
    fmt::{self, Write as _},
    iter,
};

use indicatif::HumanCount;
use ingest::{Differences, ImportReport, IngestError, Outcome};
use logging::with_causes;
use numbering::records::Version;
use serde::Serialize;

pub use changes::ChangesFile;
pub use quality::show_quality;

use self::quality::write_quality;

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
    let countries = report.by_country.iter().map(|(name, &count)| (format!("  {name}"), count));
    let statuses = report.by_status.iter().map(|(name, &count)| (format!("  {name}"), count));
    let rows = iter::once(("records".to_owned(), report.records)).chain(countries).chain(statuses);
    let more = [
        ("carriers".to_owned(), report.carriers as u32),
        ("area codes".to_owned(), report.area_codes as u32),
        ("  with exchanges".to_owned(), report.area_codes_with_exchanges),
    ];
    for (name, count) in rows.chain(more) {
        writeln!(table, "  {name:<18}{:>10}", HumanCount(count.into()).to_string())?;
    }
    Ok(())
}

fn write_deltas(table: &mut String, report: &ImportReport, verbose: bool) -> fmt::Result {
    let Differences { exchanges, carriers, area_codes, by_area_code } = &report.changes.differences;
    let totals = [("exchanges", exchanges), ("carriers", carriers), ("area codes", area_codes)];
    let totals = totals.into_iter().filter(|(_, delta)| delta.total() > 0);
    let totals = totals.map(|(name, delta)| (name.to_owned(), delta));
    let is_detailed = verbose && report.outcome == Outcome::Planned;
    let details = by_area_code.iter().filter(|_| is_detailed);
    for (name, delta) in totals.chain(details.map(|(npa, delta)| (format!("  {npa}"), delta))) {
        let [added, removed, changed] =
            [delta.added, delta.removed, delta.changed].map(|count| HumanCount(count.into()));
        writeln!(table, "  {name:<18}{added} added, {removed} removed, {changed} changed")?;
    }
    Ok(())
}

fn write_findings(table: &mut String, report: &ImportReport) -> fmt::Result {
    write_quality(table, &report.quality, MAX_COMPANIES)?;
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
