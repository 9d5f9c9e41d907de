//! The columns of thousands blocks: one row per block with a holder, in exchange order.

use std::{collections::BTreeSet, ops::Range};

use jiff::civil::Date;

use super::columns::{Columns, DictionaryRows, Lists, Numbers};
use crate::records::BlockHolder;

/// All thousands blocks with a holder, in exchange order.
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
    /// Writes or reads each exchange's blocks with their digits, holders and rate centers. `areas` has each area code's
    /// exchange rows.
    pub(super) fn write_or_read(
        columns: &mut Columns,
        areas: impl Iterator<Item = Range<usize>>,
        blocks: Vec<Vec<(u8, &BlockHolder)>>,
        [holders, rate_centers]: [&DictionaryRows; 2],
    ) -> Option<Self> {
        let effective = || blocks.iter().flatten().map(|(_, block)| block.effective);
        let written_dates: BTreeSet<Date> = effective().flatten().collect();
        let written_dates: Vec<Date> = written_dates.into_iter().collect();
        let value_for = |date| written_dates.partition_point(|&other| other <= date) as u32;
        let bits = |blocks: &Vec<(u8, _)>| blocks.iter().map(|(digit, _)| 1 << digit).sum();
        let digits = columns.numbers(blocks.iter().map(bits))?;
        let areas = Lists::from_lengths(areas.map(|rows| digits.count_ones(rows) as u32));
        let holders = columns.numbers(holders.blocks.iter().copied())?;
        let rate_centers = columns.numbers(rate_centers.blocks.iter().copied())?;
        let effective = columns.numbers(effective().map(|date| date.map_or(0, value_for)))?;
        let dates: Vec<String> = written_dates.iter().map(Date::to_string).collect();
        let dates = columns.strings(dates.iter().map(String::as_str))?;
        let dates = (0..dates.count()).map(|position| dates.get(position).parse().ok());
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

    /// The number of blocks in each row.
    pub(super) fn counts(&self, rows: Range<usize>) -> impl Iterator<Item = usize> {
        rows.map(|row| self.digits.get(row).count_ones() as usize)
    }

    pub(super) fn effective_date(&self, block: usize) -> Option<Date> {
        self.effective.get(block).checked_sub(1).map(|position| self.dates[position])
    }

    /// The highest value in [`Self::effective`] for blocks in effect on `today`; `None` if every block is.
    pub(super) fn last_effective(&self, today: Date) -> Option<usize> {
        let last = self.dates.partition_point(|&date| date <= today);
        (last < self.dates.len()).then_some(last)
    }
}
