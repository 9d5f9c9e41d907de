//! The whole numbering data in memory, from which every list and search is answered.
//!
//! The North American plan is bounded (at most 800 x 800 exchange codes), so a dataset packs into
//! a few bytes for each exchange. [`packed`] writes and reads it as one compressed snapshot.

mod folding;
mod last_changed;
mod names;
mod packed;
mod search;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::records::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, Record, StateCode,
    Statistics, Status,
};

use self::{last_changed::LastChanged, names::FoldedNames};

pub use packed::DamagedSnapshot;
pub use search::Search;
pub use words::{WholeName, Words, WordsError};

/// One version of the data, ordered by OCN, by NPA, and by NPA then NXX.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    carriers: Vec<Carrier>,
    area_codes: Vec<AreaCode>,
    /// The names of holders without an OCN.
    companies: Vec<String>,
    rate_centers: Vec<String>,
    rows: Vec<ExchangeRow>,
    /// The thousands blocks that have a holder, ordered by NPA, NXX and digit.
    blocks: Vec<ThousandsBlock>,
    /// Empty until [`Dataset::following`] makes the dataset a version.
    last_changed: LastChanged,
    #[serde(skip)]
    folded_names: FoldedNames,
}

/// A thousands block that has a holder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct ThousandsBlock {
    npa: Npa,
    nxx: Nxx,
    digit: u8,
    /// Index in `carriers`.
    carrier: u32,
    /// Index in `rate_centers`.
    rate_center: Option<u32>,
    /// The first day of the assignment.
    effective: Option<Date>,
}

impl ThousandsBlock {
    fn exchange(&self) -> (Npa, Nxx) {
        (self.npa, self.nxx)
    }
}

/// An exchange. The names in it are stored once for all exchanges, and found by an index.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct ExchangeRow {
    npa: Npa,
    nxx: Nxx,
    status: Status,
    country: Country,
    state: Option<StateCode>,
    holder: Option<Holder>,
    /// Index in `rate_centers`.
    rate_center: Option<u32>,
}

/// Who holds an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Holder {
    /// Index in `carriers`.
    Carrier(u32),
    /// Index in `companies`.
    Company(u32),
}

impl Dataset {
    /// Makes a dataset of records. Exchanges and thousands blocks take the name and type of their
    /// holder from the carrier of its OCN. A block whose OCN is not among `carriers` is left out.
    pub fn new(
        carriers: Vec<Carrier>,
        area_codes: Vec<AreaCode>,
        exchanges: Vec<Exchange>,
    ) -> Self {
        let carriers: BTreeMap<Ocn, Carrier> =
            carriers.into_iter().map(|carrier| (carrier.ocn, carrier)).collect();
        let area_codes: BTreeMap<Npa, AreaCode> =
            area_codes.into_iter().map(|area_code| (area_code.npa, area_code)).collect();
        let exchanges: BTreeMap<NpaNxx, Exchange> =
            exchanges.into_iter().map(|exchange| (exchange.npa_nxx(), exchange)).collect();

        let carrier_indexes = indexes(carriers.keys().copied());
        let carrier_index =
            |exchange: &Exchange| exchange.ocn.and_then(|ocn| carrier_indexes.get(&ocn)).copied();
        let without_carrier =
            exchanges.values().filter(|exchange| carrier_index(exchange).is_none());
        let companies =
            indexes(without_carrier.filter_map(|exchange| exchange.company_name.as_deref()));
        let block_holders = exchanges.values().flat_map(|exchange| exchange.blocks.values());
        let rate_centers = indexes(
            exchanges
                .values()
                .filter_map(|exchange| exchange.rate_center.as_deref())
                .chain(block_holders.filter_map(|holder| holder.rate_center.as_deref())),
        );
        let row_of = |exchange: &Exchange| ExchangeRow {
            npa: exchange.npa,
            nxx: exchange.nxx,
            status: exchange.status,
            country: exchange.country,
            state: exchange.state,
            holder: match carrier_index(exchange) {
                Some(index) => Some(Holder::Carrier(index)),
                None => {
                    exchange.company_name.as_deref().map(|name| Holder::Company(companies[name]))
                }
            },
            rate_center: exchange.rate_center.as_deref().map(|name| rate_centers[name]),
        };
        let block_of = |exchange: &Exchange, digit: u8, holder: &BlockHolder| {
            Some(ThousandsBlock {
                npa: exchange.npa,
                nxx: exchange.nxx,
                digit,
                carrier: *carrier_indexes.get(&holder.ocn)?,
                rate_center: holder.rate_center.as_deref().map(|name| rate_centers[name]),
                effective: holder.effective,
            })
        };
        let blocks = exchanges.values().flat_map(|exchange| {
            let holders = exchange.blocks.iter();
            holders.filter_map(|(&digit, holder)| block_of(exchange, digit, holder))
        });
        Self {
            blocks: blocks.collect(),
            rows: exchanges.values().map(row_of).collect(),
            companies: companies.keys().map(|&name| name.to_owned()).collect(),
            rate_centers: rate_centers.keys().map(|&name| name.to_owned()).collect(),
            carriers: carriers.into_values().collect(),
            area_codes: area_codes.into_values().collect(),
            last_changed: LastChanged::default(),
            folded_names: FoldedNames::default(),
        }
    }

