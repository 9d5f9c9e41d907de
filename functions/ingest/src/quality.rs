//! Data completeness by country: filled and distinct values per column, and exchanges with a carrier type.

#[cfg(test)]
pub(crate) mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use numbering::{
    dataset::Dataset,
    records::{Carrier, Country, Exchange, Status, TypeBasis},
};
use serde::Serialize;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Quality {
    pub by_country: BTreeMap<Country, Coverage>,
    pub carrier_types: TypeCoverage,
}

/// Counts of a country's exchanges, by status and by column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub records: u32,
    pub by_status: BTreeMap<Status, u32>,
    /// Thousands blocks that have a holder.
    pub blocks: u32,
    /// Exchanges that have such blocks.
    pub pooled_exchanges: u32,
    /// `holders`, `ocns`, `states` and `rate_centers`.
    #[serde(flatten)]
    pub columns: BTreeMap<&'static str, ColumnCounts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ColumnCounts {
    pub filled: u32,
    pub distinct: u32,
    /// The number of records with the most frequent value.
    pub most_frequent: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QualityReport {
    pub countries: BTreeMap<Country, Figures>,
    /// The carrier types in the later version.
    pub carrier_types: TypeCoverage,
}

pub(crate) type Figure = (&'static str, f64);

/// Figures by name: counts, and percentages from [`SHARES`].
pub type Figures = BTreeMap<&'static str, BeforeAfter>;

/// The names of figures that are percentages, in report order.
pub const SHARES: [&str; 7] =
    ["holder", "ocn", "state", "rate_center", "assigned", "unassigned", "reserved"];

/// A figure in two versions; `None` if a version does not have it.
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
            let counts = ColumnCounts {
                filled: counts.values().sum(),
                distinct: counts.len() as u32,
                most_frequent: counts.into_values().max().unwrap_or_default(),
            };
            by_country.entry(country).or_default().columns.insert(column, counts);
        }
        Self { by_country, carrier_types: TypeCoverage::new(dataset) }
    }

    pub(crate) fn exchanges_in(&self, country: Country) -> Vec<Figure> {
        let typed = self.carrier_types.by_country.get(&country);
        let typed = typed.map(|by_basis| (TYPE_SHARE, by_basis.percent_typed()));
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
pub(crate) const TYPE_SHARE: &str = "carrier_type";

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

pub(crate) fn rounded_percent(part: u32, total: u32) -> f64 {
    (percent(part, total) * 100.0).round() / 100.0
}

const MAX_COMPANIES: usize = 50;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TypeCoverage {
    pub by_country: BTreeMap<Country, ExchangesByBasis>,
    /// Companies without a type, most exchanges first.
    pub largest_without_type: Vec<CompanyCount>,
}

/// Exchanges with an OCN, counted by the source of the carrier's type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExchangesByBasis {
    #[serde(flatten)]
    pub by_basis: BTreeMap<TypeBasis, u32>,
    pub without_type: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CompanyCount {
    pub company_name: String,
    pub exchanges: u32,
}

impl TypeCoverage {
    pub fn new(dataset: &Dataset) -> Self {
        let mut by_country: BTreeMap<Country, ExchangesByBasis> = BTreeMap::new();
        let mut without_type: BTreeMap<String, u32> = BTreeMap::new();
        for Carrier { ocn, company_name, type_basis, country, exchanges, .. } in dataset.carriers()
        {
            let counts = by_country.entry(country).or_default();
            match type_basis {
                Some(basis) => *counts.by_basis.entry(basis).or_default() += exchanges.total,
                None => {
                    counts.without_type += exchanges.total;
                    let name = company_name.unwrap_or_else(|| ocn.to_string());
                    *without_type.entry(name).or_default() += exchanges.total;
                }
            }
        }
        let mut largest: Vec<_> = without_type
            .into_iter()
            .map(|(company_name, exchanges)| CompanyCount { company_name, exchanges })
            .collect();
        largest.sort_by_key(|company| Reverse(company.exchanges));
        largest.truncate(MAX_COMPANIES);
        Self { by_country, largest_without_type: largest }
    }
}

impl ExchangesByBasis {
    pub fn total(&self) -> u32 {
        self.without_type + self.by_basis.values().sum::<u32>()
    }

    /// The percentage of exchanges whose carrier has a type, in hundredths.
    pub(crate) fn percent_typed(&self) -> f64 {
        rounded_percent(self.total() - self.without_type, self.total())
    }
}
