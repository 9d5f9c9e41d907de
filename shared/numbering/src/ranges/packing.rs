//! A country's ranges as bytes, compressed with zstd.

use super::{CountryRanges, NationalNumber, Range, RangeFacts};

/// The first byte. Other values are from other releases.
const LAYOUT: u8 = 2;
/// The zstd level. It is high because a country is packed once and read by many containers.
const LEVEL: i32 = 19;
/// The maximum size before compression. The British plan takes about 1 MB.
const MAX_BYTES: usize = 32 << 20;

/// A failure to read or write a country's ranges.
#[derive(Debug, thiserror::Error)]
pub enum RangesError {
    #[error("its layout differs from {LAYOUT}, which this release reads")]
    Layout,
    #[error("it cannot be compressed or decompressed")]
    Compression(#[from] std::io::Error),
    #[error("its values cannot be read")]
    Values(#[from] postcard::Error),
    #[error("its values contradict each other")]
    Contradiction,
}

/// The count of digits, the distance from the range before, the size minus one, and the position of the facts. Most of
/// them are small or repeat, so they compress well.
type PackedRange = (u8, u64, u64, u32);

type Packed = (Vec<String>, Vec<RangeFacts>, Vec<PackedRange>);

impl CountryRanges {
    /// Packs the ranges. Equal ranges produce equal bytes.
    pub fn pack(&self) -> Result<Vec<u8>, RangesError> {
        let mut next = NationalNumber { length: 0, value: 0 };
        let pack = |&Range { from, to, facts }: &Range<u32>| {
            let start = if next.length == from.length { next.value } else { 0 };
            next = NationalNumber { value: to.value + 1, ..to };
            (from.length, from.value - start, to.value - from.value, facts)
        };
        let ranges: Vec<PackedRange> = self.ranges.iter().map(pack).collect();
        let values = postcard::to_allocvec(&(&self.covered, &self.facts, ranges))?;
        Ok([vec![LAYOUT], zstd::bulk::compress(&values, LEVEL)?].concat())
    }

    /// Unpacks ranges. Verify the hash of the bytes first.
    pub fn unpack(bytes: &[u8]) -> Result<Self, RangesError> {
        let [LAYOUT, compressed @ ..] = bytes else { return Err(RangesError::Layout) };
        let values = zstd::bulk::decompress(compressed, MAX_BYTES)?;
        let (covered, facts, ranges): Packed = postcard::from_bytes(&values)?;
        let ranges = unpack_ranges(ranges, facts.len()).ok_or(RangesError::Contradiction)?;
        Ok(Self { covered, facts, ranges })
    }
}

fn unpack_ranges(packed: Vec<PackedRange>, fact_count: usize) -> Option<Vec<Range<u32>>> {
    let mut next = NationalNumber { length: 0, value: 0 };
    let unpack = |(length, gap, size, facts): PackedRange| {
        let start = if next.length == length { next.value } else { 0 };
        let from = NationalNumber { length, value: start.checked_add(gap)? };
        let to = NationalNumber { length, value: from.value.checked_add(size)? };
        next = NationalNumber { length, value: to.value.checked_add(1)? };
        ((facts as usize) < fact_count).then_some(Range { from, to, facts })
    };
    packed.into_iter().map(unpack).collect()
}