    /// Every carrier, ordered by OCN.
    pub fn carriers(&self) -> &[Carrier] {
        &self.carriers
    }

    /// The carrier with this OCN.
    pub fn carrier(&self, ocn: Ocn) -> Option<&Carrier> {
        let index = self.carriers.binary_search_by_key(&ocn, |carrier| carrier.ocn).ok()?;
        self.carriers.get(index)
    }

    /// Every area code, ordered by NPA.
    pub fn area_codes(&self) -> &[AreaCode] {
        &self.area_codes
    }

    /// The area code with this NPA.
    pub fn area_code(&self, npa: Npa) -> Option<&AreaCode> {
        let index = self.area_codes.binary_search_by_key(&npa, |area_code| area_code.npa).ok()?;
        self.area_codes.get(index)
    }

    /// The exchange with this NPA-NXX.
    pub fn exchange(&self, npa_nxx: NpaNxx) -> Option<Exchange> {
        let rows = self.rows_of(npa_nxx.npa);
        let index = rows.binary_search_by_key(&npa_nxx.nxx, |row| row.nxx).ok()?;
        rows.get(index).map(|row| self.record(row))
    }

    /// Every exchange, ordered by NPA, then NXX.
    pub fn exchanges(&self) -> impl Iterator<Item = Exchange> {
        self.rows.iter().map(|row| self.record(row))
    }

    /// How many thousands blocks have a holder.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Every record in the order of its key: the carriers, the area codes, then the exchanges.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let carriers = self.carriers.iter().cloned().map(Record::Carrier);
        let area_codes = self.area_codes.iter().cloned().map(Record::AreaCode);
        carriers.chain(area_codes).chain(self.exchanges().map(Record::Exchange))
    }

    /// The exchanges of one area code, ordered by NXX.
    pub fn exchanges_of(&self, npa: Npa) -> impl Iterator<Item = LazyExchange<'_>> {
        self.rows_of(npa).iter().map(|row| LazyExchange { dataset: self, row })
    }

    fn rows_of(&self, npa: Npa) -> &[ExchangeRow] {
        let start = self.rows.partition_point(|row| row.npa < npa);
        let end = self.rows.partition_point(|row| row.npa <= npa);
        &self.rows[start..end]
    }

    fn record(&self, row: &ExchangeRow) -> Exchange {
        let carrier = self.carrier_of(row);
        Exchange {
            npa: row.npa,
            nxx: row.nxx,
            ocn: carrier.map(|carrier| carrier.ocn),
            company_name: self.company_name(row).map(str::to_owned),
            carrier_type: carrier.and_then(|carrier| carrier.carrier_type),
            rate_center: row.rate_center.map(|index| self.rate_centers[index as usize].clone()),
            state: row.state,
            country: row.country,
            status: row.status,
            blocks: self.blocks_of(row),
        }
    }

    fn blocks_of(&self, row: &ExchangeRow) -> BTreeMap<u8, BlockHolder> {
        let exchange = (row.npa, row.nxx);
        let start = self.blocks.partition_point(|block| block.exchange() < exchange);
        let blocks = self.blocks[start..].iter().take_while(|block| block.exchange() == exchange);
        let digit_and_holder = |block: &ThousandsBlock| {
            let carrier = self.carriers.get(block.carrier as usize)?;
            let holder = BlockHolder {
                ocn: carrier.ocn,
                company_name: carrier.company_name.clone(),
                carrier_type: carrier.carrier_type,
                rate_center: block
                    .rate_center
                    .map(|index| self.rate_centers[index as usize].clone()),
                effective: block.effective,
            };
            Some((block.digit, holder))
        };
        blocks.filter_map(digit_and_holder).collect()
    }

    fn carrier_of(&self, row: &ExchangeRow) -> Option<&Carrier> {
        match row.holder {
            Some(Holder::Carrier(index)) => self.carriers.get(index as usize),
            _ => None,
        }
    }

    fn company_name(&self, row: &ExchangeRow) -> Option<&str> {
        match row.holder? {
            Holder::Carrier(index) => self.carriers.get(index as usize)?.company_name.as_deref(),
            Holder::Company(index) => self.companies.get(index as usize).map(String::as_str),
        }
    }

    /// Counts over the whole dataset (spec 2.7).
    pub fn statistics(&self) -> Statistics {
        let mut by_country = BTreeMap::from(Country::ALL.map(|country| (country, 0)));
        let mut by_status = BTreeMap::from(Status::ALL.map(|status| (status, 0)));
        for row in &self.rows {
            *by_country.entry(row.country).or_default() += 1;
            *by_status.entry(row.status).or_default() += 1;
        }
        let area_codes: BTreeSet<Npa> = self.rows.iter().map(|row| row.npa).collect();
        let states: BTreeSet<StateCode> = self.rows.iter().filter_map(|row| row.state).collect();
        Statistics {
            total_records: self.rows.len() as u32,
            by_country,
            by_status,
            area_codes: area_codes.len() as u32,
            states_provinces: states.len() as u32,
        }
    }
}

