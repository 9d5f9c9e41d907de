//! The exchange columns: one row per exchange, ordered by NPA, then NXX.
//!
//! An area code has few holders and rate centers, so each has its own dictionaries, and most values in a row
//! take one byte. A search checks the dictionaries first, which rules out most area codes.

use std::{collections::BTreeSet, ops::Range};

use jiff::civil::Date;

use super::{
    columns::{Columns, Lists, Numbers},
    tables::Places,
};
use crate::records::{Country, Npa, NpaNxx, Nxx, StateCode, Status};

/// All exchanges. Methods take an area code's position among those with exchanges.
#[derive(Debug)]
pub(super) struct Exchanges {
    npas: Numbers,
    rows: Lists,
    nxxs: Vec<u16>,
    pub(super) attributes: SharedAttributes,
    /// Indexed by [`ATTRIBUTES`], [`HOLDERS`] and [`RATE_CENTERS`].
    pub(super) columns: [DictionaryColumn; 3],
}

/// The places and statuses that rows share.
#[derive(Debug)]
pub(super) struct SharedAttributes {
    pub(super) places: Places,
    /// Positions in [`Status::ALL`].
    statuses: Numbers,
}

/// The column of positions in [`SharedAttributes`].
pub(super) const ATTRIBUTES: usize = 0;
/// The holder column: zero for none, then carriers, then companies without an OCN.
pub(super) const HOLDERS: usize = 1;
/// The rate center column: zero for none.
pub(super) const RATE_CENTERS: usize = 2;

