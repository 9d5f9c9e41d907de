//! A version's completeness by country: how many exchanges have a value in each column, how many values differ, and how
//! many exchanges have a carrier type.

use std::collections::{BTreeMap, HashMap};

use numbering::dataset::Dataset;
use numbering::records::{Country, Exchange, Status};
use serde::Serialize;

use crate::carrier_types::TypeCoverage;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Quality {
    pub by_country: BTreeMap<Country, Coverage>,
    pub carrier_types: TypeCoverage,
}

/// A country's exchanges, counted by status and by column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub records: u32,
    pub by_status: BTreeMap<Status, u32>,
    /// Thousands blocks with a holder.
    pub blocks: u32,
    /// Exchanges with such blocks.
    pub pooled_exchanges: u32,
    /// `holders`, `ocns`, `states` and `rate_centers`.
    #[serde(flatten)]
    pub columns: BTreeMap<&'static str, Values>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Values {
    pub filled: u32,
    pub distinct: u32,
    /// Records with the most frequent value.
    pub most_frequent: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QualityReport {
    pub countries: BTreeMap<Country, Figures>,
    /// The carrier types in the later version.
    pub carrier_types: TypeCoverage,
}

pub(crate) type Figure = (&'static str, f64);

/// Figures by name: counts, and [`SHARES`].
pub type Figures = BTreeMap<&'static str, BeforeAfter>;

/// The figures that are percentages, in report order.
pub const SHARES: [&str; 7] =
    ["holder", "ocn", "state", "rate_center", "assigned", "unassigned", "reserved"];

/// A figure in two versions; `None` for a version without it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct BeforeAfter {
    pub before: Option<f64>,
    pub after: Option<f64>,
}

type ValueOf = fn(&Exchange) -> Option<String>;

const COLUMNS: [(&str, ValueOf); 4] = [
    ("holders", |exchange| exchange.company_name.clone()),
    ("ocns", |exchange| Some(exchange.ocn?.to_string())),
    ("states", |exchange| Some(exchange.state?.to_string())),
    ("rate_centers", |exchange| exchange.rate_center.clone()),
];

impl QualityReport {
    pub fn between(before: Option<&Quality>, after: &Quality) -> Self {
        let mut countries: BTreeMap<Country, Figures> = BTreeMap::new();
        for (quality, is_after) in before.map(|it| (it, false)).into_iter().chain([(after, true)]) {
            for (&country, coverage) in &quality.by_country {
                for (name, value) in coverage.figures() {
                    let figure = countries.entry(country).or_default().entry(name).or_default();
                    let field = if is_after { &mut figure.after } else { &mut figure.before };
                    *field = Some(value);
                }
            }
        }
        Self { countries, carrier_types: after.carrier_types.clone() }
    }
}

impl Quality {
    pub fn new(dataset: &Dataset) -> Self {
        let mut by_country: BTreeMap<Country, Coverage> = BTreeMap::new();
        let mut occurrences: BTreeMap<(Country, &str), HashMap<String, u32>> = BTreeMap::new();
        for exchange in dataset.exchanges() {
            let country = exchange.country;
            let coverage = by_country.entry(country).or_default();
            coverage.records += 1;
            *coverage.by_status.entry(exchange.status).or_default() += 1;
            coverage.blocks += exchange.blocks.len() as u32;
            coverage.pooled_exchanges += u32::from(!exchange.blocks.is_empty());
            for (column, value_of) in COLUMNS {
                let counts = occurrences.entry((country, column)).or_default();
                if let Some(value) = value_of(&exchange) {
                    *counts.entry(value).or_default() += 1;
                }
            }
        }
        for ((country, column), counts) in occurrences {
            let values = Values {
                filled: counts.values().sum(),
                distinct: counts.len() as u32,
                most_frequent: counts.into_values().max().unwrap_or_default(),
            };
            by_country.entry(country).or_default().columns.insert(column, values);
        }
        Self { by_country, carrier_types: TypeCoverage::new(dataset) }
    }

    pub(crate) fn exchanges_in(&self, country: Country) -> Vec<Figure> {
        let typed = self.carrier_types.by_country.get(&country);
        let typed = typed.map(|by_basis| (TYPED, by_basis.percent_typed()));
        self.in_country(country).figures().into_iter().chain(typed).collect()
    }

    pub(crate) fn blocks_in(&self, country: Country) -> Vec<Figure> {
        let Coverage { blocks, pooled_exchanges, .. } = self.in_country(country);
        vec![("blocks", blocks.into()), ("pooled_exchanges", pooled_exchanges.into())]
    }

    fn in_country(&self, country: Country) -> Coverage {
        self.by_country.get(&country).cloned().unwrap_or_default()
    }
}

