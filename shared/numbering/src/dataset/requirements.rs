//! What a search requires of names: which names meet it, and which area codes have such names.

use std::ops::BitAnd;

use super::{
    names::Names,
    row_set::{RowSet, WORD, word_of_bytes},
    words::{WholeName, Word},
};

/// Requirements, each with a bit, and for each name the bits of those that it meets. A record meets
/// them all if the names that it has do so together.
#[derive(Debug)]
pub(super) struct Requirements<'a> {
    all_names: &'a Names,
    /// For each number of a name the requirements that it meets.
    names: Vec<u32>,
    /// The bits that a holder has, and those that a rate center has.
    of_holders: u32,
    of_rate_centers: u32,
    next_bit: u32,
    /// The bits that are all needed.
    required: u32,
    alternatives: Vec<Alternatives>,
    /// The area codes that can meet the requirements; `None` if all can.
    areas: Option<RowSet>,
}

/// Bits of which either the first or all others are needed.
#[derive(Debug, Clone, Copy)]
struct Alternatives {
    joined: u32,
    parts: u32,
}

/// The most places in lists of area codes that are read in order to leave out other area codes. For
/// longer lists it is cheaper to ask each area code.
const MOST_AREAS_LISTED: usize = 4096;

impl<'a> Requirements<'a> {
    /// No requirement yet.
    pub(super) fn none(all_names: &'a Names) -> Self {
        Self {
            all_names,
            names: vec![0; all_names.count()],
            of_holders: 0,
            of_rate_centers: 0,
            next_bit: 1,
            required: 0,
            alternatives: Vec::new(),
            areas: None,
        }
    }

    /// Whether the bits of a record meet all requirements.
    pub(super) fn are_met(&self, bits: u32) -> bool {
        bits & self.required == self.required
            && self
                .alternatives
                .iter()
                .all(|either| bits & either.joined != 0 || bits & either.parts == either.parts)
    }

    /// Which of 64 records meet all requirements, if these are their bits.
    pub(super) fn met_by(&self, bits: &[u32; WORD]) -> u64 {
        self.met(bits, |bits| bits)
    }

    /// The same of bits that [`Self::fit_in_bytes`].
    pub(super) fn met_by_bytes(&self, bits: &[u8; WORD]) -> u64 {
        self.met(bits, |bits| bits as u8)
    }

    /// Asks for one thing after the other, so that the compiler asks it of many records at once.
    fn met<T>(&self, bits: &[T; WORD], narrowed: impl Fn(u32) -> T) -> u64
    where
        T: Copy + PartialEq + BitAnd<Output = T>,
    {
        let (none, required) = (narrowed(0), narrowed(self.required));
        let mut are_met = [0; WORD];
        for (is_met, &bits) in are_met.iter_mut().zip(bits) {
            *is_met = u8::from(bits & required == required);
        }
        for either in &self.alternatives {
            let (joined, parts) = (narrowed(either.joined), narrowed(either.parts));
            for (is_met, &bits) in are_met.iter_mut().zip(bits) {
                *is_met &= u8::from(bits & joined != none) | u8::from(bits & parts == parts);
            }
        }
        word_of_bytes(&are_met)
    }

    /// Whether a byte holds the bits of all requirements.
    pub(super) fn fit_in_bytes(&self) -> bool {
        self.next_bit <= 1 << u8::BITS
    }

    /// Whether a holder meets a requirement.
    pub(super) fn concern_holders(&self) -> bool {
        self.of_holders != 0
    }

    /// Whether a rate center meets a requirement.
    pub(super) fn concern_rate_centers(&self) -> bool {
        self.of_rate_centers != 0
    }

    /// The bits of the requirements that a name meets.
    pub(super) fn of_name(&self, name: usize) -> u32 {
        self.names[name]
    }

    /// Whether an area code can meet the requirements.
    pub(super) fn can_be_met_in(&self, area: usize) -> bool {
        self.areas.as_ref().is_none_or(|areas| areas.contains(area))
    }

    /// Whether there are bits left for this word.
    pub(super) fn have_room_for(&self, word: &Word) -> bool {
        self.next_bit.leading_zeros() as usize > word.parts().len() + 1
    }

    /// A bit that is needed and that no name has.
    pub(super) fn require_other(&mut self) -> u32 {
        let bit = self.take_bit();
        self.required |= bit;
        bit
    }

    /// Requires one of these names.
    pub(super) fn require(&mut self, names: &[u32]) {
        self.required |= self.mark(names);
        self.narrow(self.areas_of(names));
    }

    /// Requires a word, if `names_with` finds the names that have a word with these first letters.
    pub(super) fn require_word(&mut self, word: &Word, names_with: impl Fn(&str) -> Vec<u32>) {
        let joined = names_with(word.joined());
        if word.parts().is_empty() {
            return self.require(&joined);
        }
        let mut areas_of_parts = None;
        let mut parts = 0;
        for part in word.parts() {
            let names = names_with(part);
            parts |= self.mark(&names);
            areas_of_parts = in_both(areas_of_parts, self.areas_of(&names));
        }
        let joined_areas = self.areas_of(&joined);
        let joined = self.mark(&joined);
        self.alternatives.push(Alternatives { joined, parts });
        if let (Some(mut areas), Some(others)) = (joined_areas, areas_of_parts) {
            areas.add(&others);
            self.narrow(Some(areas));
        }
    }

    fn mark(&mut self, names: &[u32]) -> u32 {
        let bit = self.take_bit();
        for &name in names {
            self.names[name as usize] |= bit;
            if (name as usize) < self.all_names.holder_numbers() {
                self.of_holders |= bit;
            } else {
                self.of_rate_centers |= bit;
            }
        }
        bit
    }

    fn take_bit(&mut self) -> u32 {
        let bit = self.next_bit;
        self.next_bit <<= 1;
        bit
    }

    /// The area codes that have one of these names; `None` if the lists of them are long.
    fn areas_of(&self, names: &[u32]) -> Option<RowSet> {
        let areas = |&name: &u32| self.all_names.areas_of(name as usize);
        let listed: usize = names.iter().map(|name| areas(name).len()).sum();
        (listed <= MOST_AREAS_LISTED).then(|| {
            let mut set = RowSet::new(self.all_names.area_count());
            names.iter().flat_map(areas).for_each(|&area| set.insert(area.into()));
            set
        })
    }

    fn narrow(&mut self, areas: Option<RowSet>) {
        self.areas = in_both(self.areas.take(), areas);
    }
}

/// The area codes in both sets, of which `None` stands for all area codes.
fn in_both(one: Option<RowSet>, another: Option<RowSet>) -> Option<RowSet> {
    match (one, another) {
        (Some(mut one), Some(another)) => {
            one.retain(&another);
            Some(one)
        }
        (one, another) => one.or(another),
    }
}

/// How many words of a whole name are looked for in the index.
const MOST_BEGINNINGS: usize = 8;

/// The numbers of the names that may be this whole name: those with its rarest word.
pub(super) fn candidates_for(wanted: &WholeName, names: &Names) -> Vec<u32> {
    let beginnings = wanted.beginnings().take(MOST_BEGINNINGS);
    let candidates = beginnings
        .map(|(letters, first_part)| names.words.names_with_beginning_of(&letters, first_part));
    let mut rarest = candidates.min_by_key(Vec::len).unwrap_or_default();
    rarest.sort_unstable();
    rarest.dedup();
    rarest
}
