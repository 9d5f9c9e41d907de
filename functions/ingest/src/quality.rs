//! A version's completeness by country: exchanges with a holder, OCN, state and rate center, and the number of distinct
//! values in these columns.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use numbering::dataset::Dataset;
use numbering::records::{Country, Exchange, Status};
use serde::Serialize;

/// The completeness of one version.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Quality {
    pub by_country: BTreeMap<Country, Coverage>,
}

/// The number of a country's exchanges with a value in each column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub records: u32,
    pub by_status: BTreeMap<Status, u32>,
    /// `holders`, `ocns`, `states` and `rate_centers`.
    #[serde(flatten)]
    pub columns: BTreeMap<&'static str, Values>,
}

/// The values of one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Values {
    /// The number of records with a value.
    pub filled: u32,
    /// The number of distinct values.
    pub distinct: u32,
    /// The number of records with the most frequent value.
    pub most_frequent: u32,
}

/// A version's quality, compared with the previous version's.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QualityReport {
    pub countries: BTreeMap<Country, Figures>,
}

/// Figures by name: counts, and [`SHARES`].
pub type Figures = BTreeMap<&'static str, BeforeAfter>;

/// The figures that are percentages of the records, in report order.
pub const SHARES: [&str; 7] =
    ["holder", "ocn", "state", "rate_center", "assigned", "unassigned", "reserved"];

/// A figure in both versions; `None` where there is nothing to measure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct BeforeAfter {
    pub before: Option<f64>,
    pub after: Option<f64>,
}

/// An exchange's value in a column.
type ValueOf = for<'a> fn(&'a Exchange) -> Option<Cow<'a, str>>;

const COLUMNS: [(&str, ValueOf); 4] = [
    ("holders", |exchange| exchange.company_name.as_deref().map(Cow::Borrowed)),
    ("ocns", |exchange| Some(exchange.ocn?.to_string().into())),
    ("states", |exchange| Some(exchange.state?.to_string().into())),
    ("rate_centers", |exchange| exchange.rate_center.as_deref().map(Cow::Borrowed)),
];

impl QualityReport {
    /// Compares a version with the previous one, if any.
    pub fn between(before: Option<&Quality>, after: &Quality) -> Self {
        let mut report = Self::default();
        for (country, name, value) in before.into_iter().flat_map(Quality::figures) {
            report.figure(country, name).before = Some(value);
        }
        for (country, name, value) in after.figures() {
            report.figure(country, name).after = Some(value);
        }
        report
    }

    fn figure(&mut self, country: Country, name: &'static str) -> &mut BeforeAfter {
        self.countries.entry(country).or_default().entry(name).or_default()
    }
}

impl Quality {
    /// Measures the completeness of a version.
    pub fn new(dataset: &Dataset) -> Self {
        let mut by_country: BTreeMap<Country, Coverage> = BTreeMap::new();
        let mut occurrences: BTreeMap<(Country, &str), HashMap<String, u32>> = BTreeMap::new();
        for exchange in dataset.exchanges() {
            let country = exchange.country;
            let coverage = by_country.entry(country).or_default();
            coverage.records += 1;
            *coverage.by_status.entry(exchange.status).or_default() += 1;
            for (column, value_of) in COLUMNS {
                let counts = occurrences.entry((country, column)).or_default();
                let Some(value) = value_of(&exchange) else { continue };
                match counts.get_mut(value.as_ref()) {
                    Some(count) => *count += 1,
                    None if value.trim().is_empty() => (),
                    None => _ = counts.insert(value.into_owned(), 1),
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
        Self { by_country }
    }

    fn figures(&self) -> impl Iterator<Item = (Country, &'static str, f64)> {
        self.by_country.iter().flat_map(|(&country, coverage)| {
            coverage.figures().map(|(name, value)| (country, name, value))
        })
    }
}

impl Coverage {
    fn figures(&self) -> [(&'static str, f64); 11] {
        // Hundredths of a percent are the precision that readers compare.
        let share = |count| (percent(count, self.records) * 100.0).round() / 100.0;
        let with_status = |status| share(self.by_status.get(&status).copied().unwrap_or_default());
        let [holders, ocns, states, rate_centers] = COLUMNS.map(|(name, _)| self.columns[name]);
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

/// `count` as a percentage of `of`; 0 if `of` is 0.
pub(crate) fn percent(count: u32, of: u32) -> f64 {
    if of == 0 {
        return 0.0;
    }
    100.0 * f64::from(count) / f64::from(of)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use numbering::records::{AreaCode, Carrier, NpaNxx, OwnedExchanges};

    use super::*;

    pub(crate) fn exchange(
        npa_nxx: &str,
        ocn: Option<&str>,
        rate_center: &str,
        status: Status,
    ) -> Exchange {
        let NpaNxx { npa, nxx } = npa_nxx.parse().unwrap();
        Exchange {
            npa,
            nxx,
            ocn: ocn.map(|ocn| ocn.parse().unwrap()),
            company_name: ocn.map(|ocn| format!("Company {ocn}")),
            carrier_type: None,
            rate_center: Some(rate_center.to_owned()).filter(|name| !name.is_empty()),
            state: Some("CA".parse().unwrap()),
            country: Country::Us,
            status,
            blocks: BTreeMap::new(),
        }
    }

    pub(crate) fn carrier(ocn: &str, company_name: &str, exchanges: u32) -> Carrier {
        Carrier {
            ocn: ocn.parse().unwrap(),
            company_name: Some(company_name.to_owned()).filter(|name| !name.is_empty()),
            common_name: None,
            carrier_type: None,
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges { total: exchanges, by_state: BTreeMap::new() },
        }
    }

    pub(crate) fn area_code(npa: &str, total_exchanges: u32) -> AreaCode {
        AreaCode {
            npa: npa.parse().unwrap(),
            state: None,
            states: BTreeSet::new(),
            country: Country::Us,
            total_exchanges,
        }
    }

    fn quality(exchanges: Vec<Exchange>) -> Quality {
        Quality::new(&Dataset::new(vec![carrier("0051", "A", 1)], Vec::new(), exchanges))
    }

    #[test]
    fn columns_are_measured_and_compared_by_country() {
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
