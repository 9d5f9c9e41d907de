//! The ranges of a country's numbering plan and their holders, as its regulator publishes them.
//!
//! Each country is packed on its own, because a container needs it only for numbers of that country.

mod packing;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    str::FromStr,
};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, VariantNames};
use utoipa::ToSchema;

use crate::dataset::WholeName;

pub use packing::RangesError;

/// The digits of a number without its calling code and trunk prefix, ordered by length, then by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NationalNumber {
    length: u8,
    value: u64,
}

/// The maximum number of digits in a phone number (ITU-T E.164, section 6).
const MAX_DIGITS: usize = 15;

impl FromStr for NationalNumber {
    type Err = &'static str;

    fn from_str(digits: &str) -> Result<Self, Self::Err> {
        let is_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(value) if is_digits && digits.len() <= MAX_DIGITS => {
                Ok(Self { length: digits.len() as u8, value })
            }
            _ => Err("must be 1 to 15 digits"),
        }
    }
}

impl fmt::Display for NationalNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, value } = *self;
        write!(f, "{value:0width$}", width = usize::from(length))
    }
}

impl Serialize for NationalNumber {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl NationalNumber {
    /// The numbers with these first digits and this many in total; `None` if the prefix is longer or not digits.
    pub fn block(prefix: &str, length: usize) -> Option<(Self, Self)> {
        let fill = |digit: &str| {
            let rest = digit.repeat(length.min(MAX_DIGITS + 1).checked_sub(prefix.len())?);
            format!("{prefix}{rest}").parse().ok()
        };
        Some((fill("0")?, fill("9")?))
    }

    /// The number after this one; `None` after the last one with as many digits.
    pub fn next(self) -> Option<Self> {
        let value = self.value + 1;
        (value < 10_u64.pow(self.length.into())).then_some(Self { value, ..self })
    }

    /// The number before this one; `None` before the first one with as many digits.
    pub fn previous(self) -> Option<Self> {
        Some(Self { value: self.value.checked_sub(1)?, ..self })
    }

    pub fn has_same_length_as(self, other: Self) -> bool {
        self.length == other.length
    }

    /// The count of numbers from this one to `last`, which must have as many digits.
    pub fn count_to(self, last: Self) -> u64 {
        last.value - self.value + 1
    }
}

/// The normalized meaning of a regulator's status.
#[derive(Serialize, Deserialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RangeUse {
    #[default]
    Assigned,
    Unassigned,
    Reserved,
}

/// The facts that a regulator publishes about a range. Neighboring ranges with the same facts are joined.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RangeFacts {
    pub range_use: RangeUse,
    /// The status as published; `None` if the regulator publishes only assigned ranges.
    pub status: Option<String>,
    /// The holder as published.
    pub holder: Option<String>,
    pub effective_from: Option<Date>,
    /// The place or region as published.
    pub place: Option<String>,
}

/// A range from a first to a last number, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range<F = RangeFacts> {
    pub from: NationalNumber,
    pub to: NationalNumber,
    pub facts: F,
}

/// A holder with its assigned ranges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RangeHolder {
    /// The name as published.
    #[schema(example = "Sample Telecom Limited")]
    pub holder: String,
    pub ranges: u32,
    /// The count of numbers in these ranges.
    pub numbers: u64,
}

/// A filter by status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusFilter {
    Use(RangeUse),
    /// The regulator's own word, matched case-insensitively.
    Word(String),
}

/// Filters for ranges. Absent filters match every range.
#[derive(Debug, Clone, Default)]
pub struct RangeSearch {
    pub holder: Option<WholeName>,
    pub status: Option<StatusFilter>,
    /// The first digits of the national number.
    pub prefix: Option<String>,
}

/// The ranges of one country, in order and without overlaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountryRanges {
    /// The first digits of the numbers that the data covers. Other numbers are not covered.
    covered: Vec<String>,
    facts: Vec<RangeFacts>,
    /// Each range with the position of its facts.
    ranges: Vec<Range<u32>>,
}

impl CountryRanges {
    /// Joins neighboring ranges with the same facts. `ranges` must not overlap. Names that differ only in case become
    /// the most frequent spelling.
    pub fn new(mut covered: Vec<String>, mut ranges: Vec<Range>) -> Self {
        covered.sort();
        covered.dedup();
        ranges.sort_by_key(|range| range.from);
        join_spellings(&mut ranges);
        let (mut facts, mut positions) = (Vec::new(), HashMap::new());
        let mut joined: Vec<Range<u32>> = Vec::new();
        for Range { from, to, facts: own } in ranges {
            let position = *positions.entry(own).or_insert_with_key(|own| {
                facts.push(own.clone());
                facts.len() as u32 - 1
            });
            match joined.last_mut() {
                Some(last) if last.facts == position && last.to.next() == Some(from) => {
                    last.to = to;
                }
                _ => joined.push(Range { from, to, facts: position }),
            }
        }
        Self { covered, facts, ranges: joined }
    }

    /// The first digits of the numbers that the data covers.
    pub fn covered(&self) -> &[String] {
        &self.covered
    }

