//! A table of how complete a version is, compared with the one before it.

use std::fmt::{self, Write};

use indicatif::HumanCount;
use ingest::{BeforeAfter, Column, Figures, QualityReport};
use numbering::records::Npa;

/// Most area codes the table shows; the JSON report has all that moved.
const MOST_AREA_CODES: usize = 10;

/// Writes every figure of each country, and the area codes that moved most.
pub(super) fn write(table: &mut String, report: &QualityReport) -> fmt::Result {
    for (country, figures) in &report.countries {
        writeln!(table, "{:<30}{:>12}{:>12}", format!("Quality of {country}"), "before", "after")?;
        for (name, figure) in ordered(figures) {
            let [before, after] = [figure.before, figure.after].map(|value| shown(name, value));
            writeln!(table, "  {name:<28}{before:>12}{after:>12}")?;
        }
    }
    let mut moved: Vec<Moved> = report.area_codes.iter().filter_map(most_moved).collect();
    moved.sort_by(|a, b| b.figure.distance().total_cmp(&a.figure.distance()));
    if !moved.is_empty() {
        writeln!(table, "Area codes that moved most, of {}", moved.len())?;
    }
    for Moved { npa, name, figure } in moved.iter().take(MOST_AREA_CODES) {
        let [before, after] = [figure.before, figure.after].map(|value| shown(name, value));
        writeln!(table, "  {npa} {name}: {before} -> {after}")?;
    }
    Ok(())
}

/// The figures with the number of records first, then the columns in the order of [`Column::ALL`].
pub(crate) fn ordered(figures: &Figures) -> Vec<(&'static str, BeforeAfter)> {
    let names = [vec!["records"], Column::ALL.map(Column::name).to_vec()].concat();
    let place = |wanted: &str| names.iter().position(|name| *name == wanted);
    let mut ordered: Vec<_> = figures.iter().map(|(&name, &figure)| (name, figure)).collect();
    ordered.sort_by_key(|&(name, _)| place(name).unwrap_or(names.len()));
    ordered
}

/// The share of an area code that moved farthest.
struct Moved {
    npa: Npa,
    name: &'static str,
    figure: BeforeAfter,
}

fn most_moved((&npa, figures): (&Npa, &Figures)) -> Option<Moved> {
    let shares = figures.iter().filter(|(name, figure)| {
        is_share(name) && figure.before.is_some() && figure.after.is_some()
    });
    let farthest = shares.max_by(|(_, a), (_, b)| a.distance().total_cmp(&b.distance()));
    farthest.map(|(&name, &figure)| Moved { npa, name, figure })
}

/// Whether the figure of this name is a share in percent; the others are counts.
pub(crate) fn is_share(name: &str) -> bool {
    Column::ALL.iter().any(|column| column.name() == name)
}

/// A share as it is shown.
pub(crate) fn share(percent: f64) -> String {
    format!("{percent:.1} %")
}

fn shown(name: &str, value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(percent) if is_share(name) => share(percent),
        Some(count) => HumanCount(count as u64).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use numbering::records::Country;

    use super::*;

    fn figure(before: f64, after: f64) -> BeforeAfter {
        BeforeAfter { before: Some(before), after: Some(after) }
    }

    #[test]
    fn countries_are_shown_whole_and_the_area_codes_that_moved_most() {
        let us =
            Figures::from([("ocn", figure(97.3, 0.0)), ("records", figure(202468.0, 202460.0))]);
        let area_codes = (201..231).map(|npa: u16| {
            let moved = Figures::from([
                ("ocn", figure(90.0, 90.0 - f64::from(npa - 200))),
                ("records", figure(800.0, 1.0)),
            ]);
            (npa.to_string().parse().unwrap(), moved)
        });
        let report = QualityReport {
            countries: BTreeMap::from([(Country::Us, us)]),
            area_codes: area_codes.collect(),
            ..QualityReport::default()
        };
        let mut table = String::new();
        write(&mut table, &report).unwrap();
        assert!(
            table.contains("  ocn                               97.3 %       0.0 %\n"),
            "{table}"
        );
        assert!(table.contains("202,468     202,460\n  ocn"), "{table}");
        assert!(table.contains("moved most, of 30\n  230 ocn: 90.0 % -> 60.0 %\n"), "{table}");
        assert_eq!(table.matches(" -> ").count(), MOST_AREA_CODES);
    }
}
