//! The columns of a snapshot, read where they lie in its bytes.
//!
//! Each column is checked as a whole when it is taken from the snapshot, so that reading a single
//! value of it cannot fail, and no value is decoded before somebody asks for it.

use std::{ops::Range, str};

use bytes::Bytes;

use super::packed::DamagedSnapshot;

/// Whole numbers in planes of bytes: the lowest byte of each number, then the second byte of each,
/// and so on. There are as many planes as the greatest number needs, and none if all are zero.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers(Vec<Bytes>);

impl Numbers {
    pub(super) fn get(&self, position: usize) -> usize {
        self.0.iter().rev().fold(0, |number, plane| number << 8 | usize::from(plane[position]))
    }

    /// These numbers, decoded.
    pub(super) fn to_vec(&self, positions: Range<usize>) -> Vec<u32> {
        match self.0.as_slice() {
            [] => vec![0; positions.len()],
            [low] => low[positions].iter().map(|&number| number.into()).collect(),
            [low, high] => {
                let pairs = low[positions.clone()].iter().zip(&high[positions]);
                pairs.map(|(&low, &high)| u16::from_le_bytes([low, high]).into()).collect()
            }
            _ => positions.map(|position| self.get(position) as u32).collect(),
        }
    }

    /// The lowest bytes of the numbers from `first` on; `None` if every number is zero.
    pub(super) fn low_bytes(&self, first: usize) -> Option<&[u8]> {
        self.0.first()?.get(first..)
    }

    /// The greatest of these numbers; 0 if there are none. The usual widths are written out, so that
    /// the compiler compares many numbers at once.
    pub(super) fn greatest(&self, positions: Range<usize>) -> usize {
        match self.0.as_slice() {
            [] => 0,
            [low] => low[positions].iter().fold(0, |greatest, &number| number.max(greatest)).into(),
            [low, high] => {
                let pairs = low[positions.clone()].iter().zip(&high[positions]);
                let numbers = pairs.map(|(&low, &high)| u16::from_le_bytes([low, high]));
                numbers.fold(0, u16::max).into()
            }
            _ => positions.map(|position| self.get(position)).max().unwrap_or_default(),
        }
    }

    /// The least of these numbers; `None` if there are none.
    pub(super) fn least(&self, positions: Range<usize>) -> Option<usize> {
        match self.0.as_slice() {
            _ if positions.is_empty() => None,
            [low] => {
                let least = low[positions].iter().fold(u8::MAX, |least, &number| number.min(least));
                Some(least.into())
            }
            _ => positions.map(|position| self.get(position)).min(),
        }
    }

    /// Whether each of these numbers is less than `limit`.
    pub(super) fn are_below(&self, limit: usize, positions: Range<usize>) -> bool {
        positions.is_empty() || self.greatest(positions) < limit
    }

    /// How many bits are set in these numbers.
    pub(super) fn count_ones(&self, positions: Range<usize>) -> usize {
        let ones = |plane: &Bytes| -> u32 {
            let (words, rest) = plane[positions.clone()].as_chunks();
            words.iter().map(|&word| u64::from_le_bytes(word).count_ones()).sum::<u32>()
                + rest.iter().map(|byte| byte.count_ones()).sum::<u32>()
        };
        self.0.iter().map(ones).sum::<u32>() as usize
    }
}

/// Lists that lie one after the other, each by the range of its items.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Where each list starts, and at last where the last one ends.
    starts: Vec<u32>,
}

impl Lists {
    /// Lists of these lengths.
    pub(super) fn of_lengths(lengths: impl Iterator<Item = usize>) -> Option<Self> {
        let mut starts = Vec::with_capacity(lengths.size_hint().0 + 1);
        let mut end = 0u32;
        starts.push(end);
        for length in lengths {
            end = end.checked_add(u32::try_from(length).ok()?)?;
            starts.push(end);
        }
        Some(Self { starts })
    }

    /// How many lists there are.
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many items all lists have.
    pub(super) fn item_count(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    pub(super) fn range(&self, list: usize) -> Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// The items of neighboring lists.
    pub(super) fn ranges(&self, lists: Range<usize>) -> Range<usize> {
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
        str::from_utf8(self.bytes(position)).expect("`Sections::texts` has checked every text")
    }

    pub(super) fn bytes(&self, position: usize) -> &[u8] {
        &self.letters[self.places.range(position)]
    }

    /// The text of a number that is a position plus one, or zero for no text.
    pub(super) fn named(&self, number: usize) -> Option<&str> {
        number.checked_sub(1).map(|position| self.get(position))
    }

    /// The positions of the texts that begin with `prefix`, if the texts are in order.
    pub(super) fn starting_with(&self, prefix: &[u8], within: Range<usize>) -> Range<usize> {
        let start = self.first_that(within.clone(), |text| text >= prefix);
        let end = self.first_that(start..within.end, |text| !text.starts_with(prefix));
        start..end
    }

    /// The first position at which `is_reached` holds, if it holds at all positions from there on.
    fn first_that(&self, within: Range<usize>, is_reached: impl Fn(&[u8]) -> bool) -> usize {
        let Range { mut start, mut end } = within;
        while start < end {
            let middle = start.midpoint(end);
            if is_reached(self.bytes(middle)) {
                end = middle;
            } else {
                start = middle + 1;
            }
        }
        start
    }
}

/// The limit of numbers that may be any, or that their reader checks by itself.
pub(super) const ANY: usize = usize::MAX;

/// The part of a snapshot that is still to be read, section by section.
pub(super) struct Sections {
    rest: Bytes,
    /// How many bytes the snapshot has, which nothing in it can be more than.
    most: usize,
}

/// The sections end before one that was expected, or hold what no dataset has.
pub(super) const fn damaged(section: &'static str) -> DamagedSnapshot {
    DamagedSnapshot::Section(section)
}

impl Sections {
    pub(super) fn of(body: Bytes) -> Self {
        Self { most: body.len(), rest: body }
    }

