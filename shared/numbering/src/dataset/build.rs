//! Builds a dataset from records: assigns IDs to shared values, and writes the columns.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Dataset,
    columns::Writer,
    exchanges::{Attributes, BlockRows, ExchangeRows},
    last_changed::LastChanged,
    names::WordCollection,
    tables::{AreaCodes, Carriers},
};
use crate::records::{AreaCode, BlockHolder, Carrier, Exchange, Ocn};

impl Dataset {
    /// Builds a dataset from records. Exchanges and thousands blocks take their holder's name and type from the
    /// carrier with its OCN. Blocks without such a carrier, or with an invalid digit, are skipped.
    pub fn new(
        carriers: Vec<Carrier>,
        area_codes: Vec<AreaCode>,
        exchanges: Vec<Exchange>,
    ) -> Self {
        let carriers = sort_by_key(carriers, |carrier| carrier.ocn);
        let area_codes = sort_by_key(area_codes, |area_code| area_code.npa);
        let exchanges = sort_by_key(exchanges, Exchange::npa_nxx);
        let common = CommonValues::new(&carriers, &exchanges);
        let mut writer = Writer::default();
        Carriers::write(&carriers, &mut writer);
        AreaCodes::write(&area_codes, &mut writer);
        common.write_exchanges(&exchanges, &mut writer);
        common.write_names(&carriers, &mut writer);
        LastChanged::write_none(&mut writer);
        Self::from_writer(writer)
    }

    /// Reads the columns just written.
    pub(super) fn from_writer(writer: Writer) -> Self {
        Self::from_body(writer.0.into()).expect("the reader accepts what the writer wrote")
    }
}

/// Sorts records by key. If several share a key, the last one wins.
fn sort_by_key<K: Ord, R>(records: Vec<R>, key: impl Fn(&R) -> K) -> Vec<R> {
    let by_key: BTreeMap<K, R> = records.into_iter().map(|record| (key(&record), record)).collect();
    by_key.into_values().collect()
}

/// The values that exchanges share, sorted.
struct CommonValues<'a> {
    attributes: Vec<Attributes>,
    /// The holder IDs of carriers, starting at one.
    carriers: BTreeMap<Ocn, u32>,
    /// The holder IDs of companies without an OCN, after the last carrier's.
    companies: BTreeMap<&'a str, u32>,
    /// Rate center IDs, starting at one.
    rate_centers: BTreeMap<&'a str, u32>,
}

/// Assigns IDs to the distinct keys in order, starting at `first`.
fn assign_ids<K: Ord>(keys: impl Iterator<Item = K>, first: u32) -> BTreeMap<K, u32> {
    keys.collect::<BTreeSet<K>>().into_iter().zip(first..).collect()
}

impl<'a> CommonValues<'a> {
    fn new(carriers: &[Carrier], exchanges: &'a [Exchange]) -> Self {
        let attributes: BTreeSet<Attributes> = exchanges.iter().map(shared_attributes).collect();
        let carrier_ids = assign_ids(carriers.iter().map(|carrier| carrier.ocn), 1);
        let without_carrier = exchanges
            .iter()
            .filter(|exchange| exchange.ocn.is_none_or(|ocn| !carrier_ids.contains_key(&ocn)));
        let companies = without_carrier.filter_map(|exchange| exchange.company_name.as_deref());
        let rate_centers = exchanges.iter().flat_map(|exchange| {
            let block_rate_centers =
                exchange.blocks.values().filter_map(|it| it.rate_center.as_deref());
            exchange.rate_center.as_deref().into_iter().chain(block_rate_centers)
        });
        Self {
            attributes: attributes.into_iter().collect(),
            companies: assign_ids(companies, carriers.len() as u32 + 1),
            rate_centers: assign_ids(rate_centers, 1),
            carriers: carrier_ids,
        }
    }

    fn attributes(&self, exchange: &Exchange) -> u32 {
        let attributes = shared_attributes(exchange);
        self.attributes.partition_point(|&other| other < attributes) as u32
    }

    fn holder(&self, exchange: &Exchange) -> u32 {
        let carrier = exchange.ocn.and_then(|ocn| self.carriers.get(&ocn));
        let company = || self.companies.get(exchange.company_name.as_deref()?);
        carrier.or_else(company).copied().unwrap_or_default()
    }

    fn rate_center(&self, name: Option<&String>) -> u32 {
        name.map_or(0, |name| self.rate_centers[name.as_str()])
    }

    /// The exchange's valid blocks: digit, holder and holder ID.
    fn blocks<'e>(
        &self,
        exchange: &'e Exchange,
    ) -> impl Iterator<Item = (u8, &'e BlockHolder, u32)> {
        let blocks = exchange.blocks.iter().filter(|(digit, _)| **digit < 10);
        blocks
            .filter_map(|(&digit, holder)| Some((digit, holder, *self.carriers.get(&holder.ocn)?)))
    }

    fn write_names(&self, carriers: &[Carrier], writer: &mut Writer) {
        let mut words = WordCollection::default();
        for (id, carrier) in (1..).zip(carriers) {
            let names = [&carrier.company_name, &carrier.common_name];
            names.into_iter().flatten().for_each(|name| words.add(name, id));
        }
        for (name, &id) in &self.companies {
            words.add(name, id);
        }
        let holder_count = 1 + (self.carriers.len() + self.companies.len()) as u32;
        for (name, &id) in &self.rate_centers {
            words.add(name, holder_count + id);
        }
        writer.strings(self.companies.keys().copied());
        writer.strings(self.rate_centers.keys().copied());
        words.write(writer);
    }

    fn write_exchanges(&self, exchanges: &[Exchange], writer: &mut Writer) {
        let mut rows = ExchangeRows::default();
        let mut blocks = BlockRows::default();
        for area in exchanges.chunk_by(|one, next| one.npa == next.npa) {
            let row_values =
                |value: &dyn Fn(&Exchange) -> u32| area.iter().map(value).collect::<Vec<_>>();
            let attributes = row_values(&|exchange| self.attributes(exchange));
            let holders = row_values(&|exchange| self.holder(exchange));
            let rate_centers = row_values(&|it| self.rate_center(it.rate_center.as_ref()));
            let area_blocks = || area.iter().flat_map(|exchange| self.blocks(exchange));
            let block_holders: Vec<u32> = area_blocks().map(|(.., holder)| holder).collect();
            let block_rate_centers: Vec<u32> =
                area_blocks().map(|(_, it, _)| self.rate_center(it.rate_center.as_ref())).collect();
            rows.npas.push(area[0].npa);
            rows.nxxs.push(area.iter().map(|exchange| exchange.nxx).collect());
            let [attribute_column, holder_column, rate_center_column] = &mut rows.columns;
            attribute_column.add(&attributes, &[]);
            blocks.holders.extend(holder_column.add(&holders, &block_holders));
            blocks.rate_centers.extend(rate_center_column.add(&rate_centers, &block_rate_centers));
            blocks.effective.extend(area_blocks().map(|(_, block, _)| block.effective));
            let digits =
                |exchange| self.blocks(exchange).map(|(digit, ..)| 1 << digit).sum::<u32>();
            blocks.digits.extend(area.iter().map(digits));
        }
        rows.write(&self.attributes, writer);
        blocks.write(writer);
    }
}

fn shared_attributes(exchange: &Exchange) -> Attributes {
    (exchange.country, exchange.state, exchange.status)
}
