//! The whole numbering data in memory: what every list and search is answered from.
//!
//! The North American plan is bounded (at most 800 x 800 exchange codes), so a dataset packs into
//! a few bytes an exchange; [`packed`] writes and reads it as one compressed snapshot.

mod last_changed;
mod packed;
mod search;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::records::{
    AreaCode, BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, Record, State,
    Statistics, Status,
};

use self::last_changed::LastChanged;

pub use packed::DamagedSnapshot;
pub use search::{Search, Words};

/// One version of the data, ordered by OCN, by NPA, and by NPA then NXX.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    carriers: Vec<Carrier>,
    area_codes: Vec<AreaCode>,
    /// Names of holders without an OCN.
    companies: Vec<String>,
    rate_centers: Vec<String>,
    rows: Vec<Row>,
    /// The thousands blocks that have a holder, by NPA, NXX and digit.
    blocks: Vec<Block>,
    /// Empty until the dataset is made a version.
    last_changed: LastChanged,
}

/// A thousands block, with the places of its holder in `carriers` and of its rate center.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Block {
    npa: Npa,
    nxx: Nxx,
    digit: u8,
    carrier: u32,
    rate_center: Option<u32>,
    /// The first day it counts.
    effective: Option<Date>,
}

impl Block {
    fn exchange(&self) -> (Npa, Nxx) {
        (self.npa, self.nxx)
    }
}

/// An exchange with its names kept once for all exchanges, by their place in the dataset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Row {
    npa: Npa,
    nxx: Nxx,
    status: Status,
    country: Country,
    state: Option<State>,
    holder: Option<Holder>,
    rate_center: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Holder {
    /// Place in `carriers`.
    Carrier(u32),
    /// Place in `companies`.
    Company(u32),
}

impl Dataset {
    /// Packs records into a dataset; an exchange and its blocks take name and type from the carriers
    /// of their OCNs, and a block of an OCN that is not among `carriers` is left out.
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

