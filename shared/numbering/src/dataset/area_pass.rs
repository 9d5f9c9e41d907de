//! Finds the rows of an area code that meet requirements.

use std::ops::Range;

use jiff::civil::Date;

use super::{
    Dataset,
    columns::Numbers,
    requirements::Requirements,
    row_set::{RowSet, WORD, first_bits},
};

/// A pass over area codes, one after the other.
#[derive(Debug)]
pub(super) struct AreaPass<'a> {
    dataset: &'a Dataset,
    requirements: &'a Requirements<'a>,
    /// For each kind of exchange the bits that it meets; nothing if kinds do not matter.
    kinds: &'a [u32],
    /// The greatest effective date of a block that counts, as a number.
    last_effective: usize,
    kind_bits: EntryBits,
    holder_bits: EntryBits,
    rate_center_bits: EntryBits,
}

/// How many values a byte has.
const BYTES: usize = 256;

/// For each entry of a dictionary the bits of the requirements that it meets.
#[derive(Debug)]
struct EntryBits {
    /// At least as many as a byte has values, so that a byte always finds its bits.
    bits: Vec<u32>,
    entries: usize,
    /// The bits that all entries have, and those that some have.
    of_all: u32,
    of_some: u32,
}

impl EntryBits {
    fn none() -> Self {
        Self { bits: vec![0; BYTES], entries: 0, of_all: 0, of_some: 0 }
    }

    /// Sets the bits of a dictionary.
    fn set(&mut self, dictionary: &[u32], bits_of: impl Fn(usize) -> u32) {
        self.entries = dictionary.len();
        self.bits.resize(dictionary.len().max(BYTES), 0);
        (self.of_all, self.of_some) = (u32::MAX, 0);
        for (own, &value) in self.bits.iter_mut().zip(dictionary) {
            *own = bits_of(value as usize);
            self.of_all &= *own;
            self.of_some |= *own;
        }
    }

    fn vary(&self) -> bool {
        self.of_all != self.of_some
    }
}

impl<'a> AreaPass<'a> {
    pub(super) fn new(
        dataset: &'a Dataset,
        requirements: &'a Requirements<'a>,
        kinds: &'a [u32],
        today: Date,
    ) -> Self {
        Self {
            dataset,
            requirements,
            kinds,
            last_effective: dataset.blocks.last_effective(today),
            kind_bits: EntryBits::none(),
            holder_bits: EntryBits::none(),
            rate_center_bits: EntryBits::none(),
        }
    }

    /// Adds those of the rows of an area code to `found` that meet the requirements.
    pub(super) fn visit(&mut self, area: usize, rows: Range<usize>, found: &mut RowSet) {
        if !self.requirements.can_be_met_in(area) {
            return;
        }
        self.set_bits(area);
        let columns = [&self.kind_bits, &self.holder_bits, &self.rate_center_bits];
        let of_some = columns.iter().fold(0, |bits, column| bits | column.of_some);
        let of_all = columns.iter().fold(0, |bits, column| bits | column.of_all);
        if !self.requirements.are_met(of_some) {
            return;
        }
        if self.requirements.are_met(of_all) {
            return found.insert_range(rows);
        }
        let columns = self.varying_columns();
        for start in rows.clone().step_by(WORD) {
            let chunk = start..rows.end.min(start + WORD);
            let by_exchange = matches(&columns, self.requirements, chunk.clone(), of_all);
            let by_block = self.matches_by_block(&columns, chunk, of_all, by_exchange);
            found.insert_bits(start, by_exchange | by_block);
        }
    }

    /// Looks up the bits of the values that occur in an area code.
    fn set_bits(&mut self, area: usize) {
        let columns = &self.dataset.exchanges.columns;
        let kinds = self.kinds;
        if !kinds.is_empty() {
            self.kind_bits.set(columns.kinds.entries_of(area), |kind| kinds[kind]);
        }
        let requirements = self.requirements;
        if requirements.concern_names() {
            let rate_centers = self.dataset.names.holder_numbers();
            let of_holder = |holder| requirements.of_name(holder);
            let of_rate_center = |number| requirements.of_name(rate_centers + number);
            self.holder_bits.set(columns.holders.entries_of(area), of_holder);
            self.rate_center_bits.set(columns.rate_centers.entries_of(area), of_rate_center);
        }
    }

