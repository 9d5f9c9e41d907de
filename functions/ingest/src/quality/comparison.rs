//! The quality report of an import: how complete two versions are, side by side.

use std::collections::BTreeMap;

use numbering::records::{Country, Npa};
use serde::Serialize;

use super::{Column, Coverage, Quality};

/// The quality of a version beside that of the version before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QualityReport {
    /// Every figure of each country.
    pub countries: BTreeMap<Country, Figures>,
    /// The figures of an area code that moved; an area code without any is left out.
    pub area_codes: BTreeMap<Npa, Figures>,
    /// Every figure of the carriers.
    pub carriers: Figures,
    /// Every figure of the area codes as records of their own.
    pub area_code_records: Figures,
}

/// Figures by name: counts, and the share of the records that have a value in a column, in percent.
pub type Figures = BTreeMap<&'static str, BeforeAfter>;

/// A figure in both versions; `None` where a version has nothing to measure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct BeforeAfter {
    pub before: Option<f64>,
    pub after: Option<f64>,
}

impl BeforeAfter {
    /// How far the figure moved, either way; one that appears or vanishes moves by its whole value.
    pub fn distance(&self) -> f64 {
        (self.after.unwrap_or_default() - self.before.unwrap_or_default()).abs()
    }
}

impl QualityReport {
    /// Compares a version with the one before it, if there is one.
    pub fn between(before: Option<&Quality>, after: &Quality) -> Self {
        let Some(before) = before else { return Self::of_first_version(after) };
        let mut area_codes = compared_by_key(&before.by_area_code, &after.by_area_code, shares);
        for figures in area_codes.values_mut() {
            figures.retain(|_, figure| figure.before != figure.after);
        }
        area_codes.retain(|_, figures| !figures.is_empty());
        Self {
            countries: compared_by_key(&before.by_country, &after.by_country, shares_and_values),
            area_codes,
            carriers: joined(&carriers(before), &carriers(after)),
            area_code_records: joined(&area_code_records(before), &area_code_records(after)),
        }
    }

    /// The figures of the first version; no area code has moved.
    fn of_first_version(quality: &Quality) -> Self {
        let nothing = Measured::new();
        Self {
            countries: compared_by_key(&BTreeMap::new(), &quality.by_country, shares_and_values),
            area_codes: BTreeMap::new(),
            carriers: joined(&nothing, &carriers(quality)),
            area_code_records: joined(&nothing, &area_code_records(quality)),
        }
    }
}

/// The figures of one version, by name.
type Measured = Vec<(&'static str, f64)>;

fn compared_by_key<K: Ord + Copy>(
    before: &BTreeMap<K, Coverage>,
    after: &BTreeMap<K, Coverage>,
    measure: fn(&Coverage) -> Measured,
) -> BTreeMap<K, Figures> {
    let measured = |coverage: Option<&Coverage>| coverage.map_or(Measured::new(), measure);
    let keys = before.keys().chain(after.keys());
    keys.map(|key| (*key, joined(&measured(before.get(key)), &measured(after.get(key))))).collect()
}

fn joined(before: &Measured, after: &Measured) -> Figures {
    let mut figures = Figures::new();
    for &(name, value) in before {
        figures.entry(name).or_default().before = Some(value);
    }
    for &(name, value) in after {
        figures.entry(name).or_default().after = Some(value);
    }
    figures
}

/// The number of records, and for each column the share of them that have a value, in percent.
fn shares(coverage: &Coverage) -> Measured {
    let shares = Column::ALL.map(|column| (column.name(), rounded(coverage.percent(column))));
    shares.into_iter().chain([("records", f64::from(coverage.records))]).collect()
}

/// The same, and how many different values the columns have.
fn shares_and_values(coverage: &Coverage) -> Measured {
    let distinct = counts(&[
        ("distinct_holders", coverage.holders.distinct),
        ("distinct_ocns", coverage.ocns.distinct),
        ("distinct_rate_centers", coverage.rate_centers.distinct),
    ]);
    [shares(coverage), distinct].concat()
}

fn carriers(quality: &Quality) -> Measured {
    let carriers = &quality.carriers;
    counts(&[
        ("total", carriers.total),
        ("with_exchanges", carriers.with_exchanges),
        ("with_type", carriers.with_type),
        ("with_common_name", carriers.with_common_name),
        ("with_state", carriers.with_state),
        ("nameless", carriers.nameless),
    ])
}

fn area_code_records(quality: &Quality) -> Measured {
    let area_codes = &quality.area_codes;
    counts(&[
        ("total", area_codes.total),
        ("with_exchanges", area_codes.with_exchanges),
        ("with_state", area_codes.with_state),
    ])
}

fn counts(counts: &[(&'static str, u32)]) -> Measured {
    counts.iter().map(|&(name, count)| (name, f64::from(count))).collect()
}

/// Rounds to hundredths of a percent; readers compare no finer.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use numbering::dataset::Dataset;
    use numbering::records::Status;

    use super::*;
    use crate::quality::tests::{carrier, exchange};

    fn quality(exchanges: &[(&str, Option<&str>)]) -> Quality {
        let exchanges = exchanges.iter().map(|&(npa_nxx, ocn)| {
            exchange(
                npa_nxx,
                ocn,
                if npa_nxx.starts_with('9') { "" } else { "SNFC" },
                Status::Assigned,
            )
        });
        Quality::of(&Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges.collect()))
    }

    #[test]
    fn the_report_holds_every_figure_of_a_country_and_of_area_codes_what_moved() {
        let before = quality(&[("415-200", Some("0051")), ("916-200", Some("0051"))]);
        let after = quality(&[("415-200", None), ("916-200", Some("0051")), ("707-200", None)]);
        let report = QualityReport::between(Some(&before), &after);
        let us = &report.countries[&Country::Us];
        assert_eq!(us["ocn"], BeforeAfter { before: Some(100.0), after: Some(33.33) });
        assert_eq!(us["records"], BeforeAfter { before: Some(2.0), after: Some(3.0) });
        assert_eq!(us["assigned"].distance(), 0.0);
        let moved: Vec<String> = report.area_codes.keys().map(Npa::to_string).collect();
        assert_eq!(moved, ["415", "707"]);
        let of_415 = &report.area_codes[&"415".parse().unwrap()];
        assert_eq!(of_415["ocn"], BeforeAfter { before: Some(100.0), after: Some(0.0) });
        assert!(!of_415.contains_key("records"));
        let new = &report.area_codes[&"707".parse().unwrap()];
        assert_eq!(new["records"], BeforeAfter { before: None, after: Some(1.0) });
    }

    #[test]
    fn a_first_version_is_compared_with_nothing() {
        let report = QualityReport::between(None, &quality(&[("415-200", None)]));
        let records = report.countries[&Country::Us]["records"];
        assert_eq!(records, BeforeAfter { before: None, after: Some(1.0) });
        assert_eq!(report.carriers["total"], BeforeAfter { before: None, after: Some(1.0) });
        assert!(report.area_codes.is_empty());
    }
}
