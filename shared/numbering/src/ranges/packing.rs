//! A country's ranges as bytes: columns of small numbers, compressed with zstd.

use std::collections::HashMap;

use jiff::{ToSpan, civil::Date};
use serde::{Deserialize, Serialize};

use super::{CountryRanges, NationalNumber, Range, RangeFacts, RangeUse};

/// The first byte. Other values are from other releases.
const LAYOUT: u8 = 1;
/// The zstd level. It is high because a country is packed once and read by many containers.
const LEVEL: i32 = 19;
/// The maximum size before compression. The British plan takes about 1 MB.
const MAX_BYTES: usize = 32 << 20;
/// The day from which dates are counted.
const EPOCH: Date = Date::constant(1970, 1, 1);

/// A failure to read or write a country's ranges.
#[derive(Debug, thiserror::Error)]
pub enum RangesError {
    #[error("its layout differs from {LAYOUT}, which this release reads")]
    Layout,
    #[error("it cannot be compressed or decompressed")]
    Compression(#[from] std::io::Error),
    #[error("its columns cannot be read")]
    Columns(#[from] postcard::Error),
    #[error("its columns contradict each other")]
    Contradiction,
}

/// A position in a list, plus one; 0 for none.
type Position = u32;

#[derive(Default, Serialize, Deserialize)]
struct Columns {
    covered: Vec<String>,
    names: Vec<String>,
    /// The use, the status, holder and place as positions in `names`, and the first day as days since 1970.
    facts: Vec<(RangeUse, [Position; 3], Option<i32>)>,
    /// Of each range: the count of digits, the distance from the range before, the size minus one, and its facts.
    lengths: Vec<u8>,
    gaps: Vec<u64>,
    sizes: Vec<u64>,
    positions: Vec<u32>,
}

impl CountryRanges {
    /// Packs the ranges. Equal ranges produce equal bytes.
    pub fn pack(&self) -> Result<Vec<u8>, RangesError> {
        let mut columns = Columns { covered: self.covered.clone(), ..Columns::default() };
        let mut positions = HashMap::new();
        for RangeFacts { range_use, status, holder, place, effective_from } in &self.facts {
            let names = [status, holder, place].map(|name| {
                let Some(name) = name else { return 0 };
                *positions.entry(name).or_insert_with(|| {
                    columns.names.push(name.clone());
                    columns.names.len() as Position
                })
            });
            let days = |date: Date| (date.duration_since(EPOCH).as_hours() / 24) as i32;
            columns.facts.push((*range_use, names, effective_from.map(days)));
        }
        let mut next = NationalNumber { length: 0, value: 0 };
        for &Range { from, to, facts } in &self.ranges {
            let start = if next.length == from.length { next.value } else { 0 };
            columns.lengths.push(from.length);
            columns.gaps.push(from.value - start);
            columns.sizes.push(to.value - from.value);
            columns.positions.push(facts);
            next = NationalNumber { value: to.value + 1, ..to };
        }
        let mut bytes = vec![LAYOUT];
        bytes.extend(zstd::bulk::compress(&postcard::to_allocvec(&columns)?, LEVEL)?);
        Ok(bytes)
    }

    /// Unpacks ranges. Verify the hash of the bytes first.
    pub fn unpack(bytes: &[u8]) -> Result<Self, RangesError> {
        let [LAYOUT, compressed @ ..] = bytes else { return Err(RangesError::Layout) };
        let columns: Columns =
            postcard::from_bytes(&zstd::bulk::decompress(compressed, MAX_BYTES)?)?;
        columns.into_ranges().ok_or(RangesError::Contradiction)
    }
}

impl Columns {
    fn into_ranges(self) -> Option<CountryRanges> {
        let Self { covered, names, facts, lengths, gaps, sizes, positions } = self;
        let name = |position: Position| match position.checked_sub(1) {
            None => Some(None),
            Some(index) => names.get(index as usize).cloned().map(Some),
        };
        let facts = facts.into_iter().map(|(range_use, [status, holder, place], days)| {
            let date = days.map(|days| EPOCH.checked_add(days.days()));
            let effective_from = date.transpose().ok()?;
            let (status, holder, place) = (name(status)?, name(holder)?, name(place)?);
            Some(RangeFacts { range_use, status, holder, effective_from, place })
        });
        let facts = facts.collect::<Option<Vec<RangeFacts>>>()?;
        let mut ranges = Vec::with_capacity(lengths.len());
        let mut next = NationalNumber { length: 0, value: 0 };
        for (((length, gap), size), position) in
            lengths.into_iter().zip(gaps).zip(sizes).zip(positions)
        {
            let start = if next.length == length { next.value } else { 0 };
            let from = NationalNumber { length, value: start.checked_add(gap)? };
            let to = NationalNumber { length, value: from.value.checked_add(size)? };
            facts.get(position as usize)?;
            ranges.push(Range { from, to, facts: position });
            next = NationalNumber { length, value: to.value.checked_add(1)? };
        }
        Some(CountryRanges { covered, facts, ranges })
    }
}
