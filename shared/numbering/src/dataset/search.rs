//! Exchange search: by word prefixes and exact filters.
//!
//! Each condition has a bit, which a search sets on the names and attributes that meet it. An exchange combines the
//! bits of its own values and its effective blocks. The dictionaries alone rule out most area codes.

use std::{array, ops::Range};

use jiff::civil::Date;
use utoipa::IntoParams;

use super::{
    Dataset, Records,
    columns::{BYTES, Numbers},
    exchanges::{ATTRIBUTES, HOLDERS, RATE_CENTERS},
    record_list::Positions,
    words::{WholeName, Words},
};
use crate::records::{CarrierType, Country, Exchange, Npa, Nxx, Ocn, StateCode, Status};

/// The criteria for a search. An exchange must meet all of them.
///
/// A thousands block can also meet the holder and rate center criteria once its assignment is effective.
#[derive(Debug, Clone, Default, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Search {
    /// Search words. Each must be the start of a word in a company name, common name or rate center. Case, accents and
    /// punctuation within a word are ignored: `tmobile` and `t-mobile` both find `T-Mobile`.
    #[param(rename = "q", value_type = Option<String>)]
    pub words: Option<Words>,
    /// 3-digit area code.
    pub npa: Option<Npa>,
    /// 3-digit exchange code.
    pub nxx: Option<Nxx>,
    /// Operating Company Number of a carrier that holds the exchange or one of its thousands blocks.
    pub ocn: Option<Ocn>,
    /// Full company name or common name of a carrier that holds the exchange or one of its thousands blocks. Case,
    /// accents and punctuation are ignored.
    #[param(value_type = Option<String>)]
    pub company: Option<WholeName>,
    /// Full rate center name. Case, accents and punctuation are ignored.
    #[param(value_type = Option<String>)]
    pub rate_center: Option<WholeName>,
    /// State or province code.
    pub state: Option<StateCode>,
    /// Country, US or CA. US territories count as US states.
    pub country: Option<Country>,
    /// Type of a carrier that holds the exchange or one of its thousands blocks.
    #[param(rename = "type")]
    pub carrier_type: Option<CarrierType>,
    /// Assignment status.
    pub status: Option<Status>,
}

impl Dataset {
    /// The exchanges that match `search` as of `today`, ordered by NPA, then NXX.
    pub fn search(&self, search: &Search, today: Date) -> Records<'_, Exchange> {
        Records::new(self, Positions::set(self.rows_matching(search, today)), Self::exchange_at)
    }

    /// Returns one flag per row: `true` if the exchange matches `search` as of `today`.
    pub(super) fn rows_matching(&self, search: &Search, today: Date) -> Vec<bool> {
        let mut conditions = Conditions::new(self, today);
        conditions.require_fields(search);
        conditions.require_words(search);
        conditions.matching_rows(search)
    }

    fn holder_matches(&self, holder: usize, search: &Search) -> bool {
        let Search { ocn, company, carrier_type, .. } = search;
        let carrier = self.holder_carrier(holder);
        let common_name = carrier.and_then(|carrier| self.carriers.common_name(carrier));
        let mut names = [self.holder_company_name(holder), common_name].into_iter().flatten();
        (ocn.is_none() || carrier.map(|carrier| self.carriers.ocn(carrier)) == *ocn)
            && (carrier_type.is_none()
                || carrier.and_then(|it| self.carriers.carrier_type(it)) == *carrier_type)
            && company.as_ref().is_none_or(|company| names.any(|name| company.matches(name)))
    }
}

/// The conditions an exchange must meet, and the values that meet each one.
struct Conditions<'a> {
    dataset: &'a Dataset,
    /// For each column and value, the conditions that the value meets: at most ten words, ten word parts and three
    /// other conditions.
    bits: [Vec<u32>; 3],
    next_bit: u32,
    required: u32,
    alternatives: Vec<Alternatives>,
    parts: Vec<(&'a str, u32)>,
    /// The latest effective date to include, as encoded in `Blocks::effective`; `None` if every block is in effect.
    last_effective: Option<usize>,
}

/// A condition that `joined` meets, or all of `parts` together.
struct Alternatives {
    joined: u32,
    parts: u32,
}

