//! The exchange columns: one row per exchange, ordered by NPA, then NXX.
//!
//! An area code has few holders and rate centers, so each has its own dictionaries, and most values take
//! one byte per row. A search checks the dictionaries first, which rules out most area codes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use serde_json::json;

use super::{
    Dataset,
    blocks::Blocks,
    columns::{Columns, DictionaryColumn, DictionaryRows, Lists, Numbers},
    names::WordCollection,
};
use crate::records::{
    BlockHolder, Carrier, Country, Exchange, Npa, NpaNxx, Nxx, Ocn, StateCode, Status,
};

/// All exchanges. Methods take an area code's index among the area codes with exchanges.
#[derive(Debug)]
pub(super) struct Exchanges {
    npas: Numbers,
    rows: Lists,
    nxxs: Vec<u16>,
    /// The distinct countries, states and statuses of rows.
    pub(super) attributes: Vec<Attributes>,
    /// Indexed by [`ATTRIBUTES`], [`HOLDERS`] and [`RATE_CENTERS`].
    pub(super) columns: [DictionaryColumn; 3],
}

/// A country, state and status.
pub(super) type Attributes = (Country, Option<StateCode>, Status);

/// The column of positions in [`Exchanges::attributes`].
pub(super) const ATTRIBUTES: usize = 0;
/// The holder column: zero for no holder, then carriers, then companies without an OCN.
pub(super) const HOLDERS: usize = 1;
/// The rate center column: zero for no rate center.
pub(super) const RATE_CENTERS: usize = 2;

impl Exchanges {
    /// Writes or reads exchanges, which must be ordered by NPA, then NXX.
    pub(super) fn write_or_read(
        columns: &mut Columns,
        exchanges: &[Exchange],
        common: &CommonValues<'_>,
    ) -> Option<(Self, Blocks)> {
        let areas: Vec<&[Exchange]> = exchanges.chunk_by(|one, next| one.npa == next.npa).collect();
        let npas = columns.numbers(areas.iter().map(|area| area[0].npa.number().into()))?;
        let rows = columns.lists(areas.iter().map(|area| area.len()))?;
        let gaps = columns.numbers(areas.iter().flat_map(|area| {
            let numbers = area.iter().map(|exchange| u32::from(exchange.nxx.number()));
            numbers.scan(0, |before, nxx| Some(nxx - std::mem::replace(before, nxx)))
        }))?;
        let mut nxxs = Vec::with_capacity(gaps.count());
        for area in 0..rows.count() {
            let gaps = gaps.to_vec(rows.range(area)).into_iter();
            nxxs.extend(gaps.scan(0, |nxx, gap| {
                *nxx += gap as u16;
                Some(*nxx)
            }));
        }
        let attributes: Vec<String> =
            common.attributes.iter().map(|attributes| json!(attributes).to_string()).collect();
        let attributes = columns.strings(attributes.iter().map(String::as_str))?;
        let attributes = (0..attributes.count()).map(|it| serde_json::from_str(attributes.get(it)));
        let attributes = attributes.collect::<Result<_, _>>().ok()?;
        let written = common.dictionaries(&areas);
        let [first, second, third] =
            [0, 1, 2].map(|column| DictionaryColumn::write_or_read(columns, &written[column]));
        let table = Self { npas, rows, nxxs, attributes, columns: [first?, second?, third?] };
        let areas = (0..table.area_count()).map(|area| table.rows_of(area));
        let entries = [&written[HOLDERS], &written[RATE_CENTERS]];
        let blocks = Blocks::write_or_read(columns, areas, common.blocks_of(exchanges), entries)?;
        Some((table, blocks))
    }

    pub(super) fn count(&self) -> usize {
        self.nxxs.len()
    }

    pub(super) fn area_count(&self) -> usize {
        self.npas.count()
    }

    /// The number of exchanges with each combination of attributes.
    pub(super) fn counts_by_attributes(&self) -> Vec<u32> {
        let mut counts = vec![0; self.attributes.len()];
        for area in 0..self.area_count() {
            for row in self.rows_of(area) {
                counts[self.columns[ATTRIBUTES].get(area, row)] += 1;
            }
        }
        counts
    }

    pub(super) fn area(&self, npa: Npa) -> Option<usize> {
        self.npas.position(npa.number().into())
    }

    pub(super) fn rows_of(&self, area: usize) -> Range<usize> {
        self.rows.range(area)
    }

    /// The index of the area code that contains a row.
    pub(super) fn area_of(&self, row: usize) -> usize {
        self.rows.list_of(row)
    }

    /// The row of an exchange in this area code.
    pub(super) fn row(&self, area: usize, nxx: Nxx) -> Option<usize> {
        let rows = self.rows_of(area);
        let found = self.nxxs[rows.clone()].binary_search(&nxx.number());
        found.ok().map(|position| rows.start + position)
    }

