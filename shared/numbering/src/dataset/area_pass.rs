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
    /// The lowest of these bits.
    low_bits: [u8; BYTES],
    /// The entries that have any bits, if bytes name them.
    with_bits: [(u8, u8); BYTES],
    count_with_bits: usize,
    /// The bits that all entries have, and those that some have.
    of_all: u32,
    of_some: u32,
}

impl EntryBits {
    fn none() -> Self {
        Self {
            bits: vec![0; BYTES],
            entries: 0,
            low_bits: [0; BYTES],
            with_bits: [(0, 0); BYTES],
            count_with_bits: 0,
            of_all: 0,
            of_some: 0,
        }
    }

    /// Sets the bits of a dictionary.
    fn set(&mut self, dictionary: &[u32], bits_of: impl Fn(usize) -> u32) {
        self.entries = dictionary.len();
        self.bits.resize(dictionary.len().max(BYTES), 0);
        (self.of_all, self.of_some) = (u32::MAX, 0);
        let mut count = 0;
        for (entry, (own, &value)) in self.bits.iter_mut().zip(dictionary).enumerate() {
            let bits = bits_of(value as usize);
            *own = bits;
            self.of_all &= bits;
            self.of_some |= bits;
            // Each entry is written, and overwritten if it has no bits: there is no branch to guess.
            self.with_bits[count % BYTES] = (entry as u8, bits as u8);
            self.low_bits[entry % BYTES] = bits as u8;
            count += usize::from(bits != 0);
        }
        self.count_with_bits = count;
    }

    /// The bits of an entry; none if no dictionary has been set, since nothing depends on it then.
    fn of(&self, entry: usize) -> u32 {
        self.bits.get(entry).copied().unwrap_or_default()
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
        let names = [&columns.holders, &columns.rate_centers];
        let [holders, rate_centers] = names.map(|column| column.entry_count(area));
        (self.holder_bits.entries, self.rate_center_bits.entries) = (holders, rate_centers);
        if requirements.concern_holders() {
            let dictionary = columns.holders.entries_of(area);
            self.holder_bits.set(dictionary, |holder| requirements.of_name(holder));
        }
        if requirements.concern_rate_centers() {
            let first = self.dataset.names.holder_numbers();
            let dictionary = columns.rate_centers.entries_of(area);
            self.rate_center_bits.set(dictionary, |number| requirements.of_name(first + number));
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
        let low = self.low_bytes_of_blocks();
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
            let bits = effective.fold(of_row, |bits, block| bits | self.bits_of_block(low, block));
            found |= u64::from(self.requirements.are_met(bits)) << bit;
        }
        found
    }
}

impl<'a> AreaPass<'a> {
    /// The lowest bytes of the holders and the rate centers of all blocks, if a byte names an entry
    /// in the dictionaries of the area code.
    fn low_bytes_of_blocks(&self) -> Option<[&'a [u8]; 2]> {
        let blocks = &self.dataset.blocks;
        let fit = [&self.holder_bits, &self.rate_center_bits].map(|bits| bits.entries <= BYTES);
        let [holders, rate_centers] = [&blocks.holders, &blocks.rate_centers];
        if fit != [true; 2] {
            return None;
        }
        Some([holders.low_bytes(0)?, rate_centers.low_bytes(0)?])
    }