impl Exchanges {
    pub(super) fn write_or_read(
        columns: &mut Columns,
        written: ExchangeRows,
        attributes: &[Attributes],
    ) -> Option<Self> {
        let npas = columns.numbers(written.npas.iter().map(|npa| npa.number().into()))?;
        let rows = columns.lists(written.nxxs.iter().map(Vec::len))?;
        let gaps = columns.numbers(written.nxxs.iter().flat_map(|nxxs| {
            let numbers = nxxs.iter().map(|nxx| u32::from(nxx.number()));
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
        let places = attributes.iter().map(|&(country, state, _)| (country, state));
        let statuses = attributes.iter().map(|&(.., status)| status as u32);
        let attributes = SharedAttributes {
            places: Places::write_or_read(columns, places)?,
            statuses: columns.numbers(statuses)?,
        };
        let [first, second, third] =
            written.columns.map(|written| DictionaryColumn::write_or_read(columns, written));
        Some(Self { npas, rows, nxxs, attributes, columns: [first?, second?, third?] })
    }

    pub(super) fn count(&self) -> usize {
        self.nxxs.len()
    }

    pub(super) fn area_count(&self) -> usize {
        self.npas.count()
    }

    /// The number of exchanges with each set of shared attributes.
    pub(super) fn counts_by_attributes(&self) -> Vec<u32> {
        let mut counts = vec![0; self.attributes.count()];
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

    /// The position of the area code that contains a row.
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

impl SharedAttributes {
    pub(super) fn count(&self) -> usize {
        self.places.count()
    }

    pub(super) fn status(&self, position: usize) -> Status {
        Status::ALL[self.statuses.get(position)]
    }
}

/// A column whose rows refer to entries in their area code's dictionary.
#[derive(Debug)]
pub(super) struct DictionaryColumn {
    /// The entries of each area code, sorted and without duplicates.
    dictionaries: Lists,
    entries: Vec<u32>,
    /// The entry of each row in its area code's dictionary.
    pub(super) rows: Numbers,
    /// For each value, the positions of its entries across all dictionaries.
    occurrences: Lists,
    positions: Vec<u32>,
}

impl DictionaryColumn {
    fn write_or_read(columns: &mut Columns, written: DictionaryRows) -> Option<Self> {
        let dictionaries = columns.lists(written.lengths.into_iter())?;
        let entries = columns.numbers(written.entries)?;
        let entries = entries.to_vec(0..entries.count());
        let rows = columns.numbers(written.rows)?;
        let (occurrences, positions) = occurrences(&entries);
        Some(Self { dictionaries, entries, rows, occurrences, positions })
    }

    pub(super) fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// The positions of an area code's entries across all dictionaries.
    pub(super) fn dictionary(&self, area: usize) -> Range<usize> {
        self.dictionaries.range(area)
    }

    /// The positions of the entries with this value.
    pub(super) fn positions_of(&self, value: usize) -> &[u32] {
        if value < self.occurrences.count() {
            &self.positions[self.occurrences.range(value)]
        } else {
            &[]
        }
    }

    /// The value of an entry in an area code's dictionary.
    pub(super) fn entry(&self, area: usize, entry: usize) -> usize {
        self.entries[self.dictionary(area)][entry] as usize
    }

    pub(super) fn get(&self, area: usize, row: usize) -> usize {
        self.entry(area, self.rows.get(row))
    }
}

/// For each value, its positions in `entries`.
fn occurrences(entries: &[u32]) -> (Lists, Vec<u32>) {
    let mut counts = vec![0; entries.iter().max().map_or(0, |&greatest| greatest as usize + 1)];
    entries.iter().for_each(|&value| counts[value as usize] += 1);
    let lists = Lists::from_lengths(counts.iter().copied());
    let mut positions = vec![0; entries.len()];
    for (position, &value) in (0..).zip(entries) {
        let left = &mut counts[value as usize];
        positions[lists.range(value as usize).end - *left as usize] = position;
        *left -= 1;
    }
    (lists, positions)
}

#[derive(Debug, Default)]
pub(super) struct DictionaryRows {
    lengths: Vec<usize>,
    entries: Vec<u32>,
    rows: Vec<u32>,
}

impl DictionaryRows {
    /// Adds the values of an area code's rows. Returns the dictionary entries of its blocks' values.
    pub(super) fn add(&mut self, row_values: Vec<u32>, block_values: Vec<u32>) -> Vec<u32> {
        let dictionary: BTreeSet<u32> = row_values.iter().chain(&block_values).copied().collect();
        let dictionary: Vec<u32> = dictionary.into_iter().collect();
        let entry_of = |value: u32| dictionary.partition_point(|&entry| entry < value) as u32;
        self.rows.extend(row_values.into_iter().map(entry_of));
        self.lengths.push(dictionary.len());
        self.entries.extend(&dictionary);
        block_values.into_iter().map(entry_of).collect()
    }
}

/// A country, state and status that exchanges share.
pub(super) type Attributes = (Country, Option<StateCode>, Status);

#[derive(Debug, Default)]
pub(super) struct ExchangeRows {
    pub(super) npas: Vec<Npa>,
    pub(super) nxxs: Vec<Vec<Nxx>>,
    /// Indexed like [`Exchanges::columns`].
    pub(super) columns: [DictionaryRows; 3],
}

/// All thousands blocks that have a holder, in exchange order.
#[derive(Debug)]
pub(super) struct Blocks {
    /// For each exchange, one bit per block, set if the block has a holder.
    digits: Numbers,
    /// The blocks of each area code.
    areas: Lists,
    /// The entry of each block in its area code's dictionary.
    pub(super) holders: Numbers,
    pub(super) rate_centers: Numbers,
    /// Positions in `dates` plus one; zero if the assignment is effective immediately.
    pub(super) effective: Numbers,
    dates: Vec<Date>,
}

impl Blocks {
    pub(super) fn write_or_read(
        columns: &mut Columns,
        exchanges: &Exchanges,
        written: BlockRows,
    ) -> Option<Self> {
        let written_dates: BTreeSet<Date> = written.effective.iter().copied().flatten().collect();
        let written_dates: Vec<Date> = written_dates.into_iter().collect();
        let value_for = |date| written_dates.partition_point(|&other| other <= date) as u32;
        let digits = columns.numbers(written.digits)?;
        let areas = 0..exchanges.area_count();
        let areas = areas.map(|area| digits.count_ones(exchanges.rows_of(area)) as u32);
        let areas = Lists::from_lengths(areas);
        let holders = columns.numbers(written.holders)?;
        let rate_centers = columns.numbers(written.rate_centers)?;
        let effective =
            columns.numbers(written.effective.iter().map(|date| date.map_or(0, value_for)))?;
        let dates = columns.numbers(written_dates.iter().copied().map(date_to_number))?;
        let dates = (0..dates.count()).map(|position| date_from_number(dates.get(position)));
        let dates = dates.collect::<Option<_>>()?;
        Some(Self { digits, areas, holders, rate_centers, effective, dates })
    }

    pub(super) fn count(&self) -> usize {
        self.areas.item_count()
    }

    /// The blocks of adjacent rows in an area code whose first row is `first_row`.
    pub(super) fn blocks_in_rows(
        &self,
        area: usize,
        first_row: usize,
        rows: Range<usize>,
    ) -> Range<usize> {
        let start = self.areas.range(area).start + self.digits.count_ones(first_row..rows.start);
        start..start + self.digits.count_ones(rows)
    }

    /// The digits of a row's blocks.
    pub(super) fn digits(&self, row: usize) -> impl Iterator<Item = u8> {
        let digits = self.digits.get(row);
        (0..10).filter(move |digit| digits >> digit & 1 == 1)
    }

    /// The number of blocks in each of these rows.
    pub(super) fn counts(&self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        rows.map(|row| self.digits.get(row).count_ones() as usize)
    }

    pub(super) fn effective_date(&self, block: usize) -> Option<Date> {
        self.effective.get(block).checked_sub(1).map(|position| self.dates[position])
    }

    /// The greatest value in [`Self::effective`] for blocks effective `today`; `None` if every block is
    /// effective.
    pub(super) fn last_effective(&self, today: Date) -> Option<usize> {
        let last = self.dates.partition_point(|&date| date <= today);
        (last < self.dates.len()).then_some(last)
    }
}

/// Packs year, month and day into a number that sorts by date.
fn date_to_number(date: Date) -> u32 {
    let [month, day] = [date.month(), date.day()].map(i8::cast_unsigned);
    u32::from(date.year().cast_unsigned()) << 16 | u32::from(month) << 8 | u32::from(day)
}

fn date_from_number(number: usize) -> Option<Date> {
    let [day, month, year, century] = (number as u32).to_le_bytes();
    let year = i16::from_le_bytes([year, century]);
    Date::new(year, month.cast_signed(), day.cast_signed()).ok()
}

/// The blocks of all exchanges, ready to write. [`Blocks`] documents the columns.
#[derive(Debug, Default)]
pub(super) struct BlockRows {
    pub(super) digits: Vec<u32>,
    pub(super) holders: Vec<u32>,
    pub(super) rate_centers: Vec<u32>,
    pub(super) effective: Vec<Option<Date>>,
}
