//! The first two digits of the numbers that can match a pattern in the rules.
//!
//! A region has up to ten type patterns and many formats, and most numbers match only one or two of them. The
//! first two digits rule out most of the others, which are then neither matched nor compiled.
//! `examples/rewrite_phone_metadata` computes the digits.

use std::{collections::HashMap, sync::LazyLock};

use rlibphonenumber::Region;

const FILE: &[u8] = include_bytes!("first_digits.bin");

/// The number of type patterns for each region.
const TYPE_COUNT: usize = 10;

static FIRST_DIGITS: LazyLock<HashMap<(i32, Region), RegionDigits>> =
    LazyLock::new(|| parse(FILE).expect("the file is compiled in, and a test reads it"));

/// The pairs of digits that numbers can start with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FirstDigits(u128);

/// The first digits of a region's numbers by type and by format, each in metadata order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RegionDigits {
    /// Premium rate, toll-free, shared cost, VoIP, personal number, pager, UAN, voicemail, fixed line, mobile:
    /// the order in which libphonenumber tries them.
    pub(super) types: [FirstDigits; TYPE_COUNT],
    pub(super) national_formats: Vec<FirstDigits>,
    pub(super) international_formats: Vec<FirstDigits>,
}

impl FirstDigits {
    /// Returns `true` if the number starts with one of the pairs, or has fewer than two digits.
    pub(super) fn allow(self, national_number: &str) -> bool {
        match *national_number.as_bytes() {
            [first @ b'0'..=b'9', second @ b'0'..=b'9', ..] => {
                self.0 >> ((first - b'0') * 10 + (second - b'0')) & 1 == 1
            }
            _ => true,
        }
    }
}

/// The first digits in a region; `None` if the rules do not cover the region.
pub(super) fn for_region(calling_code: i32, region: Region) -> Option<&'static RegionDigits> {
    FIRST_DIGITS.get(&(calling_code, region))
}

fn parse(mut file: &[u8]) -> Option<HashMap<(i32, Region), RegionDigits>> {
    let mut regions = HashMap::new();
    while !file.is_empty() {
        let ([a, b, c, low, high, national, international], rest) = file.split_first_chunk()?;
        let code = [*a, *b, *c];
        let region = Region::try_from(std::str::from_utf8(&code).ok()?.trim_end()).ok()?;
        let calling_code = u16::from_le_bytes([*low, *high]).into();
        let (national, international) = (usize::from(*national), usize::from(*international));
        let (types, rest) = sets(rest, TYPE_COUNT)?;
        let (national_formats, rest) = sets(rest, national)?;
        let (international_formats, rest) = sets(rest, international)?;
        let types = types.try_into().ok()?;
        let digits = RegionDigits { types, national_formats, international_formats };
        regions.insert((calling_code, region), digits);
        file = rest;
    }
    Some(regions)
}

/// Splits `count` sets off the front of the file, and returns the rest.
fn sets(file: &[u8], count: usize) -> Option<(Vec<FirstDigits>, &[u8])> {
    let (sets, rest) = file.split_at_checked(count * size_of::<u128>())?;
    let (sets, _) = sets.as_chunks();
    Some((sets.iter().map(|&set| FirstDigits(u128::from_le_bytes(set))).collect(), rest))
}

#[cfg(test)]
#[path = "../examples/rewrite_phone_metadata/first_digits.rs"]
mod generated;

#[cfg(test)]
mod tests {
    use prost::Message;
    use rlibphonenumber::PhoneMetadataCollection;

    use super::*;

    /// Checks only every eighth region, since all of them take seconds. The same command writes this file and the
    /// metadata, which another test compares with the crate's.
    #[test]
    fn first_digits_match_the_metadata() {
        let metadata = include_bytes!("phone_metadata.bin");
        let mut metadata = PhoneMetadataCollection::decode(metadata.as_slice()).unwrap();
        let ours = parse(FILE).unwrap();
        assert_eq!(ours.len(), metadata.metadata.len());
        metadata.metadata = metadata.metadata.into_iter().step_by(8).collect();
        let some = parse(&generated::file(&metadata)).unwrap();
        assert!(
            some.len() > 30 && some.iter().all(|(region, digits)| ours.get(region) == Some(digits))
        );
    }

    #[test]
    fn numbers_are_ruled_out_by_their_first_two_digits() {
        let digits = FirstDigits(1 << 42 | 1 << 7);
        assert!(digits.allow("42") && digits.allow("0712") && digits.allow("4"));
        assert!(!digits.allow("43") && !digits.allow("7042"));
    }
}
