//! The complete numbering data in memory, for every list and search.
//!
//! The North American plan is bounded (at most 800 x 800 exchange codes), so a dataset takes a few bytes per
//! exchange. This is the only representation: [`snapshot`] writes and compresses these bytes, and the other modules
//! read them in place.

mod blocks;
mod carrier_search;
mod columns;
mod exchanges;
mod holders;
mod names;
mod record_list;
mod record_versions;
mod search;
mod snapshot;
mod tables;
mod time_zones;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use bytes::Bytes;

use crate::records::{
    AreaCode, Carrier, Country, Exchange, Npa, NpaNxx, Ocn, Record, RecordKey, Statistics, Status,
};

use self::{
    blocks::Blocks,
    exchanges::Exchanges,
    names::Names,
    record_list::Positions,
    record_versions::RecordVersions,
    tables::{AreaCodes, Carriers},
};

pub use carrier_search::CarrierSearch;
pub use holders::Holder;
pub use record_list::Records;
pub use search::Search;
pub use snapshot::SnapshotError;
pub use words::{WholeName, Words, WordsError, folded_words};

/// One version of the data: carriers by OCN, area codes by NPA, and exchanges by NPA, then NXX.
pub struct Dataset {
    /// The bytes of all columns. Equal records always produce equal bytes.
    body: Bytes,
    /// The offset of the record versions in the bytes.
    versions_start: usize,
    carriers: Carriers,
    area_codes: AreaCodes,
    exchanges: Exchanges,
    blocks: Blocks,
    names: Names,
    last_changed: RecordVersions,
}

impl Default for Dataset {
    fn default() -> Self {
        Self::new(Vec::new(), Vec::new(), Vec::new())
    }
}

impl PartialEq for Dataset {
    fn eq(&self, other: &Self) -> bool {
        self.body == other.body
    }
}

impl fmt::Debug for Dataset {
    /// Shows only counts: printing the records would take minutes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("exchanges", &self.exchanges.count())
            .finish_non_exhaustive()
    }
}

