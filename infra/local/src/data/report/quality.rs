//! A version's completeness compared with the previous version.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{BeforeAfter, Figures, QualityReport, SHARES};

/// Writes each country's figures.
pub(super) fn write(table: &mut String, report: &QualityReport) -> fmt::Result {
    for (country, figures) in &report.countries {
        writeln!(table, "{:<30}{:>12}{:>12}", format!("Quality for {country}"), "before", "after")?;
        let is_count = |name: &&str| !SHARES.contains(name) && *name != "records";
        let counts = figures.keys().copied().filter(is_count);
        for name in ["records"].into_iter().chain(SHARES).chain(counts) {
            let Some(figure) = figures.get(name) else { continue };
            let [before, after] = [figure.before, figure.after].map(|value| format(name, value));
            writeln!(table, "  {name:<28}{before:>12}{after:>12}")?;
        }
    }
    Ok(())
}

/// The figures that are percentages, in report order.
pub(crate) fn percentages(figures: &Figures) -> impl Iterator<Item = (&'static str, BeforeAfter)> {
    SHARES.into_iter().filter_map(|name| Some((name, *figures.get(name)?)))
}

pub(crate) fn format_percentage(percent: f64) -> String {
    format!("{percent:.1}%")
}

fn format(name: &str, value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(percent) if SHARES.contains(&name) => format_percentage(percent),
        Some(count) => HumanCount(count as u64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use numbering::records::Country;

    use super::*;

    #[test]
    fn records_come_first_then_percentages_then_counts() {
        let figure = |before, after| BeforeAfter { before: Some(before), after };
        let us = Figures::from([
            ("distinct_ocns", figure(2.0, None)),
            ("ocn", figure(97.3, Some(0.0))),
            ("records", figure(202468.0, Some(202460.0))),
        ]);
        let mut table = String::new();
        let countries = BTreeMap::from([(Country::Us, us)]);
        write(&mut table, &QualityReport { countries, ..QualityReport::default() }).unwrap();
        assert_eq!(
            table,
            "Quality for US                      before       after\n\
             \x20 records                          202,468     202,460\n\
             \x20 ocn                                97.3%        0.0%\n\
             \x20 distinct_ocns                          2           -\n"
        );
    }
}
