//! A version's completeness by country: exchanges with a holder, OCN, state and rate center, and the number of distinct
//! values in these columns.

use std::collections::{BTreeMap, HashMap};

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
    pub holders: Values,
    pub ocns: Values,
    pub states: Values,
    pub rate_centers: Values,
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

impl QualityReport {
    /// Compares a version with the previous one, if any.
    pub fn between(before: Option<&Quality>, after: &Quality) -> Self {
        let mut countries: BTreeMap<Country, Figures> = BTreeMap::new();
        for (&country, coverage) in before.iter().flat_map(|quality| &quality.by_country) {
            for (name, value) in coverage.figures() {
                countries.entry(country).or_default().entry(name).or_default().before = Some(value);
            }
        }
        for (&country, coverage) in &after.by_country {
            for (name, value) in coverage.figures() {
                countries.entry(country).or_default().entry(name).or_default().after = Some(value);
            }
        }
        Self { countries }
    }
}

impl Coverage {
    fn figures(&self) -> [(&'static str, f64); 11] {
        let share = |count| rounded(percent(count, self.records));
        let status = |status| share(self.by_status.get(&status).copied().unwrap_or_default());
        [
            ("records", self.records.into()),
            ("holder", share(self.holders.filled)),
            ("ocn", share(self.ocns.filled)),
            ("state", share(self.states.filled)),
            ("rate_center", share(self.rate_centers.filled)),
            ("assigned", status(Status::Assigned)),
            ("unassigned", status(Status::Unassigned)),
            ("reserved", status(Status::Reserved)),
            ("distinct_holders", self.holders.distinct.into()),
            ("distinct_ocns", self.ocns.distinct.into()),
            ("distinct_rate_centers", self.rate_centers.distinct.into()),
        ]
    }
}

/// Rounds to hundredths of a percent, the precision readers compare.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// `count` as a percentage of `of`; 0 if `of` is 0.
pub(crate) fn percent(count: u32, of: u32) -> f64 {
    if of == 0 {
        return 0.0;
    }
    100.0 * f64::from(count) / f64::from(of)
}

impl Quality {
    /// Measures the completeness of a version.
    pub fn new(dataset: &Dataset) -> Self {
        let mut tallies: BTreeMap<Country, Tally> = BTreeMap::new();
        for exchange in dataset.exchanges() {
            tallies.entry(exchange.country).or_default().count(&exchange);
        }
        let by_country =
            tallies.into_iter().map(|(country, tally)| (country, tally.into_coverage()));
        Self { by_country: by_country.collect() }
    }
}

/// The exchanges counted so far.
#[derive(Default)]
struct Tally {
    records: u32,
    by_status: BTreeMap<Status, u32>,
    holders: Occurrences,
    ocns: Occurrences,
    states: Occurrences,
    rate_centers: Occurrences,
}

impl Tally {
    fn count(&mut self, exchange: &Exchange) {
        self.records += 1;
        *self.by_status.entry(exchange.status).or_default() += 1;
        self.holders.count(exchange.company_name.as_deref());
        self.ocns.count(exchange.ocn.map(|ocn| ocn.to_string()).as_deref());
        self.states.count(exchange.state.map(|state| state.to_string()).as_deref());
        self.rate_centers.count(exchange.rate_center.as_deref());
    }

    fn into_coverage(self) -> Coverage {
        Coverage {
            records: self.records,
            by_status: self.by_status,
            holders: self.holders.values(),
            ocns: self.ocns.values(),
            states: self.states.values(),
            rate_centers: self.rate_centers.values(),
        }
    }
}

/// The number of times each value of a column occurs.
#[derive(Default)]
struct Occurrences(HashMap<String, u32>);

impl Occurrences {
    fn count(&mut self, value: Option<&str>) {
        let Some(value) = value.filter(|value| !value.trim().is_empty()) else { return };
        match self.0.get_mut(value) {
            Some(count) => *count += 1,
            None => _ = self.0.insert(value.to_owned(), 1),
        }
    }

    fn values(&self) -> Values {
        Values {
            filled: self.0.values().sum(),
            distinct: self.0.len() as u32,
            most_frequent: self.0.values().copied().max().unwrap_or_default(),
        }
    }
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
        let rate_centers = after.by_country[&Country::Us].rate_centers;
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