    /// The columns in which the rows of the area code may have different bits.
    fn varying_columns(&self) -> Vec<VaryingColumn<'_>> {
        let columns = &self.dataset.exchanges.columns;
        let all = [
            (&self.kind_bits, &columns.kinds),
            (&self.holder_bits, &columns.holders),
            (&self.rate_center_bits, &columns.rate_centers),
        ];
        let varying = all.into_iter().filter(|(bits, _)| bits.vary());
        varying.map(|(bits, column)| VaryingColumn { bits, rows: column.rows() }).collect()
    }

    /// Which of at most 64 rows, but for those in `already`, meet the requirements together with
    /// their effective blocks.
    fn matches_by_block(
        &self,
        columns: &[VaryingColumn<'_>],
        rows: Range<usize>,
        of_all: u32,
        already: u64,
    ) -> u64 {
        let blocks = &self.dataset.blocks;
        if blocks.count() == 0 || !(self.holder_bits.vary() || self.rate_center_bits.vary()) {
            return 0;
        }
        let all_are_effective = !blocks.has_dates_after(self.last_effective);
        let mut found = 0;
        for (bit, (row, own)) in rows.clone().zip(blocks.of_rows(rows)).enumerate() {
            if own.is_empty() || already >> bit & 1 == 1 {
                continue;
            }
            let of_row = bits_of_row(columns, row, of_all);
            let effective = own.filter(|&block| {
                all_are_effective || blocks.effective.get(block) <= self.last_effective
            });
            let bits = effective.fold(of_row, |bits, block| {
                bits | self.holder_bits.bits[blocks.holders.get(block)]
                    | self.rate_center_bits.bits[blocks.rate_centers.get(block)]
            });
            found |= u64::from(self.requirements.are_met(bits)) << bit;
        }
        found
    }
}

/// A column of an area code in which the rows may have different bits.
#[derive(Debug, Clone, Copy)]
struct VaryingColumn<'a> {
    bits: &'a EntryBits,
    rows: &'a Numbers,
}

/// The fewest rows for which it is cheaper to read 64 of them.
const FEW_ROWS: usize = 8;

/// Which of at most 64 rows meet the requirements by themselves. All rows have the bits `of_all`.
fn matches(
    columns: &[VaryingColumn<'_>],
    requirements: &Requirements<'_>,
    rows: Range<usize>,
    of_all: u32,
) -> u64 {
    let by_bytes = match columns {
        _ if rows.len() < FEW_ROWS => None,
        [] => None,
        &[a] => matches_by_bytes([a], requirements, rows.start, of_all),
        &[a, b] => matches_by_bytes([a, b], requirements, rows.start, of_all),
        &[a, b, c, ..] => matches_by_bytes([a, b, c], requirements, rows.start, of_all),
    };
    let one_by_one = || {
        let rows = rows.clone().enumerate();
        rows.fold(0, |found, (bit, row)| {
            let is_met = requirements.are_met(bits_of_row(columns, row, of_all));
            found | u64::from(is_met) << bit
        })
    };
    by_bytes.unwrap_or_else(one_by_one) & first_bits(rows.len())
}

/// Which of 64 rows meet the requirements, if the dictionaries are so short that a byte names an
/// entry. Rows of the next area code may be among them; their bits mean nothing.
fn matches_by_bytes<const COLUMNS: usize>(
    columns: [VaryingColumn<'_>; COLUMNS],
    requirements: &Requirements<'_>,
    first: usize,
    of_all: u32,
) -> Option<u64> {
    let mut bits = [&[0; BYTES]; COLUMNS];
    let mut rows = [&[0; WORD]; COLUMNS];
    for (number, column) in columns.iter().enumerate() {
        if column.bits.entries > BYTES {
            return None;
        }
        bits[number] = column.bits.bits.first_chunk()?;
        rows[number] = column.rows.low_bytes(first)?.first_chunk()?;
    }
    let of_row = |row: usize| {
        (0..COLUMNS).fold(of_all, |all, column| all | bits[column][usize::from(rows[column][row])])
    };
    Some(match requirements.only_required() {
        Some(required) => word_of(|row| of_row(row) & required == required),
        None => word_of(|row| requirements.are_met(of_row(row))),
    })
}

fn word_of(is_set: impl Fn(usize) -> bool) -> u64 {
    (0..WORD).fold(0, |word, bit| word | u64::from(is_set(bit)) << bit)
}

fn bits_of_row(columns: &[VaryingColumn<'_>], row: usize, of_all: u32) -> u32 {
    columns.iter().fold(of_all, |bits, column| bits | column.bits.bits[column.rows.get(row)])
}
