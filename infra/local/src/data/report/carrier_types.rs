//! The share of exchanges whose carrier has a type, and the companies to add to the table of families.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{CompanyCount, TypeCoverage};

use super::format_percentage;
use crate::terminal::escape::escape_controls;

/// Writes each country's exchanges by the source of their carrier's type, and the first companies without one.
pub(super) fn write(table: &mut String, coverage: &TypeCoverage, max: usize) -> fmt::Result {
    for (country, exchanges) in &coverage.by_country {
        let total = exchanges.total();
        writeln!(
            table,
            "{:<30}{:>12}{:>12}",
            format!("Carrier types for {country}"),
            "exchanges",
            "share"
        )?;
        let by_basis = exchanges
            .by_basis
            .iter()
            .map(|(basis, &count)| (basis.to_string().to_lowercase(), count));
        for (basis, count) in by_basis.chain([("none".to_owned(), exchanges.without_type)]) {
            let share = format_percentage(100.0 * f64::from(count) / f64::from(total.max(1)));
            let count = HumanCount(count.into()).to_string();
            writeln!(table, "  {basis:<28}{count:>12}{share:>12}")?;
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