    pub(super) fn npa_nxx(&self, area: usize, row: usize) -> NpaNxx {
        let npa = Npa::from_number(self.npas.get(area) as u16);
        NpaNxx { npa, nxx: Nxx::from_number(self.nxxs[row]) }
    }
}

impl Dataset {
    pub(super) fn exchange_at(&self, row: usize) -> Exchange {
        let area = self.exchanges.area_of(row);
        let NpaNxx { npa, nxx } = self.exchanges.npa_nxx(area, row);
        let value = |column: usize| self.exchanges.columns[column].get(area, row);
        let (attributes, holder) = (value(ATTRIBUTES), value(HOLDERS));
        let carrier = self.holder_carrier(holder);
        let (country, state, status) = self.exchanges.attributes[attributes];
        let first_row = self.exchanges.rows_of(area).start;
        let blocks = self.blocks.blocks_in_rows(area, first_row, row..row + 1);
        let blocks = self.blocks.digits(row).zip(blocks);
        Exchange {
            npa,
            nxx,
            ocn: carrier.map(|carrier| self.carriers.ocn(carrier)),
            company_name: self.holder_company_name(holder).map(str::to_owned),
            carrier_type: carrier.and_then(|carrier| self.carriers.carrier_type(carrier)),
            rate_center: self.rate_center_name(value(RATE_CENTERS)),
            state,
            country,
            status,
            blocks: blocks
                .filter_map(|(digit, block)| Some((digit, self.block(area, block)?)))
                .collect(),
        }
    }

    fn block(&self, area: usize, block: usize) -> Option<BlockHolder> {
        let columns = &self.exchanges.columns;
        let holder = columns[HOLDERS].entry(area, self.blocks.holders.get(block));
        let rate_center = columns[RATE_CENTERS].entry(area, self.blocks.rate_centers.get(block));
        let carrier = self.holder_carrier(holder)?;
        Some(BlockHolder {
            ocn: self.carriers.ocn(carrier),
            company_name: self.carriers.company_name(carrier).map(str::to_owned),
            carrier_type: self.carriers.carrier_type(carrier),
            rate_center: self.rate_center_name(rate_center),
            effective: self.blocks.effective_date(block),
        })
    }
}

/// The distinct attributes, carriers, companies and rate centers of all exchanges, sorted.
#[derive(Default)]
pub(super) struct CommonValues<'a> {
    attributes: Vec<Attributes>,
    /// The holder IDs of carriers, starting at one.
    carriers: BTreeMap<Ocn, u32>,
    /// The holder IDs of companies without an OCN, after the last carrier's.
    pub(super) companies: BTreeMap<&'a str, u32>,
    /// Rate center IDs, starting at one.
    pub(super) rate_centers: BTreeMap<&'a str, u32>,
}

/// Assigns consecutive IDs to the distinct keys, starting at `first`.
fn assign_ids<K: Ord>(keys: impl Iterator<Item = K>, first: u32) -> BTreeMap<K, u32> {
    keys.collect::<BTreeSet<K>>().into_iter().zip(first..).collect()
}

impl<'a> CommonValues<'a> {
    pub(super) fn new(carriers: &[Carrier], exchanges: &'a [Exchange]) -> Self {
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

    fn rate_center(&self, name: &Option<String>) -> u32 {
        name.as_deref().map_or(0, |name| self.rate_centers[name])
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

    /// For each exchange, the digits and holders of its valid blocks.
    fn blocks_of<'e>(&self, exchanges: &'e [Exchange]) -> Vec<Vec<(u8, &'e BlockHolder)>> {
        let blocks = |exchange| self.blocks(exchange).map(|(digit, holder, _)| (digit, holder));
        exchanges.iter().map(|exchange| blocks(exchange).collect()).collect()
    }

    /// The values of each column, for the exchanges and blocks of each area code.
    fn dictionaries(&self, areas: &[&[Exchange]]) -> [DictionaryRows; 3] {
        let mut written: [DictionaryRows; 3] = Default::default();
        for area in areas {
            let blocks = || area.iter().flat_map(|exchange| self.blocks(exchange));
            let values = |value: &dyn Fn(&Exchange) -> u32| area.iter().map(value).collect();
            written[ATTRIBUTES].add(values(&|it| self.attributes(it)), Vec::new());
            let of_blocks = blocks().map(|(.., holder)| holder).collect();
            written[HOLDERS].add(values(&|it| self.holder(it)), of_blocks);
            let of_blocks = blocks().map(|(_, it, _)| self.rate_center(&it.rate_center)).collect();
            written[RATE_CENTERS].add(values(&|it| self.rate_center(&it.rate_center)), of_blocks);
        }
        written
    }

    /// The words in all names. Rate center IDs come after all holder IDs.
    pub(super) fn words(&self, carriers: &[Carrier]) -> WordCollection {
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
}

fn shared_attributes(exchange: &Exchange) -> Attributes {
    (exchange.country, exchange.state, exchange.status)
}