    /// How many bytes are still to be read.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn bytes(
        &mut self,
        section: &'static str,
        length: usize,
    ) -> Result<Bytes, DamagedSnapshot> {
        if length > self.rest.len() {
            return Err(damaged(section));
        }
        Ok(self.rest.split_to(length))
    }

    /// As many items of a fixed width, one after the other.
    pub(super) fn items<const WIDTH: usize>(
        &mut self,
        section: &'static str,
        count: usize,
    ) -> Result<Bytes, DamagedSnapshot> {
        self.bytes(section, count.checked_mul(WIDTH).ok_or(damaged(section))?)
    }

    pub(super) fn count(&mut self, section: &'static str) -> Result<usize, DamagedSnapshot> {
        let bytes = self.bytes(section, 4)?;
        let count = u32::from_le_bytes(*bytes.first_chunk().ok_or(damaged(section))?) as usize;
        if count <= self.most { Ok(count) } else { Err(damaged(section)) }
    }

    /// As many numbers, each of them less than `limit`.
    pub(super) fn numbers(
        &mut self,
        section: &'static str,
        count: usize,
        limit: usize,
    ) -> Result<Numbers, DamagedSnapshot> {
        let planes = self.bytes(section, 1)?[0];
        if planes > 4 {
            return Err(damaged(section));
        }
        let planes = (0..planes).map(|_| self.bytes(section, count)).collect::<Result<_, _>>()?;
        let numbers = Numbers(planes);
        if limit == ANY || numbers.are_below(limit, 0..count) {
            Ok(numbers)
        } else {
            Err(damaged(section))
        }
    }

    /// As many lists, which say how many items there are.
    pub(super) fn lists(
        &mut self,
        section: &'static str,
        count: usize,
    ) -> Result<Lists, DamagedSnapshot> {
        let lengths = self.numbers(section, count, ANY)?;
        let lengths = lengths.to_vec(0..count).into_iter().map(|length| length as usize);
        let lists = Lists::of_lengths(lengths).ok_or(damaged(section))?;
        // Numbers that are all zero take no bytes, so nothing else bounds how many there are.
        if lists.item_count() > self.most {
            return Err(damaged(section));
        }
        Ok(lists)
    }

    pub(super) fn texts(&mut self, section: &'static str) -> Result<Texts, DamagedSnapshot> {
        let count = self.count(section)?;
        let places = self.lists(section, count)?;
        let letters = self.bytes(section, places.item_count())?;
        let text = str::from_utf8(&letters).map_err(|_| damaged(section))?;
        if !places.starts.iter().all(|&start| text.is_char_boundary(start as usize)) {
            return Err(damaged(section));
        }
        Ok(Texts { letters, places })
    }

    /// Texts that are in order, each of them once.
    pub(super) fn ordered_texts(
        &mut self,
        section: &'static str,
    ) -> Result<Texts, DamagedSnapshot> {
        let texts = self.texts(section)?;
        let is_ordered =
            (1..texts.count()).all(|position| texts.bytes(position - 1) < texts.bytes(position));
        if is_ordered { Ok(texts) } else { Err(damaged(section)) }
    }
}

/// Sections that are being written, in the order in which [`Sections`] reads them.
#[derive(Default)]
pub(super) struct SectionWriter(pub(super) Vec<u8>);

impl SectionWriter {
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn count(&mut self, count: usize) {
        self.bytes(&(count as u32).to_le_bytes());
    }

    pub(super) fn numbers(&mut self, numbers: &[u32]) {
        let greatest = numbers.iter().copied().max().unwrap_or_default();
        let planes = 4 - greatest.leading_zeros() as usize / 8;
        self.0.push(planes as u8);
        for plane in 0..planes {
            self.0.extend(numbers.iter().map(|number| number.to_le_bytes()[plane]));
        }
    }

    pub(super) fn lists(&mut self, lengths: impl Iterator<Item = usize>) {
        let lengths: Vec<u32> = lengths.map(|length| length as u32).collect();
        self.numbers(&lengths);
    }

    pub(super) fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str> + Clone) {
        self.count(texts.len());
        self.lists(texts.clone().map(str::len));
        texts.for_each(|text| self.bytes(text.as_bytes()));
    }
}
