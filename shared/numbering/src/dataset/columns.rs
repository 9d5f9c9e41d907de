//! The columns of a snapshot, read where they lie in its bytes.
//!
//! Only the length of a column is checked here: the store compares a snapshot with its hash before it
//! is unpacked, so the columns are as they were written.

use std::{ops::Range, str};

use bytes::Bytes;

/// The number of values that a byte has.
pub(super) const BYTES: usize = 256;

/// Whole numbers in planes of bytes: the lowest byte of each number, then the second byte of each,
/// and so on. There are as many planes as the greatest number needs, and none if all are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    planes: Vec<Bytes>,
    count: usize,
}

impl Numbers {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn get(&self, position: usize) -> usize {
        let number = |number, plane: &Bytes| number << 8 | usize::from(plane[position]);
        self.planes.iter().rev().fold(0, number)
    }

    /// These numbers, decoded.
    pub(super) fn to_vec(&self, positions: Range<usize>) -> Vec<u32> {
        let mut numbers = vec![0; positions.len()];
        for (plane, shift) in self.planes.iter().zip((0..).step_by(8)) {
            for (number, &byte) in numbers.iter_mut().zip(&plane[positions.clone()]) {
                *number |= u32::from(byte) << shift;
            }
        }
        numbers
    }

    /// The lowest bytes of these numbers; `None` if every number is zero.
    pub(super) fn low_bytes(&self, positions: Range<usize>) -> Option<&[u8]> {
        self.planes.first().map(|plane| &plane[positions])
    }

    /// The first position of a number that is not less than `least`, if the numbers are in order.
    pub(super) fn first_from(&self, least: usize) -> usize {
        first_that(0..self.count, |position| self.get(position) >= least)
    }

    /// The position of a number, if the numbers are in order.
    pub(super) fn position(&self, number: usize) -> Option<usize> {
        let position = self.first_from(number);
        (position < self.count && self.get(position) == number).then_some(position)
    }

    /// The number of bits that are set in these numbers.
    pub(super) fn count_ones(&self, positions: Range<usize>) -> usize {
        let ones = |plane: &Bytes| -> u32 {
            let (words, rest) = plane[positions.clone()].as_chunks();
            words.iter().map(|&word| u64::from_le_bytes(word).count_ones()).sum::<u32>()
                + rest.iter().map(|byte| byte.count_ones()).sum::<u32>()
        };
        self.planes.iter().map(ones).sum::<u32>() as usize
    }
}

/// The first position at which `is_reached` holds, if it holds at all positions from there on.
fn first_that(within: Range<usize>, is_reached: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = within;
    while start < end {
        let middle = start.midpoint(end);
        if is_reached(middle) {
            end = middle;
        } else {
            start = middle + 1;
        }
    }
    start
}

/// Lists that lie one after the other, each by the range of its items.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// The start of each list, and the end of the last one.
    starts: Vec<u32>,
}

impl Lists {
    pub(super) fn from_lengths(lengths: impl IntoIterator<Item = u32>) -> Self {
        let ends = lengths.into_iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Self { starts: std::iter::once(0).chain(ends).collect() }
    }

    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of items in all lists.
    pub(super) fn item_count(&self) -> usize {
        self.range_of(0..self.count()).end
    }

    pub(super) fn range(&self, list: usize) -> Range<usize> {
        self.range_of(list..list + 1)
    }

    /// The items of neighboring lists.
    pub(super) fn range_of(&self, lists: Range<usize>) -> Range<usize> {
        self.starts[lists.start] as usize..self.starts[lists.end] as usize
    }

    /// The list that has this item, which must be one of them.
    pub(super) fn list_of(&self, item: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= item) - 1
    }
}

/// Texts by their position.
#[derive(Debug, Default)]
pub(super) struct Texts {
    letters: Bytes,
    places: Lists,
}

impl Texts {
    pub(super) fn count(&self) -> usize {
        self.places.count()
    }

    pub(super) fn get(&self, position: usize) -> &str {
        str::from_utf8(self.bytes(position)).expect("only text is written into this column")
    }

    pub(super) fn bytes(&self, position: usize) -> &[u8] {
        &self.letters[self.places.range(position)]
    }

    /// The text of a number that is a position plus one, or zero for no text.
    pub(super) fn numbered(&self, number: usize) -> Option<&str> {
        number.checked_sub(1).map(|position| self.get(position))
    }

    /// The positions of the texts that begin with `prefix`, if the texts are in order.
    pub(super) fn starting_with(&self, prefix: &[u8], within: Range<usize>) -> Range<usize> {
        let start = first_that(within.clone(), |position| self.bytes(position) >= prefix);
        let is_after = |position| !self.bytes(position).starts_with(prefix);
        start..first_that(start..within.end, is_after)
    }
}

/// The part of a snapshot that is still to be read. Each column says its own length; `None` if it is
/// longer than the snapshot.
pub(super) struct Reader(pub(super) Bytes);

impl Reader {
    fn bytes(&mut self, length: usize) -> Option<Bytes> {
        (length <= self.0.len()).then(|| self.0.split_to(length))
    }

    fn count(&mut self) -> Option<usize> {
        let count = self.bytes(4)?;
        count.first_chunk().map(|&bytes| u32::from_le_bytes(bytes) as usize)
    }

    pub(super) fn numbers(&mut self) -> Option<Numbers> {
        let count = self.count()?;
        let planes = self.bytes(1)?[0];
        let planes = (0..planes).map(|_| self.bytes(count)).collect::<Option<_>>()?;
        Some(Numbers { planes, count })
    }

    pub(super) fn lists(&mut self) -> Option<Lists> {
        let lengths = self.numbers()?;
        Some(Lists::from_lengths(lengths.to_vec(0..lengths.count())))
    }

    pub(super) fn texts(&mut self) -> Option<Texts> {
        let places = self.lists()?;
        Some(Texts { letters: self.bytes(places.item_count())?, places })
    }
}

/// Columns that are being written, in the order in which [`Reader`] reads them.
#[derive(Default)]
pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) {
        let numbers: Vec<u32> = numbers.into_iter().collect();
        let greatest = numbers.iter().copied().max().unwrap_or_default();
        let planes = 4 - greatest.leading_zeros() as usize / 8;
        self.0.extend((numbers.len() as u32).to_le_bytes());
        self.0.push(planes as u8);
        for plane in 0..planes {
            self.0.extend(numbers.iter().map(|number| number.to_le_bytes()[plane]));
        }
    }

    pub(super) fn lists(&mut self, lengths: impl Iterator<Item = usize>) {
        self.numbers(lengths.map(|length| length as u32));
    }

    pub(super) fn texts<'a>(&mut self, texts: impl Iterator<Item = &'a str> + Clone) {
        self.lists(texts.clone().map(str::len));
        self.0.extend(texts.flat_map(str::bytes));
    }
}