/// The percentage of exchanges with an OCN whose carrier has a type.
const TYPED: &str = "carrier_type";

/// Returns `true` for the name of a percentage, and `false` for that of a count.
pub(crate) fn is_percentage(name: &str) -> bool {
    SHARES.contains(&name) || name == TYPED
}

impl Coverage {
    fn figures(&self) -> [Figure; 11] {
        let share = |count| rounded_percent(count, self.records);
        let with_status = |status| share(self.by_status.get(&status).copied().unwrap_or_default());
        let [holders, ocns, states, rate_centers] =
            COLUMNS.map(|(name, _)| self.columns.get(name).copied().unwrap_or_default());
        [
            ("records", self.records.into()),
            ("holder", share(holders.filled)),
            ("ocn", share(ocns.filled)),
            ("state", share(states.filled)),
            ("rate_center", share(rate_centers.filled)),
            ("assigned", with_status(Status::Assigned)),
            ("unassigned", with_status(Status::Unassigned)),
            ("reserved", with_status(Status::Reserved)),
            ("distinct_holders", holders.distinct.into()),
            ("distinct_ocns", ocns.distinct.into()),
            ("distinct_rate_centers", rate_centers.distinct.into()),
        ]
    }
}

/// Returns `part` as a percentage of `total`; 0 if `total` is 0.
pub(crate) fn percent(part: u32, total: u32) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * f64::from(part) / f64::from(total) }
}

/// Returns the percentage, rounded to hundredths.
pub(crate) fn rounded_percent(part: u32, total: u32) -> f64 {
    (percent(part, total) * 100.0).round() / 100.0
}

#[cfg(test)]
pub(crate) mod tests {
    use numbering::records::{AreaCode, Carrier, OwnedExchanges};

    use super::*;

    pub(crate) fn exchange(
        npa_nxx: &str,
        ocn: Option<&str>,
        rate_center: &str,
        status: Status,
    ) -> Exchange {
        Exchange {
            ocn: ocn.map(|ocn| ocn.parse().unwrap()),
            company_name: ocn.map(|ocn| format!("Company {ocn}")),
            rate_center: Some(rate_center.to_owned()).filter(|name| !name.is_empty()),
            state: "CA".parse().ok(),
            status,
            ..Exchange::sample(npa_nxx)
        }
    }

    pub(crate) fn carrier(ocn: &str, company_name: &str, exchanges: u32) -> Carrier {
        Carrier {
            company_name: Some(company_name.to_owned()).filter(|name| !name.is_empty()),
            exchanges: OwnedExchanges { total: exchanges, by_state: BTreeMap::new() },
            ..Carrier::sample(ocn)
        }
    }

    pub(crate) fn area_code(npa: &str, total_exchanges: u32) -> AreaCode {
        AreaCode { total_exchanges, ..AreaCode::sample(npa) }
    }

    fn quality(exchanges: Vec<Exchange>) -> Quality {
        Quality::new(&Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges))
    }

    #[test]
    fn percentages_are_rounded_to_the_nearest_hundredth() {
        let rounded = [(1, 3), (2, 3), (1, 1), (0, 3), (0, 0)].map(|(a, b)| rounded_percent(a, b));
        assert_eq!(rounded, [33.33, 66.67, 100.0, 0.0, 0.0]);
    }

    #[test]
    fn coverage_is_measured_and_compared_by_country() {
        let assigned = |npa_nxx, ocn| exchange(npa_nxx, ocn, "SNFC", Status::Assigned);
        let before = quality(vec![
            assigned("415-200", Some("0051")),
            exchange("415-201", Some("0051"), "", Status::Unassigned),
        ]);
        let after = quality(vec![
            assigned("415-200", None),
            assigned("415-201", Some("0051")),
            exchange("916-200", None, "DAVIS", Status::Assigned),
        ]);
        let rate_centers = after.by_country[&Country::Us].columns["rate_centers"];
        assert_eq!(rate_centers, Values { filled: 3, distinct: 2, most_frequent: 2 });
        let report = QualityReport::between(Some(&before), &after);
        assert_eq!(report.countries.len(), 1);
        let us = &report.countries[&Country::Us];
        for (name, before, after) in [
            ("records", 2.0, 3.0),
            ("ocn", 100.0, 33.33),
            ("rate_center", 50.0, 100.0),
            ("unassigned", 50.0, 0.0),
            ("distinct_rate_centers", 1.0, 2.0),
        ] {
            let expected = BeforeAfter { before: Some(before), after: Some(after) };
            assert_eq!(us[name], expected, "{name}");
        }
        let first = QualityReport::between(None, &after);
        let records = first.countries[&Country::Us]["records"];
        assert_eq!(records, BeforeAfter { before: None, after: Some(3.0) });
    }
}
