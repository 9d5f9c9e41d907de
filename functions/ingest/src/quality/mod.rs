//! How complete a version of the data is: how many of its exchanges have a holder, an OCN, a state
//! and a rate center, and how many different values these columns have, by country and by area code.

mod comparison;

use std::collections::{BTreeMap, HashMap};

use numbering::dataset::Dataset;
use numbering::records::{Carrier, Country, Exchange, Npa, Status};
use serde::{Deserialize, Serialize};

pub use comparison::{BeforeAfter, Figures, QualityReport};

/// How complete one version is. It is stored beside the snapshot of the version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    pub by_country: BTreeMap<Country, Coverage>,
    pub by_area_code: BTreeMap<Npa, Coverage>,
    pub carriers: CarrierCoverage,
    pub area_codes: AreaCodeCoverage,
}

/// How many of some exchanges have a value in each column.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub records: u32,
    pub by_status: BTreeMap<Status, u32>,
    pub holders: Values,
    pub ocns: Values,
    pub states: Values,
    pub rate_centers: Values,
}

/// The values of one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Values {
    /// How many records have a value.
    pub filled: u32,
    /// How many different values there are.
    pub distinct: u32,
    /// How many records have the most frequent value.
    pub most_frequent: u32,
}

/// How many of the carriers have exchanges, a type, names and a state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CarrierCoverage {
    pub total: u32,
    /// Carriers that hold exchanges; the others hold blocks alone, or stand only in the overlay.
    pub with_exchanges: u32,
    pub with_type: u32,
    pub with_common_name: u32,
    pub with_state: u32,
    pub nameless: u32,
}

/// How many of the area codes have exchanges and a state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaCodeCoverage {
    pub total: u32,
    pub with_exchanges: u32,
    pub with_state: u32,
}

/// A column of the exchanges. Each of the three statuses counts as a column of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    Holder,
    Ocn,
    State,
    RateCenter,
    Status(Status),
}

impl Column {
    /// Every column, in the order of a report.
    pub const ALL: [Column; 7] = [
        Column::Holder,
        Column::Ocn,
        Column::State,
        Column::RateCenter,
        Column::Status(Status::Assigned),
        Column::Status(Status::Unassigned),
        Column::Status(Status::Reserved),
    ];

    /// The name of the column in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holder => "holder",
            Self::Ocn => "ocn",
            Self::State => "state",
            Self::RateCenter => "rate_center",
            Self::Status(Status::Assigned) => "assigned",
            Self::Status(Status::Unassigned) => "unassigned",
            Self::Status(Status::Reserved) => "reserved",
        }
    }

    /// The words that follow "exchanges" in a message about this column.
    pub(crate) fn described(self) -> &'static str {
        match self {
            Self::Holder => "with a company name",
            Self::Ocn => "with an OCN",
            Self::State => "with a state or province",
            Self::RateCenter => "with a rate center",
            Self::Status(Status::Assigned) => "of status ASSIGNED",
            Self::Status(Status::Unassigned) => "of status UNASSIGNED",
            Self::Status(Status::Reserved) => "of status RESERVED",
        }
    }
}

/// Whether two versions with so many records can be compared. If their number more than
/// doubles, the versions hold different data, such as a part of the reports and then all of them.
pub(crate) fn is_comparable(before: u32, after: u32) -> bool {
    after <= before.saturating_mul(2)
}

/// The share of `count` in `of`, in percent; 0 if there is nothing to have a share in.
pub(crate) fn percent(count: u32, of: u32) -> f64 {
    if of == 0 {
        return 0.0;
    }
    100.0 * f64::from(count) / f64::from(of)
}

impl Coverage {
    /// How many records have a value in this column.
    pub fn count(&self, column: Column) -> u32 {
        match column {
            Column::Holder => self.holders.filled,
            Column::Ocn => self.ocns.filled,
            Column::State => self.states.filled,
            Column::RateCenter => self.rate_centers.filled,
            Column::Status(status) => self.by_status.get(&status).copied().unwrap_or_default(),
        }
    }

    /// The share of the records that have a value in this column, in percent.
    pub fn percent(&self, column: Column) -> f64 {
        percent(self.count(column), self.records)
    }