/// The distinct keys in their order, each with its index.
fn indexes<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u32> {
    keys.collect::<BTreeSet<K>>().into_iter().zip(0..).collect()
}

/// An exchange of a list, which becomes a record only if it is on the page that was asked for.
#[derive(Clone, Copy)]
pub struct LazyExchange<'a> {
    dataset: &'a Dataset,
    row: &'a ExchangeRow,
}

impl From<LazyExchange<'_>> for Exchange {
    fn from(LazyExchange { dataset, row }: LazyExchange<'_>) -> Self {
        dataset.record(row)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::records::{CarrierType, OwnedExchanges};

    pub(crate) fn carrier(ocn: &str, company_name: &str, common_name: Option<&str>) -> Carrier {
        Carrier {
            ocn: ocn.parse().unwrap(),
            company_name: Some(company_name.to_owned()),
            common_name: common_name.map(str::to_owned),
            carrier_type: Some(CarrierType::Wireless),
            state: None,
            country: Country::Us,
            exchanges: OwnedExchanges::default(),
        }
    }

    fn exchange(
        npa_nxx: &str,
        ocn: Option<&str>,
        company: Option<&str>,
        rate_center: &str,
    ) -> Exchange {
        let NpaNxx { npa, nxx } = npa_nxx.parse().unwrap();
        Exchange {
            npa,
            nxx,
            ocn: ocn.map(|ocn| ocn.parse().unwrap()),
            company_name: company.map(str::to_owned),
            carrier_type: ocn.map(|_| CarrierType::Wireless),
            rate_center: Some(rate_center.to_owned()),
            state: Some("CA".parse().unwrap()),
            country: Country::Us,
            status: Status::Assigned,
            blocks: BTreeMap::new(),
        }
    }

    /// Two carriers, a company without an OCN, and exchanges out of order.
    pub(crate) fn example() -> Dataset {
        Dataset::new(
            vec![
                carrier("6010", "NEW CINGULAR WIRELESS PCS, LLC", Some("AT&T Mobility")),
                carrier("0051", "PACIFIC BELL", None),
            ],
            vec![AreaCode {
                npa: "415".parse().unwrap(),
                state: Some("CA".parse().unwrap()),
                states: ["CA".parse().unwrap()].into(),
                country: Country::Us,
                total_exchanges: 3,
            }],
            vec![
                exchange("415-555", None, Some("AT&T CORP."), "SNFC CNTRL"),
                exchange(
                    "415-200",
                    Some("6010"),
                    Some("NEW CINGULAR WIRELESS PCS, LLC"),
                    "SAN RAFAEL",
                ),
                exchange("415-300", Some("0051"), Some("PACIFIC BELL"), "SNFC CNTRL"),
            ],
        )
    }

    #[test]
    fn exchanges_come_back_as_they_went_in_and_in_order() {
        let dataset = example();
        let codes: Vec<_> =
            dataset.exchanges().map(|exchange| exchange.npa_nxx().to_string()).collect();
        assert_eq!(codes, ["415-200", "415-300", "415-555"]);
        assert_eq!(
            dataset.exchange("415-555".parse().unwrap()),
            Some(exchange("415-555", None, Some("AT&T CORP."), "SNFC CNTRL"))
        );
        assert_eq!(dataset.exchange("415-556".parse().unwrap()), None);
        assert_eq!(dataset.exchanges_of("416".parse().unwrap()).count(), 0);
    }

    #[test]
    fn carriers_are_found_by_ocn() {
        let dataset = example();
        assert_eq!(dataset.carrier("6010".parse().unwrap()), Some(&dataset.carriers()[1]));
        assert_eq!(dataset.carrier("9999".parse().unwrap()), None);
    }
}
