//! The columns of thousands blocks, with those that have a holder in the order of the exchanges.

use std::ops::Range;

use jiff::civil::Date;

use super::{
    columns::{ANY, Numbers, SectionWriter, Sections, damaged},
    exchanges::Exchanges,
    packed::DamagedSnapshot,
    row_set::{WORD, bits_of},
};

/// The ten blocks of an exchange.
const DIGITS: usize = 10;

/// All thousands blocks that have a holder.
#[derive(Debug)]
pub(super) struct Blocks {
    /// For each exchange a bit for each block that has a holder.
    digits: Numbers,
    /// The first block of every 64th exchange, and at last the count of all.
    firsts: Vec<u32>,
    /// Which entry in the dictionary of its area code each block has.
    pub(super) holders: Numbers,
    pub(super) rate_centers: Numbers,
    /// Positions in `dates` plus one; zero for an assignment that is effective at once.
    pub(super) effective: Numbers,
    /// Every effective date, in order.
    dates: Vec<Date>,
}

impl Blocks {
    /// Reads the blocks of `exchanges`. Each holder must be one of the `carriers` first numbers.
    pub(super) fn read(
        sections: &mut Sections,
        exchanges: &Exchanges,
        carriers: usize,
    ) -> Result<Self, DamagedSnapshot> {
        const BLOCKS: &str = "columns of thousands blocks";
        let digits = sections.numbers(BLOCKS, exchanges.count(), 1 << DIGITS)?;
        let firsts = firsts(&digits, exchanges.count());
        let count = firsts.last().map_or(0, |&count| count as usize);
        let holders = sections.numbers(BLOCKS, count, ANY)?;
        let rate_centers = sections.numbers(BLOCKS, count, ANY)?;
        let dates = read_dates(sections)?;
        let effective = sections.numbers(BLOCKS, count, dates.len() + 1)?;
        let blocks = Self { digits, firsts, holders, rate_centers, effective, dates };
        let is_sound = |area| blocks.are_sound(exchanges, carriers, area);
        if count == 0 || (0..exchanges.area_count()).all(is_sound) {
            Ok(blocks)
        } else {
            Err(damaged(BLOCKS))
        }
    }

    /// Whether all blocks of an area code name entries of its dictionaries, and are held by
    /// carriers.
    fn are_sound(&self, exchanges: &Exchanges, carriers: usize, area: usize) -> bool {
        let rows = exchanges.rows_of(area);
        let blocks = self.first_of(rows.start)..self.first_of(rows.end);
        let columns = &exchanges.columns;
        let holders = columns.holders.entries_of(area);
        let first_carrier = holders.partition_point(|&holder| holder == 0);
        let end_of_carriers = holders.partition_point(|&holder| holder as usize <= carriers);
        let carrier_entries = first_carrier..end_of_carriers;
        let are_carriers = self.holders.are_below(carrier_entries.end, blocks.clone())
            && self.holders.least(blocks.clone()).is_none_or(|it| it >= carrier_entries.start);
        are_carriers && self.rate_centers.are_below(columns.rate_centers.entry_count(area), blocks)
    }

    /// How many blocks there are.
    pub(super) fn count(&self) -> usize {
        self.firsts.last().map_or(0, |&count| count as usize)
    }

    /// The first block of a row, or of one of the rows after it.
    fn first_of(&self, row: usize) -> usize {
        let start = row - row % WORD;
        self.firsts[row / WORD] as usize + self.digits.count_ones(start..row)
    }

    /// The blocks of a row.
    pub(super) fn of_row(&self, row: usize) -> Range<usize> {
        let first = self.first_of(row);
        first..first + self.digits.get(row).count_ones() as usize
    }

    /// The blocks of neighboring rows, row by row.
    pub(super) fn of_rows(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let mut end = self.first_of(rows.start);
        rows.map(move |row| {
            let start = end;
            end += self.digits.get(row).count_ones() as usize;
            start..end
        })
    }

    /// The digits of the blocks of a row.
    pub(super) fn digits(&self, row: usize) -> impl Iterator<Item = u8> {
        bits_of(self.digits.get(row) as u64).map(|digit| digit as u8)
    }

    /// The effective date of a block.
    pub(super) fn effective_date(&self, block: usize) -> Option<Date> {
        self.effective.get(block).checked_sub(1).map(|position| self.dates[position])
    }

    /// The greatest number that `effective` has for a block which is effective `today`.
    pub(super) fn last_effective(&self, today: Date) -> usize {
        self.dates.partition_point(|&date| date <= today)
    }

    /// Whether an effective date comes after this number of [`Self::last_effective`].
    pub(super) fn has_dates_after(&self, last_effective: usize) -> bool {
        last_effective < self.dates.len()
    }
}

/// The first block of every 64th exchange, and at last the count of all.
fn firsts(digits: &Numbers, exchanges: usize) -> Vec<u32> {
    let mut end = 0;
    let mut firsts = vec![end];
    for start in (0..exchanges).step_by(WORD) {
        let rows = start..exchanges.min(start + WORD);
        end += digits.count_ones(rows) as u32;
        firsts.push(end);
    }
    firsts
}

fn read_dates(sections: &mut Sections) -> Result<Vec<Date>, DamagedSnapshot> {
    const DATES: &str = "list of effective dates";
    let count = sections.count(DATES)?;
    let bytes = sections.items::<4>(DATES, count)?;
    let (dates, _) = bytes.as_chunks();
    let date_of = |&[year, century, month, day]: &[u8; 4]| {
        let year = i16::from_le_bytes([year, century]);
        Date::new(year, month as i8, day as i8).map_err(|_| damaged(DATES))
    };
    let dates = dates.iter().map(date_of).collect::<Result<Vec<_>, _>>()?;
    if dates.is_sorted_by(|one, next| one < next) { Ok(dates) } else { Err(damaged(DATES)) }
}

/// The blocks of all exchanges, as they are written.
#[derive(Debug, Default)]
pub(super) struct BlockRows {
    /// For each exchange a bit for each block that has a holder.
    pub(super) digits: Vec<u32>,
    /// Which entry in the dictionary of its area code each block has.
    pub(super) holders: Vec<u32>,
    pub(super) rate_centers: Vec<u32>,
    pub(super) effective: Vec<Option<Date>>,
}

impl BlockRows {
    pub(super) fn write(&self, writer: &mut SectionWriter) {
        let mut dates: Vec<Date> = self.effective.iter().copied().flatten().collect();
        dates.sort_unstable();
        dates.dedup();
        let number_of = |date: &Option<Date>| {
            date.map_or(0, |date| dates.partition_point(|&other| other <= date) as u32)
        };
        writer.numbers(&self.digits);
        writer.numbers(&self.holders);
        writer.numbers(&self.rate_centers);
        writer.count(dates.len());
        for date in &dates {
            let [year, century] = date.year().to_le_bytes();
            writer.bytes(&[year, century, date.month() as u8, date.day() as u8]);
        }
        writer.numbers(&self.effective.iter().map(number_of).collect::<Vec<_>>());
    }
}