impl Dataset {
    /// Every carrier, ordered by OCN.
    pub fn carriers(&self) -> Records<'_, Carrier> {
        Records::new(self, Positions::Range(0..self.carriers.count()), |dataset, position| {
            dataset.carriers.record(position)
        })
    }

    pub fn carrier(&self, ocn: Ocn) -> Option<Carrier> {
        self.carriers.position(ocn).map(|position| self.carriers.record(position))
    }

    /// Every area code, ordered by NPA.
    pub fn area_codes(&self) -> Records<'_, AreaCode> {
        Records::new(self, Positions::Range(0..self.area_codes.count()), |dataset, position| {
            dataset.area_codes.record(position)
        })
    }

    pub fn area_code(&self, npa: Npa) -> Option<AreaCode> {
        self.area_codes.position(npa).map(|position| self.area_codes.record(position))
    }

    pub fn exchange(&self, npa_nxx: NpaNxx) -> Option<Exchange> {
        self.row_of(npa_nxx).map(|row| self.exchange_at(row))
    }

    fn row_of(&self, npa_nxx: NpaNxx) -> Option<usize> {
        self.exchanges.row(self.exchanges.area(npa_nxx.npa)?, npa_nxx.nxx)
    }

    /// Every exchange, ordered by NPA, then NXX.
    pub fn exchanges(&self) -> Records<'_, Exchange> {
        Records::new(self, Positions::Range(0..self.exchanges.count()), Self::exchange_at)
    }

    /// The exchanges in one area code, ordered by NXX.
    pub fn exchanges_in(&self, npa: Npa) -> Records<'_, Exchange> {
        let rows = self.exchanges.area(npa).map(|area| self.exchanges.rows_of(area));
        Records::new(self, Positions::Range(rows.unwrap_or_default()), Self::exchange_at)
    }

    /// The codes of the exchanges in one area code, in order.
    pub fn exchange_codes_in(&self, npa: Npa) -> impl Iterator<Item = NpaNxx> {
        let area = self.exchanges.area(npa).into_iter();
        area.flat_map(move |area| {
            self.exchanges.rows_of(area).map(move |row| self.exchanges.npa_nxx(area, row))
        })
    }

    /// The number of thousands blocks that have a holder.
    pub fn block_count(&self) -> usize {
        self.blocks.count()
    }

    /// Every record in key order: carriers, area codes, then exchanges.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let carriers = self.carriers().map(Record::Carrier);
        let area_codes = self.area_codes().map(Record::AreaCode);
        carriers.chain(area_codes).chain(self.exchanges().map(Record::Exchange))
    }

    /// A copy of this dataset with some records replaced, or removed if `None`. It does not have a version.
    pub(crate) fn with_records(
        &self,
        changes: impl Iterator<Item = (RecordKey, Option<Record>)>,
    ) -> Self {
        let mut records: BTreeMap<RecordKey, Record> =
            self.records().map(|record| (record.key(), record)).collect();
        for (key, record) in changes {
            match record {
                Some(record) => _ = records.insert(key, record),
                None => _ = records.remove(&key),
            }
        }
        Self::from_records(records.into_values())
    }

    /// Builds a dataset from records of any kind, as [`Self::new`] does.
    pub fn from_records(records: impl Iterator<Item = Record>) -> Self {
        let (mut carriers, mut area_codes, mut exchanges) = (Vec::new(), Vec::new(), Vec::new());
        for record in records {
            match record {
                Record::Carrier(carrier) => carriers.push(carrier),
                Record::AreaCode(area_code) => area_codes.push(area_code),
                Record::Exchange(exchange) => exchanges.push(exchange),
            }
        }
        Self::new(carriers, area_codes, exchanges)
    }

    /// The number of holder IDs, including zero for no holder; see [`Names`].
    fn holder_count(&self) -> usize {
        1 + self.carriers.count() + self.names.companies.count()
    }

    /// The position of the carrier with this holder ID; `None` if the holder is not a carrier.
    fn holder_carrier(&self, holder: usize) -> Option<usize> {
        holder.checked_sub(1).filter(|&carrier| carrier < self.carriers.count())
    }

    fn holder_company_name(&self, holder: usize) -> Option<&str> {
        match self.holder_carrier(holder) {
            Some(carrier) => self.carriers.company_name(carrier),
            None => self.names.companies.get_by_id(holder.saturating_sub(self.carriers.count())),
        }
    }

    fn rate_center_name(&self, id: usize) -> Option<String> {
        self.names.rate_centers.get_by_id(id).map(str::to_owned)
    }

    /// Counts over the whole dataset.
    pub fn statistics(&self) -> Statistics {
        let mut by_country = BTreeMap::from(Country::ALL.map(|country| (country, 0)));
        let mut by_status = BTreeMap::from(Status::ALL.map(|status| (status, 0)));
        let mut states = BTreeSet::new();
        let counts = self.exchanges.counts_by_attributes();
        for ((country, state, status), count) in self.exchanges.attributes.iter().zip(counts) {
            *by_country.entry(*country).or_default() += count;
            *by_status.entry(*status).or_default() += count;
            states.extend(*state);
        }
        Statistics {
            total_records: self.exchanges.count() as u32,
            by_country,
            by_status,
            area_codes: self.exchanges.area_count() as u32,
            states_provinces: states.len() as u32,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::records::samples::RecordLists;

    const EXAMPLE: &str = include_str!("example.json");

    /// Two carriers, a company without an OCN, a thousands block, and exchanges out of order.
    pub(crate) fn example() -> Dataset {
        Dataset::from_json(EXAMPLE).unwrap()
    }

    /// The example after changes: a renamed carrier, an exchange with a new holder and no blocks, 415-300 removed, and
    /// a different rate center for 415-555.
    pub(crate) fn changed_example() -> Dataset {
        let dataset = example();
        let mut carriers: Vec<_> = dataset.carriers().collect();
        carriers[0].company_name = Some("RENAMED".to_owned());
        let mut exchanges: Vec<_> = dataset.exchanges().collect();
        exchanges.remove(1);
        assert_ne!(exchanges[0].ocn, Some(carriers[0].ocn));
        exchanges[0].ocn = Some(carriers[0].ocn);
        exchanges[0].blocks.clear();
        exchanges[1].rate_center = Some("ELSEWHERE".to_owned());
        Dataset::new(carriers, dataset.area_codes().collect(), exchanges)
    }

    #[test]
    fn records_round_trip_in_order() {
        let dataset = example();
        let mut records: RecordLists = serde_json::from_str(EXAMPLE).unwrap();
        records.exchanges.sort_by_key(Exchange::npa_nxx);
        records.carriers.reverse();
        assert!(dataset.exchanges().eq(records.exchanges.iter().cloned()));
        assert!(dataset.carriers().eq(records.carriers));
        assert!(dataset.area_codes().eq(records.area_codes));
        for exchange in records.exchanges {
            assert_eq!(dataset.exchange(exchange.npa_nxx()), Some(exchange));
        }
        assert_eq!(dataset.exchange("415-556".parse().unwrap()), None);
        assert_eq!(dataset.exchanges_in("416".parse().unwrap()).len(), 0);
        assert_eq!(dataset.carrier("6010".parse().unwrap()), dataset.carriers().nth(1));
        assert_eq!(dataset.carrier("9999".parse().unwrap()), None);
    }
}
