//! The share of exchanges whose carrier has a type.

use std::{cmp::Reverse, collections::BTreeMap};

use numbering::{
    dataset::Dataset,
    records::{Carrier, Country, TypeBasis},
};
use serde::Serialize;

use crate::quality::rounded_percent;

const MAX_COMPANIES: usize = 50;

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TypeCoverage {
    pub by_country: BTreeMap<Country, ExchangesByBasis>,
    /// The companies without a type, those with the most exchanges first.
    pub largest_without_type: Vec<CompanyCount>,
}

/// Exchanges with an OCN, by the source of their carrier's type.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::tests::carrier;

    #[test]
    fn exchanges_are_counted_by_basis_and_untyped_companies_by_size() {
        let typed = |ocn, basis, exchanges| Carrier {
            type_basis: Some(basis),
            ..carrier(ocn, "Typed", exchanges)
        };
        let carriers = vec![
            typed("0001", TypeBasis::CompanyFamily, 5),
            typed("0002", TypeBasis::CompanyName, 2),
            typed("0003", TypeBasis::CompanyFamily, 1),
            carrier("0004", "B", 2),
            carrier("0005", "A", 3),
            carrier("0006", "B", 2),
            carrier("0007", "", 1),
        ];
        let dataset = Dataset::new(carriers, Vec::new(), Vec::new());
        let TypeCoverage { by_country, largest_without_type } = TypeCoverage::new(&dataset);
        let us = &by_country[&Country::Us];
        let by_basis = [(TypeBasis::CompanyFamily, 6), (TypeBasis::CompanyName, 2)];
        assert_eq!((us.total(), us.without_type), (16, 8));
        assert_eq!(us.by_basis, BTreeMap::from(by_basis));
        let largest = largest_without_type.iter().map(|it| (&*it.company_name, it.exchanges));
        assert_eq!(largest.collect::<Vec<_>>(), [("B", 4), ("A", 3), ("0007", 1)]);
    }
}