    fn bits_of_block(&self, low_bytes: Option<[&[u8]; 2]>, block: usize) -> u32 {
        let blocks = &self.dataset.blocks;
        let [holder, rate_center] = match low_bytes {
            Some(columns) => columns.map(|column| usize::from(column[block])),
            None => [blocks.holders.get(block), blocks.rate_centers.get(block)],
        };
        self.holder_bits.of(holder) | self.rate_center_bits.of(rate_center)
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
/// The most entries of a column that are compared with rows one after the other. For more of them it
/// is cheaper to look up the bits of each row.
const FEW_ENTRIES: usize = 4;

/// Which of at most 64 rows meet the requirements by themselves. All rows have the bits `of_all`.
fn matches(
    columns: &[VaryingColumn<'_>],
    requirements: &Requirements<'_>,
    rows: Range<usize>,
    of_all: u32,
) -> u64 {
    let rows64 = (rows.len() >= FEW_ROWS).then(|| Rows64::of(columns, rows.start)).flatten();
    let found = match rows64 {
        Some(rows) if requirements.fit_in_bytes() => {
            requirements.met_by_bytes(&rows.low_bits(of_all as u8))
        }
        Some(rows) => requirements.met_by(&rows.bits(of_all)),
        None => rows.clone().enumerate().fold(0, |found, (bit, row)| {
            let is_met = requirements.are_met(bits_of_row(columns, row, of_all));
            found | u64::from(is_met) << bit
        }),
    };
    found & first_bits(rows.len())
}

/// 64 rows of columns in which a byte names an entry. Rows of the next area code may be among them,
/// of which nothing is used.
struct Rows64<'a> {
    columns: &'a [VaryingColumn<'a>],
    rows: [&'a [u8; WORD]; 3],
}

impl<'a> Rows64<'a> {
    /// The rows from `first` on; `None` if a dictionary is too long, or the table ends before.
    fn of(columns: &'a [VaryingColumn<'a>], first: usize) -> Option<Self> {
        let mut rows = [&[0; WORD]; 3];
        for (own, column) in rows.iter_mut().zip(columns) {
            if column.bits.entries > BYTES {
                return None;
            }
            *own = column.rows.low_bytes(first)?.first_chunk()?;
        }
        Some(Self { columns, rows })
    }

    /// The columns with their rows.
    fn pairs(&self) -> impl Iterator<Item = (&'a EntryBits, &'a [u8; WORD])> {
        self.columns.iter().map(|column| column.bits).zip(self.rows)
    }

    /// The lowest bits of each row.
    fn low_bits(&self, of_all: u8) -> [u8; WORD] {
        let mut all_bits = [of_all; WORD];
        let has_few = |bits: &EntryBits| bits.count_with_bits <= FEW_ENTRIES;
        for (bits, rows) in self.pairs().filter(|(bits, _)| has_few(bits)) {
            // Each entry is compared with all rows, many of them at once.
            for &(entry, bits) in &bits.with_bits[..bits.count_with_bits] {
                for (own, &row) in all_bits.iter_mut().zip(rows) {
                    *own |= if row == entry { bits } else { 0 };
                }
            }
        }
        let mut others = self.pairs().filter(|(bits, _)| !has_few(bits));
        while let Some((a, rows_a)) = others.next() {
            // Two columns at once need not write what the first one gives.
            if let Some((b, rows_b)) = others.next() {
                for (own, (&row_a, &row_b)) in all_bits.iter_mut().zip(rows_a.iter().zip(rows_b)) {
                    *own |= a.low_bits[usize::from(row_a)] | b.low_bits[usize::from(row_b)];
                }
            } else {
                for (own, &row) in all_bits.iter_mut().zip(rows_a) {
                    *own |= a.low_bits[usize::from(row)];
                }
            }
        }
        all_bits
    }

    /// The bits of each row.
    fn bits(&self, of_all: u32) -> [u32; WORD] {
        let mut all_bits = [of_all; WORD];
        for (column, rows) in self.columns.iter().zip(self.rows) {
            let Some(bits) = column.bits.bits.first_chunk::<BYTES>() else { continue };
            for (own, &row) in all_bits.iter_mut().zip(rows) {
                *own |= bits[usize::from(row)];
            }
        }
        all_bits
    }
}

fn bits_of_row(columns: &[VaryingColumn<'_>], row: usize, of_all: u32) -> u32 {
    columns.iter().fold(of_all, |bits, column| bits | column.bits.of(column.rows.get(row)))
}
