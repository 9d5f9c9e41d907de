//! The `quality` command, and a version's completeness in the report on an import.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{CompanyCount, Quality, QualityReport, SHARES, TypeCoverage};

use super::print;
use crate::{
    CliError,
    data::{args::ReportArgs, numbering_data::NumberingData},
    terminal::escape::escape_controls,
};

/// Prints the completeness of the current version, and the largest companies without a carrier type.
pub async fn show_quality(args: ReportArgs) -> Result<(), CliError> {
    let data = NumberingData::load(&args.data).await?;
    let quality = QualityReport::between(None, &Quality::new(&data.dataset));
    print(args.json, &quality, |table, it| write_quality(table, it, usize::MAX))
}

/// Writes each country's figures, and the first companies without a carrier type.
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
            let values = [figure.before, figure.after].map(|value| format(name, value));
            write_row(table, &format!("  {name}"), values.each_ref().map(String::as_str))?;
        }
    }
    write_carrier_types(table, &report.carrier_types, max_companies)
}

/// Writes each country's exchanges by the source of their carrier's type, and the first companies without one.
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

fn format(name: &str, value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(percent) if SHARES.contains(&name) => format_percentage(percent),
        Some(count) => HumanCount(count as u64).to_string(),
    }
}
