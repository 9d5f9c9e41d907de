//! Makes a dataset of records: numbers what they have in common, and writes the columns.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Dataset,
    area_codes::AreaCodes,
    blocks::BlockRows,
    carriers::Carriers,
    columns::SectionWriter,
    exchanges::{AreaRows, Dictionaries, Exchanges, Kind, dictionary_of, entry_of},
    last_changed::LastChanged,
    places::States,
    word_index::WordCollection,
};
use crate::records::{AreaCode, BlockHolder, Carrier, Exchange, Npa, Ocn, StateCode};

impl Dataset {
    /// Makes a dataset of records. Exchanges and thousands blocks take the name and type of their
    /// holder from the carrier of its OCN. A block whose OCN is not among `carriers` is left out,
    /// and so is one whose digit is none.
    pub fn new(
        carriers: Vec<Carrier>,
        area_codes: Vec<AreaCode>,
        exchanges: Vec<Exchange>,
    ) -> Self {
        let carriers = by_key(carriers, |carrier| carrier.ocn);
        let area_codes = by_key(area_codes, |area_code| area_code.npa);
        let exchanges = by_key(exchanges, Exchange::npa_nxx);
        let numbers = CommonValues::of(&carriers, &area_codes, &exchanges);
        let mut writer = SectionWriter::default();
        numbers.write(&mut writer);
        Carriers::write(&carriers, &numbers.states, &mut writer);
        AreaCodes::write(&area_codes, &numbers.states, &mut writer);
        numbers.write_exchanges(&exchanges, &mut writer);
        numbers.words(&carriers).write(&mut writer);
        LastChanged::write_none(&mut writer);
        Self::written(writer)
    }
}

/// The records in the order of their keys; of several with one key the last.
fn by_key<K: Ord, R>(records: Vec<R>, key: impl Fn(&R) -> K) -> Vec<R> {
    let by_key: BTreeMap<K, R> = records.into_iter().map(|record| (key(&record), record)).collect();
    by_key.into_values().collect()
}

/// What records have in common, in order.
struct CommonValues<'a> {
    states: Vec<StateCode>,
    kinds: Vec<Kind>,
    /// Numbers of carriers, from one on.
    carriers: BTreeMap<Ocn, u32>,
    /// The names of holders without an OCN, numbered from the last carrier on.
    companies: BTreeMap<&'a str, u32>,
    /// Numbers of rate centers, from one on.
    rate_centers: BTreeMap<&'a str, u32>,
}

/// The distinct keys in their order, each with its number.
fn numbered<K: Ord>(keys: impl Iterator<Item = K>, first: u32) -> BTreeMap<K, u32> {
    keys.collect::<BTreeSet<K>>().into_iter().zip(first..).collect()
}

impl<'a> CommonValues<'a> {
    fn of(carriers: &'a [Carrier], area_codes: &[AreaCode], exchanges: &'a [Exchange]) -> Self {
        let states = carriers
            .iter()
            .flat_map(|carrier| carrier.state.iter().chain(carrier.exchanges.by_state.keys()))
            .chain(area_codes.iter().flat_map(|it| it.state.iter().chain(&it.states)))
            .chain(exchanges.iter().filter_map(|exchange| exchange.state.as_ref()));
        let states: BTreeSet<StateCode> = states.copied().collect();
        let kinds: BTreeSet<Kind> = exchanges.iter().map(kind_of).collect();
        let carrier_numbers = numbered(carriers.iter().map(|carrier| carrier.ocn), 1);
        let without_carrier = exchanges
            .iter()
            .filter(|exchange| exchange.ocn.is_none_or(|ocn| !carrier_numbers.contains_key(&ocn)));
        let companies = without_carrier.filter_map(|exchange| exchange.company_name.as_deref());
        let rate_centers = exchanges.iter().flat_map(|exchange| {
            let of_blocks = exchange.blocks.values().filter_map(|it| it.rate_center.as_deref());
            exchange.rate_center.as_deref().into_iter().chain(of_blocks)
        });
        Self {
            states: states.into_iter().collect(),
            kinds: kinds.into_iter().collect(),
            companies: numbered(companies, carriers.len() as u32 + 1),
            rate_centers: numbered(rate_centers, 1),
            carriers: carrier_numbers,
        }
    }