impl Alternatives {
    fn are_met(&self, bits: u32) -> bool {
        (bits & self.joined != 0) | (bits & self.parts == self.parts)
    }
}

impl<'a> Conditions<'a> {
    fn new(dataset: &'a Dataset, today: Date) -> Self {
        let attributes = dataset.exchanges.attributes.len();
        let rate_centers = 1 + dataset.names.rate_centers.count();
        Self {
            dataset,
            bits: [attributes, dataset.holder_count(), rate_centers].map(|count| vec![0; count]),
            next_bit: 1,
            required: 0,
            alternatives: Vec::new(),
            parts: Vec::new(),
            last_effective: dataset.blocks.last_effective(today),
        }
    }

    /// Adds all conditions of a search except the words.
    fn require_fields(&mut self, search: &Search) {
        let dataset = self.dataset;
        let Search { ocn, company, rate_center, state, country, carrier_type, status, .. } = search;
        if state.is_some() || country.is_some() || status.is_some() {
            self.require(ATTRIBUTES, |position| {
                let (in_country, in_state, with_status) = dataset.exchanges.attributes[position];
                country.is_none_or(|country| in_country == country)
                    && (state.is_none() || in_state == *state)
                    && status.is_none_or(|status| with_status == status)
            });
        }
        if ocn.is_some() || company.is_some() || carrier_type.is_some() {
            self.require(HOLDERS, |holder| dataset.holder_matches(holder, search));
        }
        if let Some(wanted) = rate_center {
            let names = &dataset.names.rate_centers;
            self.require(RATE_CENTERS, |id| {
                names.get_by_id(id).is_some_and(|name| wanted.matches(name))
            });
        }
    }

    /// Requires a value in this column for which `is_match` returns `true`.
    fn require(&mut self, column: usize, is_match: impl Fn(usize) -> bool) {
        let bit = self.take_bit();
        self.required |= bit;
        for (value, bits) in self.bits[column].iter_mut().enumerate() {
            *bits |= if is_match(value) { bit } else { 0 };
        }
    }

    fn require_words(&mut self, search: &'a Search) {
        for word in search.words.iter().flat_map(|query| &query.words) {
            if word.parts.is_empty() {
                self.required |= self.prefix_bit(&word.joined);
            } else {
                let parts = word.parts.iter().fold(0, |bits, part| bits | self.prefix_bit(part));
                let joined = self.assign_bit(&self.dataset.names.with_prefix(&word.joined));
                self.alternatives.push(Alternatives { joined, parts });
            }
        }
    }

    /// The bit for names with a word that starts with these letters. Sets it on those names.
    fn prefix_bit(&mut self, letters: &'a str) -> u32 {
        if let Some(&(_, bit)) = self.parts.iter().find(|(part, _)| *part == letters) {
            return bit;
        }
        let bit = self.assign_bit(&self.dataset.names.with_prefix(letters));
        self.parts.push((letters, bit));
        bit
    }

    fn assign_bit(&mut self, names: &[u32]) -> u32 {
        let bit = self.take_bit();
        let first_rate_center = self.dataset.holder_count();
        for name in names.iter().map(|&name| name as usize) {
            match name.checked_sub(first_rate_center) {
                Some(rate_center) => self.bits[RATE_CENTERS][rate_center] |= bit,
                None => self.bits[HOLDERS][name] |= bit,
            }
        }
        bit
    }

    fn take_bit(&mut self) -> u32 {
        let bit = self.next_bit;
        self.next_bit <<= 1;
        bit
    }

    /// Returns `true` if these bits meet all conditions.
    fn are_met(&self, bits: u32) -> bool {
        bits & self.required == self.required
            && self.alternatives.iter().all(|either| either.are_met(bits))
    }

    /// Returns one flag per row: `true` if it meets the conditions and matches the area code and exchange code.
    fn matching_rows(&self, search: &Search) -> Vec<bool> {
        let exchanges = &self.dataset.exchanges;
        let areas = match search.npa {
            Some(npa) => exchanges.area(npa).map_or(0..0, |area| area..area + 1),
            None => 0..exchanges.area_count(),
        };
        let mut found = vec![false; exchanges.count()];
        for area in areas {
            let rows = match search.nxx {
                Some(nxx) => exchanges.row(area, nxx).map(|row| row..row + 1),
                None => Some(exchanges.rows_of(area)),
            };
            if let Some(rows) = rows {
                self.find_in_area(area, rows.clone(), &mut found[rows]);
            }
        }
        found
    }

