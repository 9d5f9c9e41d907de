//! The columns of a snapshot, read in place from its bytes.
//!
//! Only column lengths are checked here. The store verifies a snapshot's hash before unpacking it, so the
//! columns are intact.

use std::{collections::BTreeSet, ops::Range, str};

use bytes::Bytes;

/// The number of values that a byte can have.
pub(super) const BYTES: usize = 256;

/// Integers in byte planes: the lowest byte of every number, then the second byte of every number, and so on.
/// The largest number determines how many planes there are: none if all numbers are zero.
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

    pub(super) fn to_vec(&self, positions: Range<usize>) -> Vec<u32> {
        let mut numbers = vec![0; positions.len()];
        for (plane, shift) in self.planes.iter().zip((0..).step_by(8)) {
            for (number, &byte) in numbers.iter_mut().zip(&plane[positions.clone()]) {
                *number |= u32::from(byte) << shift;
            }
        }
        numbers
    }

    /// The lowest bytes of these numbers; `None` if all numbers are zero.
    pub(super) fn low_bytes(&self, positions: Range<usize>) -> Option<&[u8]> {
        self.planes.first().map(|plane| &plane[positions])
    }

    /// The position of a number. The numbers must be sorted.
    pub(super) fn position(&self, number: usize) -> Option<usize> {
        let position = first_where(0..self.count, |position| self.get(position) >= number);
        (position < self.count && self.get(position) == number).then_some(position)
    }

    /// The number of set bits in these numbers.
    pub(super) fn count_ones(&self, positions: Range<usize>) -> usize {
        let count = |plane: &Bytes| -> u32 {
            let (words, rest) = plane[positions.clone()].as_chunks();
            words.iter().map(|&word| u64::from_le_bytes(word).count_ones()).sum::<u32>()
                + rest.iter().map(|byte| byte.count_ones()).sum::<u32>()
        };
        self.planes.iter().map(count).sum::<u32>() as usize
    }
}

/// The first position where `is_reached` returns `true`. It must also return `true` for every later position.
fn first_where(within: Range<usize>, is_reached: impl Fn(usize) -> bool) -> usize {
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

/// Lists stored back to back as ranges of items.
#[derive(Debug)]
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

    pub(super) fn item_count(&self) -> usize {
        self.range_of(0..self.count()).end
    }

    pub(super) fn range(&self, list: usize) -> Range<usize> {
        self.range_of(list..list + 1)
    }

    /// The positions of the items in adjacent lists.
    pub(super) fn range_of(&self, lists: Range<usize>) -> Range<usize> {
        self.starts[lists.start] as usize..self.starts[lists.end] as usize
    }

    /// The list that contains an item, which must exist.
    pub(super) fn list_of(&self, item: usize) -> usize {
        self.starts.partition_point(|&start| start as usize <= item) - 1
    }
}

#[derive(Debug)]
pub(super) struct Strings {
    bytes: Bytes,
    ranges: Lists,
}

impl Strings {
    pub(super) fn count(&self) -> usize {
        self.ranges.count()
    }

    pub(super) fn get(&self, position: usize) -> &str {
        let text = &self.bytes[self.ranges.range(position)];
        str::from_utf8(text).expect("only UTF-8 is written to this column")
    }

    /// The string with an ID, which is its position plus one; `None` for zero.
    pub(super) fn get_by_id(&self, id: usize) -> Option<&str> {
        id.checked_sub(1).map(|position| self.get(position))
    }

    /// The positions of the strings that start with `prefix`. The strings must be sorted.
    pub(super) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let start = first_where(0..self.count(), |position| self.get(position) >= prefix);
        let is_after = |position| !self.get(position).starts_with(prefix);
        start..first_where(start..self.count(), is_after)
    }
}

/// The columns of a dataset. Each table lists its columns once, for writing and reading. A writer appends its arguments
/// and returns empty columns. A reader ignores them and returns the next column, or `None` at the end of its bytes.
pub(super) struct Columns {
    pub(super) unread: Bytes,
    /// `None` when reading.
    pub(super) written: Option<Vec<u8>>,
}