    fn kind(&self, exchange: &Exchange) -> u32 {
        let kind = kind_of(exchange);
        self.kinds.partition_point(|&other| other < kind) as u32
    }

    fn holder(&self, exchange: &Exchange) -> u32 {
        let carrier = exchange.ocn.and_then(|ocn| self.carriers.get(&ocn));
        let company = || self.companies.get(exchange.company_name.as_deref()?);
        carrier.or_else(company).copied().unwrap_or_default()
    }

    fn rate_center(&self, name: Option<&String>) -> u32 {
        name.map_or(0, |name| self.rate_centers[name.as_str()])
    }

    /// The blocks of an exchange that the dataset has: their digits, holders and numbers of holders.
    fn blocks<'e>(
        &self,
        exchange: &'e Exchange,
    ) -> impl Iterator<Item = (u8, &'e BlockHolder, u32)> {
        let blocks = exchange.blocks.iter().filter(|(digit, _)| **digit < 10);
        blocks
            .filter_map(|(&digit, holder)| Some((digit, holder, *self.carriers.get(&holder.ocn)?)))
    }

    fn write(&self, writer: &mut SectionWriter) {
        States::write(&self.states, writer);
        writer.texts(self.companies.keys().copied());
        writer.texts(self.rate_centers.keys().copied());
    }

    fn words(&self, carriers: &[Carrier]) -> WordCollection {
        let mut words = WordCollection::default();
        for (number, carrier) in (1..).zip(carriers) {
            let names = [&carrier.company_name, &carrier.common_name];
            names.into_iter().flatten().for_each(|name| words.add(name, number));
        }
        for (name, &number) in &self.companies {
            words.add(name, number as usize);
        }
        let holders = 1 + self.carriers.len() + self.companies.len();
        for (name, &number) in &self.rate_centers {
            words.add(name, holders + number as usize);
        }
        words
    }

    fn write_exchanges(&self, exchanges: &[Exchange], writer: &mut SectionWriter) {
        let mut areas: Vec<(Npa, AreaRows)> = Vec::new();
        let mut dictionaries = Dictionaries::default();
        let mut blocks = BlockRows::default();
        for area in exchanges.chunk_by(|one, next| one.npa == next.npa) {
            let rows = self.rows(area);
            let own_blocks = || area.iter().flat_map(|exchange| self.blocks(exchange));
            let holders = own_blocks().map(|(_, _, holder)| holder);
            let holders = dictionary_of(rows.holders.iter().copied().chain(holders));
            let rate_centers = own_blocks().map(|it| self.rate_center(it.1.rate_center.as_ref()));
            let rate_centers = dictionary_of(rows.rate_centers.iter().copied().chain(rate_centers));
            for exchange in area {
                self.collect_blocks(exchange, [&holders, &rate_centers], &mut blocks);
            }
            areas.push((area[0].npa, rows));
            dictionaries.holders.push(holders);
            dictionaries.rate_centers.push(rate_centers);
        }
        Exchanges::write(&areas, &dictionaries, &self.kinds, &self.states, writer);
        blocks.write(writer);
    }

    fn rows(&self, area: &[Exchange]) -> AreaRows {
        AreaRows {
            nxxs: area.iter().map(|exchange| exchange.nxx).collect(),
            kinds: area.iter().map(|exchange| self.kind(exchange)).collect(),
            holders: area.iter().map(|exchange| self.holder(exchange)).collect(),
            rate_centers: area
                .iter()
                .map(|exchange| self.rate_center(exchange.rate_center.as_ref()))
                .collect(),
        }
    }

    /// Adds the blocks of an exchange whose area code has these dictionaries.
    fn collect_blocks(
        &self,
        exchange: &Exchange,
        [holders, rate_centers]: [&[u32]; 2],
        blocks: &mut BlockRows,
    ) {
        let mut digits = 0;
        for (digit, block, holder) in self.blocks(exchange) {
            digits |= 1 << digit;
            blocks.holders.push(entry_of(holders, holder));
            let rate_center = self.rate_center(block.rate_center.as_ref());
            blocks.rate_centers.push(entry_of(rate_centers, rate_center));
            blocks.effective.push(block.effective);
        }
        blocks.digits.push(digits);
    }
}

fn kind_of(exchange: &Exchange) -> Kind {
    (exchange.country, exchange.state, exchange.status)
}