    /// Sets `found` for the matching rows in an area code.
    fn find_in_area(&self, area: usize, rows: Range<usize>, found: &mut [bool]) {
        let columns = &self.dataset.exchanges.columns;
        // For each column, the bits of the area code's dictionary entries.
        let tables: [Vec<u32>; 3] = array::from_fn(|column| {
            let values = columns[column].dictionary(area).iter();
            values.map(|&value| self.bits[column][value as usize]).collect()
        });
        let tables = tables.each_ref().map(Vec::as_slice);
        let any_bits = tables.map(|table| table.iter().fold(0, |bits, own| bits | own));
        let common_bits = tables.map(|table| table.iter().fold(u32::MAX, |bits, own| bits & own));
        if !self.are_met(any_bits.into_iter().fold(0, |bits, own| bits | own)) {
            return;
        }
        let row_bits = common_bits.into_iter().fold(0, |bits, own| bits | own);
        if self.are_met(row_bits) {
            return found.fill(true);
        }
        let varying: Vec<usize> = (0..3).filter(|&it| any_bits[it] != common_bits[it]).collect();
        let first_row = self.dataset.exchanges.rows_of(area).start;
        let blocks = self.dataset.blocks.blocks_in_rows(area, first_row, rows.clone());
        let mut bits = vec![row_bits; rows.len()];
        for column in varying {
            add_bits(&columns[column].rows, rows.clone(), tables[column], &mut bits);
        }
        self.add_blocks(rows, blocks, tables, &mut bits);
        self.find_by_bits(&bits, found);
    }

    /// Sets `found` for rows whose bits meet the conditions. Conditions are the outer loop so the compiler can
    /// vectorize over rows.
    fn find_by_bits(&self, bits: &[u32], found: &mut [bool]) {
        for (found, bits) in found.iter_mut().zip(bits) {
            *found = bits & self.required == self.required;
        }
        for either in &self.alternatives {
            found.iter_mut().zip(bits).for_each(|(found, bits)| *found &= either.are_met(*bits));
        }
    }

    /// Adds the bits of the effective `blocks` to their rows.
    fn add_blocks(
        &self,
        rows: Range<usize>,
        blocks: Range<usize>,
        [_, holders, rate_centers]: [&[u32]; 3],
        bits: &mut [u32],
    ) {
        if blocks.is_empty() {
            return;
        }
        let columns = &self.dataset.blocks;
        let mut block_bits = vec![0; blocks.len()];
        add_bits(&columns.holders, blocks.clone(), holders, &mut block_bits);
        add_bits(&columns.rate_centers, blocks.clone(), rate_centers, &mut block_bits);
        if let Some(last) = self.last_effective {
            for (bits, block) in block_bits.iter_mut().zip(blocks) {
                *bits = if columns.effective.get(block) <= last { *bits } else { 0 };
            }
        }
        let mut block_bits = block_bits.into_iter();
        for (bits, count) in bits.iter_mut().zip(columns.counts(rows)) {
            *bits = block_bits.by_ref().take(count).fold(*bits, |bits, own| bits | own);
        }
    }
}

/// Adds the bits in `table` for the values at these positions.
fn add_bits(numbers: &Numbers, positions: Range<usize>, table: &[u32], bits: &mut [u32]) {
    match numbers.low_bytes(positions.clone()) {
        Some(bytes) if table.len() <= BYTES => {
            // A byte is always in bounds, so lookups need no bounds checks.
            let mut byte_bits = [0; BYTES];
            byte_bits[..table.len()].copy_from_slice(table);
            for (bits, &byte) in bits.iter_mut().zip(bytes) {
                *bits |= byte_bits[usize::from(byte)];
            }
        }
        _ => {
            for (bits, position) in bits.iter_mut().zip(positions) {
                *bits |= table[numbers.get(position)];
            }
        }
    }
}