    /// Returns `true` if the data covers numbers with these first digits.
    pub fn covers(&self, national: &str) -> bool {
        self.covered.iter().any(|prefix| national.starts_with(prefix))
    }

    /// The range that contains the number.
    pub fn find(&self, number: NationalNumber) -> Option<Range<&RangeFacts>> {
        let after = self.ranges.partition_point(|range| range.from <= number);
        let range = self.ranges[..after].last().filter(|range| number <= range.to)?;
        Some(self.with_facts(range))
    }

    /// All ranges in order.
    pub fn iter(&self) -> impl Iterator<Item = Range<&RangeFacts>> {
        self.ranges.iter().map(|range| self.with_facts(range))
    }

    /// The ranges that match every filter, in order.
    pub fn matching(&self, search: &RangeSearch) -> Vec<Range<&RangeFacts>> {
        let matches: Vec<bool> = self.facts.iter().map(|facts| search.matches(facts)).collect();
        let blocks = search.prefix.as_deref().map(|prefix| {
            let block = |length| NationalNumber::block(prefix, length);
            (0..=MAX_DIGITS).map(block).collect::<Vec<_>>()
        });
        let is_in_block = |range: &Range<u32>| match &blocks {
            None => true,
            Some(blocks) => blocks[usize::from(range.from.length)]
                .is_some_and(|(first, last)| range.from <= last && first <= range.to),
        };
        let found = self.ranges.iter().filter(|it| matches[it.facts as usize] && is_in_block(it));
        found.map(|range| self.with_facts(range)).collect()
    }

    /// The holders of assigned ranges, most numbers first.
    pub fn holders(&self) -> Vec<RangeHolder> {
        let mut holders: BTreeMap<&str, (u32, u64)> = BTreeMap::new();
        for Range { from, to, facts } in self.iter() {
            if let (RangeUse::Assigned, Some(name)) = (facts.range_use, &facts.holder) {
                let (ranges, numbers) = holders.entry(name).or_default();
                (*ranges, *numbers) = (*ranges + 1, *numbers + from.count_to(to));
            }
        }
        let holder = |(name, (ranges, numbers)): (&str, _)| RangeHolder {
            holder: name.to_owned(),
            ranges,
            numbers,
        };
        let mut holders: Vec<RangeHolder> = holders.into_iter().map(holder).collect();
        holders.sort_by_key(|holder| Reverse(holder.numbers));
        holders
    }

    /// Parses a filter by status: a [`RangeUse`] in uppercase, the regulator's own word, or a use in upper- or
    /// lowercase. The error lists the allowed values.
    pub fn parse_status(&self, text: &str) -> Result<StatusFilter, String> {
        let statuses = self.facts.iter().filter_map(|facts| facts.status.as_deref());
        let words: BTreeSet<&str> = statuses.collect();
        let is_word = words.iter().any(|word| word.to_lowercase() == text.to_lowercase());
        let is_use = RangeUse::VARIANTS.contains(&text);
        match text.parse() {
            Ok(range_use) if is_use || !is_word => Ok(StatusFilter::Use(range_use)),
            _ if is_word => Ok(StatusFilter::Word(text.to_owned())),
            _ => {
                let possible: Vec<&str> = RangeUse::VARIANTS.iter().copied().chain(words).collect();
                Err(format!("must be one of {}", possible.join(", ")))
            }
        }
    }

    fn with_facts(&self, range: &Range<u32>) -> Range<&RangeFacts> {
        let Range { from, to, facts } = *range;
        Range { from, to, facts: &self.facts[facts as usize] }
    }
}

impl RangeSearch {
    fn matches(&self, facts: &RangeFacts) -> bool {
        let Self { holder, status, .. } = self;
        let is_status = |status: &StatusFilter| match status {
            StatusFilter::Use(range_use) => *range_use == facts.range_use,
            StatusFilter::Word(word) => facts
                .status
                .as_deref()
                .is_some_and(|published| published.to_lowercase() == word.to_lowercase()),
        };
        status.as_ref().is_none_or(is_status)
            && holder.as_ref().is_none_or(|name| {
                facts.holder.as_deref().is_some_and(|holder| name.matches(holder))
            })
    }
}

/// Replaces spellings of a holder that differ only in case with the most frequent one, or the first of several.
fn join_spellings(ranges: &mut [Range]) {
    let mut spellings: HashMap<String, BTreeMap<String, u32>> = HashMap::new();
    for holder in ranges.iter().filter_map(|range| range.facts.holder.as_ref()) {
        let counts = spellings.entry(holder.to_lowercase()).or_default();
        *counts.entry(holder.clone()).or_default() += 1;
    }
    for holder in ranges.iter_mut().filter_map(|range| range.facts.holder.as_mut()) {
        let counts = spellings.get(&holder.to_lowercase()).into_iter().flatten();
        // `max_by_key` returns the last of several, so the reversed order prefers the first.
        if let Some((spelling, _)) = counts.rev().max_by_key(|(_, count)| **count) {
            holder.clone_from(spelling);
        }
    }
}
