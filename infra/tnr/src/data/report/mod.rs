//! Prints command results as text or JSON, including the import report and the `quality` command.

pub mod changes;

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
};

use indicatif::HumanCount;
use ingest::{
    CompanyCount, CountryReport, Differences, ImportReport, IngestError, Outcome, Quality,
    QualityReport, SHARES, TypeCoverage, Warning,
};
use numbering::records::Version;
use serde::Serialize;

use crate::{
    CliError,
    data::{args::ReportArgs, numbering_data::NumberingData},
    error::{Context, pluralize},
    terminal::{self, escape::escape_controls},
};

const MAX_COMPANIES: usize = 10;

/// Prints `result` as a line of JSON, or as a table written by `write_table`.
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

pub fn failure(error: &IngestError) -> String {
    serde_json::json!(Outcome::failed(error)).to_string()
}

/// Writes an import's summary, after its changes if none were made, and after all details if `verbose`.
pub fn write_import(table: &mut String, report: &ImportReport, verbose: bool) -> fmt::Result {
    let has_changed = !matches!(report.outcome, Outcome::Planned | Outcome::Refused { .. });
    if verbose || !has_changed {
        write_deltas(table, report)?;
    }
    if verbose {
        write_findings(table, report)?;
    }
    if !has_changed {
        changes::write(table, &report.changes)?;
    }
    writeln!(table, "{}", summary(report, verbose))?;
    write_countries(table, &report.countries, verbose)
}

/// Writes a line for each country, with its warnings if `verbose`.
pub fn write_countries(
    table: &mut String,
    countries: &BTreeMap<String, CountryReport>,
    verbose: bool,
) -> fmt::Result {
    for (code, CountryReport { outcome, ranges, holders, date, rows, skipped, warnings }) in
        countries
    {
        let outcome = match outcome {
            Outcome::Published | Outcome::RolledBack => "published",
            Outcome::Unchanged => "unchanged",
            Outcome::Planned => "dry run",
            Outcome::Refused { .. } => "refused",
            Outcome::Failed { .. } => {
                writeln!(table, "{code} failed")?;
                continue;
            }
        };
        let date = date.map_or(String::new(), |date| format!(", newest entry {date}"));
        let [ranges, holders] = [pluralize(*ranges, "range"), pluralize(*holders, "holder")];
        let rows = pluralize(*rows as usize, "row");
        writeln!(table, "{code} {outcome}: {ranges} of {holders} from {rows}{date}")?;
        if verbose {
            let skipped = skipped.iter().map(|(reason, &count)| (count, reason.clone()));
            write_reasons(table, "Skipped", skipped)?;
            write_reasons(table, "Warnings", reasons(warnings))?;
        }
    }
    Ok(())
}

fn reasons(warnings: &BTreeMap<String, Warning>) -> impl Iterator<Item = (u32, String)> + Clone {
    let reason = |(kind, warning): (&String, &Warning)| {
        (warning.count, format!("{kind}: {}", warning.examples.join("; ")))
    };
    warnings.iter().map(reason)
}

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
        Outcome::Failed { .. } => format!("Failed, {unchanged}"),
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

fn write_deltas(table: &mut String, report: &ImportReport) -> fmt::Result {
    let Differences { exchanges, carriers, area_codes, .. } = &report.changes.differences;
    for (name, delta) in
        [("exchanges", exchanges), ("carriers", carriers), ("area codes", area_codes)]
    {
        let [added, removed, changed] =
            [delta.added, delta.removed, delta.changed].map(|count| HumanCount(count.into()));
        if delta.total() > 0 {
            writeln!(table, "  {name:<18}{added} added, {removed} removed, {changed} changed")?;
        }
    }
    Ok(())
}

fn write_findings(table: &mut String, report: &ImportReport) -> fmt::Result {
    write_quality(table, &report.quality, MAX_COMPANIES)?;
    let skipped = report.skipped.iter().map(|(reason, &count)| (count, reason.clone()));
    write_reasons(table, "Skipped", skipped)?;
    write_reasons(table, "Warnings", reasons(&report.warnings))
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

/// Prints the current version's completeness, and the largest companies without a carrier type.
pub async fn show_quality(args: ReportArgs) -> Result<(), CliError> {
    let data = NumberingData::load(&args.data, false).await?;
    let quality = QualityReport::between(None, &Quality::new(&data.dataset));
    print(args.json, &quality, |table, it| write_quality(table, it, usize::MAX))
}

pub(super) fn write_quality(
    table: &mut String,
    report: &QualityReport,
    max_companies: usize,
) -> fmt::Result {
    for (country, figures) in &report.countries {
        write_row(table, &format!("Quality for {country}"), ["before", "after"])?;
        let is_count = |name: &&str| !SHARES.contains(name) && *name != "records";
        let counts = figures.keys().copied().filter(is_count);
        for name in ["records"].into_iter().chain(SHARES).chain(counts) {
            let Some(figure) = figures.get(name) else { continue };
            let values = [figure.before, figure.after].map(|value| format_figure(name, value));
            write_row(table, &format!("  {name}"), values.each_ref().map(String::as_str))?;
        }
    }
    write_carrier_types(table, &report.carrier_types, max_companies)
}

fn write_carrier_types(table: &mut String, coverage: &TypeCoverage, max: usize) -> fmt::Result {
    for (country, exchanges) in &coverage.by_country {
        write_row(table, &format!("Carrier types for {country}"), ["exchanges", "share"])?;
        let total = f64::from(exchanges.total().max(1));
        let by_basis = exchanges.by_basis.iter();
        let by_basis = by_basis.map(|(basis, &count)| (basis.to_string().to_lowercase(), count));
        for (basis, count) in by_basis.chain([("none".to_owned(), exchanges.without_type)]) {
            let share = format_percentage(100.0 * f64::from(count) / total);
            let count = HumanCount(count.into()).to_string();
            write_row(table, &format!("  {basis}"), [&count, &share])?;
        }
    }
    if !coverage.largest_without_type.is_empty() {
        writeln!(table, "Largest companies without a type, by exchanges")?;
    }
    for CompanyCount { company_name, exchanges } in coverage.largest_without_type.iter().take(max) {
        let exchanges = HumanCount((*exchanges).into()).to_string();
        writeln!(table, "{exchanges:>8}  {}", escape_controls(company_name))?;
    }
    Ok(())
}

fn write_row(table: &mut String, name: &str, [first, second]: [&str; 2]) -> fmt::Result {
    writeln!(table, "{name:<30}{first:>12}{second:>12}")
}

fn format_percentage(percent: f64) -> String {
    format!("{percent:.1}%")
}

fn format_figure(name: &str, value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(percent) if SHARES.contains(&name) => format_percentage(percent),
        Some(count) => HumanCount(count as u64).to_string(),
    }
}