impl Columns {
    pub(super) fn numbers(&mut self, numbers: impl IntoIterator<Item = u32>) -> Option<Numbers> {
        let Some(written) = &mut self.written else { return self.read_numbers() };
        write_numbers(written, &numbers.into_iter().collect::<Vec<_>>());
        Some(Numbers::default())
    }

    pub(super) fn lists(&mut self, lengths: impl Iterator<Item = usize>) -> Option<Lists> {
        let lengths = self.numbers(lengths.map(|length| length as u32))?;
        Some(Lists::from_lengths(lengths.to_vec(0..lengths.count())))
    }

    pub(super) fn strings<'a>(
        &mut self,
        strings: impl Iterator<Item = &'a str> + Clone,
    ) -> Option<Strings> {
        let ranges = self.lists(strings.clone().map(str::len))?;
        if let Some(written) = &mut self.written {
            written.extend(strings.flat_map(str::bytes));
        }
        Some(Strings { bytes: self.take(ranges.item_count())?, ranges })
    }

    fn read_numbers(&mut self) -> Option<Numbers> {
        let count = self.take(4)?;
        let count = u32::from_le_bytes(*count.first_chunk()?) as usize;
        let planes = self.take(1)?[0];
        let planes = (0..planes).map(|_| self.take(count)).collect::<Option<_>>()?;
        Some(Numbers { planes, count })
    }

    fn take(&mut self, length: usize) -> Option<Bytes> {
        (length <= self.unread.len()).then(|| self.unread.split_to(length))
    }
}

/// Writes the number count, the plane count, and the planes.
fn write_numbers(written: &mut Vec<u8>, numbers: &[u32]) {
    let greatest = numbers.iter().copied().max().unwrap_or_default();
    let planes = 4 - greatest.leading_zeros() as usize / 8;
    written.extend((numbers.len() as u32).to_le_bytes());
    written.push(planes as u8);
    for plane in 0..planes {
        written.extend(numbers.iter().map(|number| number.to_le_bytes()[plane]));
    }
}

/// A column whose rows refer to entries in a dictionary for their area code.
#[derive(Debug)]
pub(super) struct DictionaryColumn {
    /// The sorted, distinct entries of each area code.
    dictionaries: Lists,
    entries: Vec<u32>,
    /// The entry of each row in its area code's dictionary.
    pub(super) rows: Numbers,
}

impl DictionaryColumn {
    pub(super) fn write_or_read(columns: &mut Columns, written: &DictionaryRows) -> Option<Self> {
        let dictionaries = columns.lists(written.lengths.iter().copied())?;
        let entries = columns.numbers(written.entries.iter().copied())?;
        let entries = entries.to_vec(0..entries.count());
        let rows = columns.numbers(written.rows.iter().copied())?;
        Some(Self { dictionaries, entries, rows })
    }

    /// The values in an area code's dictionary.
    pub(super) fn dictionary(&self, area: usize) -> &[u32] {
        &self.entries[self.dictionaries.range(area)]
    }

    /// The value of an entry in an area code's dictionary.
    pub(super) fn entry(&self, area: usize, entry: usize) -> usize {
        self.dictionary(area)[entry] as usize
    }

    pub(super) fn get(&self, area: usize, row: usize) -> usize {
        self.entry(area, self.rows.get(row))
    }
}

/// A dictionary column to write.
#[derive(Default)]
pub(super) struct DictionaryRows {
    lengths: Vec<usize>,
    entries: Vec<u32>,
    rows: Vec<u32>,
    /// The entries of the blocks' values.
    pub(super) blocks: Vec<u32>,
}

impl DictionaryRows {
    /// Adds the values of an area code's rows and blocks.
    pub(super) fn add(&mut self, row_values: Vec<u32>, block_values: Vec<u32>) {
        let dictionary: BTreeSet<u32> = row_values.iter().chain(&block_values).copied().collect();
        let dictionary: Vec<u32> = dictionary.into_iter().collect();
        let entry_of = |value: u32| dictionary.partition_point(|&entry| entry < value) as u32;
        self.rows.extend(row_values.into_iter().map(entry_of));
        self.blocks.extend(block_values.into_iter().map(entry_of));
        self.lengths.push(dictionary.len());
        self.entries.extend(&dictionary);
    }
}
