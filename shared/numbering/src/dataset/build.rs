//! Builds a dataset from records: assigns IDs to shared values, and writes the columns.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;

use super::{
    Dataset,
    columns::Columns,
    exchanges::{Attributes, BlockRows, Blocks, ExchangeRows, Exchanges},
    last_changed::LastChanged,
    names::{Names, WordCollection},
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
        Self::written(Vec::new(), |columns| {
            Carriers::write_or_read(columns, &carriers)?;
            AreaCodes::write_or_read(columns, &area_codes)?;
            let (rows, blocks) = common.rows(&exchanges);
            let written = Exchanges::write_or_read(columns, rows, &common.attributes)?;
            Blocks::write_or_read(columns, &written, blocks)?;
            let [companies, rate_centers] =
                [&common.companies, &common.rate_centers].map(|it| it.keys().copied());
            Names::write_or_read(columns, companies, rate_centers, &common.words(&carriers))?;
            LastChanged::write_or_read(columns, &[], Vec::new())
        })
    }

    /// Appends columns to a dataset's first bytes, and reads the whole.
    pub(super) fn written<T>(
        first: Vec<u8>,
        write: impl FnOnce(&mut Columns) -> Option<T>,
    ) -> Self {
        let mut columns = Columns { unread: Bytes::new(), written: Some(first) };
        write(&mut columns);
        let body = columns.written.unwrap_or_default();
        Self::from_body(body.into()).expect("the reader accepts what the writer wrote")
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

    /// The words in all names. Rate centers get the IDs after all holders'.
    fn words(&self, carriers: &[Carrier]) -> WordCollection {
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
        words
    }

    fn rows(&self, exchanges: &[Exchange]) -> (ExchangeRows, BlockRows) {
        let mut rows = ExchangeRows::default();
        let mut blocks = BlockRows::default();
        for area in exchanges.chunk_by(|one, next| one.npa == next.npa) {
            let row_values = |value: &dyn Fn(&Exchange) -> u32| area.iter().map(value).collect();
            let area_blocks = || area.iter().flat_map(|exchange| self.blocks(exchange));
            let block_holders = area_blocks().map(|(.., holder)| holder).collect();
            let block_rate_centers =
                area_blocks().map(|(_, it, _)| self.rate_center(it.rate_center.as_ref())).collect();
            rows.npas.push(area[0].npa);
            rows.nxxs.push(area.iter().map(|exchange| exchange.nxx).collect());
            let [attributes, holders, rate_centers] = &mut rows.columns;
            attributes.add(row_values(&|it| self.attributes(it)), Vec::new());
            blocks.holders.extend(holders.add(row_values(&|it| self.holder(it)), block_holders));
            let row_rate_centers = row_values(&|it| self.rate_center(it.rate_center.as_ref()));
            blocks.rate_centers.extend(rate_centers.add(row_rate_centers, block_rate_centers));
            blocks.effective.extend(area_blocks().map(|(_, block, _)| block.effective));
            let digits =
                |exchange| self.blocks(exchange).map(|(digit, ..)| 1 << digit).sum::<u32>();
            blocks.digits.extend(area.iter().map(digits));
        }
        (rows, blocks)
    }
}

fn shared_attributes(exchange: &Exchange) -> Attributes {
    (exchange.country, exchange.state, exchange.status)
}