        let by_ocn = places(carriers.keys().copied());
        let carrier_of =
            |exchange: &Exchange| exchange.ocn.and_then(|ocn| by_ocn.get(&ocn)).copied();
        let unlisted = exchanges.values().filter(|exchange| carrier_of(exchange).is_none());
        let companies = places(unlisted.filter_map(|exchange| exchange.company_name.as_deref()));
        let holders = || exchanges.values().flat_map(|exchange| exchange.blocks.values());
        let rate_centers = places(
            exchanges
                .values()
                .filter_map(|exchange| exchange.rate_center.as_deref())
                .chain(holders().filter_map(|holder| holder.rate_center.as_deref())),
        );
        let row = |exchange: &Exchange| Row {
            npa: exchange.npa,
            nxx: exchange.nxx,
            status: exchange.status,
            country: exchange.country,
            state: exchange.state,
            holder: match carrier_of(exchange) {
                Some(place) => Some(Holder::Carrier(place)),
                None => {
                    exchange.company_name.as_deref().map(|name| Holder::Company(companies[name]))
                }
            },
            rate_center: exchange.rate_center.as_deref().map(|name| rate_centers[name]),
        };
        let block = |exchange: &Exchange, digit: u8, holder: &BlockHolder| {
            Some(Block {
                npa: exchange.npa,
                nxx: exchange.nxx,
                digit,
                carrier: *by_ocn.get(&holder.ocn)?,
                rate_center: holder.rate_center.as_deref().map(|name| rate_centers[name]),
                effective: holder.effective,
            })
        };
        let blocks = exchanges.values().flat_map(|exchange| {
            let holders = exchange.blocks.iter();
            holders.filter_map(|(&digit, holder)| block(exchange, digit, holder))
        });
        Self {
            blocks: blocks.collect(),
            rows: exchanges.values().map(row).collect(),
            companies: companies.keys().map(|&name| name.to_owned()).collect(),
            rate_centers: rate_centers.keys().map(|&name| name.to_owned()).collect(),
            carriers: carriers.into_values().collect(),
            area_codes: area_codes.into_values().collect(),
            last_changed: LastChanged::default(),
        }
    }

    /// Every carrier, by OCN.
    pub fn carriers(&self) -> &[Carrier] {
        &self.carriers
    }

    pub fn carrier(&self, ocn: Ocn) -> Option<&Carrier> {
        let place = self.carriers.binary_search_by_key(&ocn, |carrier| carrier.ocn).ok()?;
        self.carriers.get(place)
    }

    /// Every area code, by NPA.
    pub fn area_codes(&self) -> &[AreaCode] {
        &self.area_codes
    }

    pub fn area_code(&self, npa: Npa) -> Option<&AreaCode> {
        let place = self.area_codes.binary_search_by_key(&npa, |area_code| area_code.npa).ok()?;
        self.area_codes.get(place)
    }

    pub fn exchange(&self, npa_nxx: NpaNxx) -> Option<Exchange> {
        let of_npa = self.rows_of(npa_nxx.npa);
        let place = of_npa.binary_search_by_key(&npa_nxx.nxx, |row| row.nxx).ok()?;
        of_npa.get(place).map(|row| self.record(row))
    }

    /// Every exchange, by NPA then NXX.
    pub fn exchanges(&self) -> impl Iterator<Item = Exchange> {
        self.rows.iter().map(|row| self.record(row))
    }

    /// How many thousands blocks have a holder.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Every record: carriers by OCN, area codes by NPA, exchanges by NPA then NXX; in the order of
    /// their keys.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let carriers = self.carriers.iter().cloned().map(Record::Carrier);
        let area_codes = self.area_codes.iter().cloned().map(Record::AreaCode);
        carriers.chain(area_codes).chain(self.exchanges().map(Record::Exchange))
    }

    /// The exchanges of one area code, by NXX; made only as they are taken.
    pub fn exchanges_of(&self, npa: Npa) -> impl Iterator<Item = LazyExchange<'_>> {
        self.rows_of(npa).iter().map(|row| LazyExchange { dataset: self, row })
    }

    fn rows_of(&self, npa: Npa) -> &[Row] {
        let start = self.rows.partition_point(|row| row.npa < npa);
        let end = self.rows.partition_point(|row| row.npa <= npa);
        &self.rows[start..end]
    }

    fn record(&self, row: &Row) -> Exchange {
        let carrier = self.carrier_of(row);
        Exchange {
            npa: row.npa,
            nxx: row.nxx,
            ocn: carrier.map(|carrier| carrier.ocn),
            company_name: self.company_name(row).map(str::to_owned),
            carrier_type: carrier.and_then(|carrier| carrier.carrier_type),
            rate_center: row.rate_center.map(|place| self.rate_centers[place as usize].clone()),
            state: row.state,
            country: row.country,
            status: row.status,
            blocks: self.blocks_of(row),
        }
    }

    fn blocks_of(&self, row: &Row) -> BTreeMap<u8, BlockHolder> {
        let start = self.blocks.partition_point(|block| block.exchange() < (row.npa, row.nxx));
        let blocks = self.blocks[start..].iter();
        let blocks = blocks.take_while(|block| block.exchange() == (row.npa, row.nxx));
        let holder = |block: &Block| {
            let carrier = self.carriers.get(block.carrier as usize)?;
            let holder = BlockHolder {
                ocn: carrier.ocn,
                company_name: carrier.company_name.clone(),
                carrier_type: carrier.carrier_type,
                rate_center: block.rate_center.map(|at| self.rate_centers[at as usize].clone()),
                effective: block.effective,
            };
            Some((block.digit, holder))
        };
        blocks.filter_map(holder).collect()
    }

    fn carrier_of(&self, row: &Row) -> Option<&Carrier> {
        match row.holder {
            Some(Holder::Carrier(place)) => self.carriers.get(place as usize),
            _ => None,
        }
    }

    fn company_name(&self, row: &Row) -> Option<&str> {
        match row.holder? {
            Holder::Carrier(place) => self.carriers.get(place as usize)?.company_name.as_deref(),
            Holder::Company(place) => self.companies.get(place as usize).map(String::as_str),
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
        let states: BTreeSet<State> = self.rows.iter().filter_map(|row| row.state).collect();
        Statistics {
            total_records: self.rows.len() as u32,
            by_country,
            by_status,
            area_codes: area_codes.len() as u32,
            states_provinces: states.len() as u32,
        }
    }
}

/// Numbers the distinct keys in their order.
fn places<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u32> {
    keys.collect::<BTreeSet<K>>().into_iter().zip(0..).collect()
}

/// An exchange of a list, made into a record only if its page is the one asked for.
#[derive(Clone, Copy)]
pub struct LazyExchange<'a> {
    dataset: &'a Dataset,
    row: &'a Row,
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

    fn carrier(ocn: &str, company_name: &str, common_name: Option<&str>) -> Carrier {
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