    /// The columns that may hold any of many values, each with the word for its values in a message.
    pub(crate) fn values(&self) -> [(&'static str, Values); 4] {
        [
            ("company names", self.holders),
            ("OCNs", self.ocns),
            ("states or provinces", self.states),
            ("rate centers", self.rate_centers),
        ]
    }
}

impl Quality {
    /// Measures how complete a version is.
    pub fn of(dataset: &Dataset) -> Self {
        let mut by_country: BTreeMap<Country, Tally> = BTreeMap::new();
        let mut by_area_code: BTreeMap<Npa, Tally> = BTreeMap::new();
        for exchange in dataset.exchanges() {
            by_country.entry(exchange.country).or_default().count(&exchange);
            by_area_code.entry(exchange.npa).or_default().count(&exchange);
        }
        Self {
            by_country: coverage_by_key(by_country),
            by_area_code: coverage_by_key(by_area_code),
            carriers: CarrierCoverage::of(&dataset.carriers().collect::<Vec<_>>()),
            area_codes: AreaCodeCoverage::of(dataset),
        }
    }
}

fn coverage_by_key<K: Ord>(tallies: BTreeMap<K, Tally>) -> BTreeMap<K, Coverage> {
    tallies.into_iter().map(|(key, tally)| (key, tally.into_coverage())).collect()
}

impl CarrierCoverage {
    fn of(carriers: &[Carrier]) -> Self {
        let count = |is_counted: fn(&Carrier) -> bool| {
            carriers.iter().filter(|carrier| is_counted(carrier)).count() as u32
        };
        Self {
            total: carriers.len() as u32,
            with_exchanges: count(|carrier| carrier.exchanges.total > 0),
            with_type: count(|carrier| carrier.carrier_type.is_some()),
            with_common_name: count(|carrier| carrier.common_name.is_some()),
            with_state: count(|carrier| carrier.state.is_some()),
            nameless: count(|carrier| carrier.company_name.is_none()),
        }
    }
}

impl AreaCodeCoverage {
    fn of(dataset: &Dataset) -> Self {
        let area_codes: Vec<_> = dataset.area_codes().collect();
        let with_exchanges = area_codes.iter().filter(|area_code| area_code.total_exchanges > 0);
        let with_state = area_codes.iter().filter(|area_code| area_code.state.is_some());
        Self {
            total: area_codes.len() as u32,
            with_exchanges: with_exchanges.count() as u32,
            with_state: with_state.count() as u32,
        }
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

/// How often each value of a column occurs.
#[derive(Default)]
struct Occurrences(HashMap<String, u32>);

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

    use numbering::records::{AreaCode, OwnedExchanges};

    use super::*;

    pub(crate) fn exchange(
        npa_nxx: &str,
        ocn: Option<&str>,
        rate_center: &str,
        status: Status,
    ) -> Exchange {
        let numbering::records::NpaNxx { npa, nxx } = npa_nxx.parse().unwrap();
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

    fn dataset() -> Dataset {
        Dataset::new(
            vec![carrier("0051", "Company 0051", 2), carrier("6010", "", 0)],
            vec![area_code("415", 3), area_code("600", 0)],
            vec![
                exchange("415-200", Some("0051"), "SNFC", Status::Assigned),
                exchange("415-201", Some("0051"), "SNFC", Status::Assigned),
                exchange("415-202", None, "", Status::Unassigned),
                exchange("916-200", None, "DAVIS", Status::Assigned),
            ],
        )
    }

    #[test]
    fn each_column_is_counted_by_country_and_by_area_code() {
        let quality = Quality::of(&dataset());
        let us = &quality.by_country[&Country::Us];
        assert_eq!((us.records, us.ocns.filled, us.percent(Column::Ocn)), (4, 2, 50.0));
        assert_eq!(us.percent(Column::RateCenter), 75.0);
        assert_eq!(us.percent(Column::Status(Status::Assigned)), 75.0);
        assert_eq!(us.percent(Column::Status(Status::Reserved)), 0.0);
        assert_eq!(us.rate_centers, Values { filled: 3, distinct: 2, most_frequent: 2 });
        let of_415 = &quality.by_area_code[&"415".parse().unwrap()];
        assert_eq!((of_415.records, of_415.count(Column::Holder)), (3, 2));
        assert!(!quality.by_country.contains_key(&Country::Ca));
    }

    #[test]
    fn carriers_and_area_codes_are_counted_by_what_they_have() {
        let Quality { carriers, area_codes, .. } = Quality::of(&dataset());
        let CarrierCoverage { total, with_exchanges, nameless, .. } = carriers;
        assert_eq!((total, with_exchanges, nameless), (2, 1, 1));
        assert_eq!((area_codes.total, area_codes.with_exchanges, area_codes.with_state), (2, 1, 0));
    }

    #[test]
    fn a_share_of_nothing_is_zero() {
        assert_eq!(Coverage::default().percent(Column::Ocn), 0.0);
    }
}
