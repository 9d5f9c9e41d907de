//! The columns of exchanges, with a row for each, ordered by NPA, then NXX.
//!
//! An area code has few holders and few rate centers. So each has dictionaries of its own, and a
//! row is mostly a byte for each of its values. The dictionaries also tell a search which area
//! codes can have what it looks for.

use std::{collections::BTreeSet, ops::Range};

use bytes::Bytes;

use super::{
    area_codes::Npas,
    columns::{ANY, Lists, Numbers, SectionWriter, Sections, damaged},
    packed::DamagedSnapshot,
    places::{Places, States},
    row_set::{first_bits, nth_bit},
};
use crate::records::{Npa, NpaNxx, Nxx, StateCode, Status};

/// The bytes of the NXXs of an area code: a bit for each that it has.
const NXX_BYTES: usize = 128;

/// All exchanges.
#[derive(Debug)]
pub(super) struct Exchanges {
    npas: Npas,
    /// [`NXX_BYTES`] for each area code.
    nxxs: Bytes,
    /// The rows of each area code.
    rows: Lists,
    pub(super) kinds: Kinds,
    pub(super) columns: Columns,
}

/// What rows have in common: place and status.
#[derive(Debug)]
pub(super) struct Kinds {
    count: usize,
    pub(super) places: Places,
    /// Positions in [`Status::ALL`].
    statuses: Numbers,
}

/// The values of the rows.
#[derive(Debug)]
pub(super) struct Columns {
    /// Positions in [`Kinds`].
    pub(super) kinds: DictionaryColumn,
    /// Numbers of holders: zero for none, then the carriers, then the companies without an OCN.
    pub(super) holders: DictionaryColumn,
    /// Numbers of rate centers: zero for none.
    pub(super) rate_centers: DictionaryColumn,
}

/// A column in which a row names an entry in the dictionary of its area code.
#[derive(Debug)]
pub(super) struct DictionaryColumn {
    /// The entries of each area code, in order, each of them once.
    dictionaries: Lists,
    entries: Vec<u32>,
    /// For each row, which entry of its area code it has.
    rows: Numbers,
}

impl Exchanges {
    /// Reads the exchanges; `holders` and `rate_centers` say how many numbers of them there are.
    pub(super) fn read(
        sections: &mut Sections,
        states: &States,
        [holders, rate_centers]: [usize; 2],
    ) -> Result<Self, DamagedSnapshot> {
        const NXXS: &str = "sets of exchange codes";
        let npas = Npas::read(sections, "area codes of exchanges")?;
        let nxxs = sections.items::<NXX_BYTES>(NXXS, npas.count())?;
        let (sets, _) = nxxs.as_chunks();
        let has_only_codes = |set| nxx_words(set).nth(15).is_some_and(|word| word >> 40 == 0);
        if !sets.iter().all(has_only_codes) {
            return Err(damaged(NXXS));
        }
        let count_of = |set| nxx_words(set).map(|word| word.count_ones() as usize).sum();
        let rows = Lists::of_lengths(sets.iter().map(count_of)).ok_or(damaged(NXXS))?;
        let kinds = Kinds::read(sections, states)?;
        let columns = Columns {
            kinds: DictionaryColumn::read(sections, "column of kinds", &rows, kinds.count)?,
            holders: DictionaryColumn::read(sections, "column of holders", &rows, holders)?,
            rate_centers: DictionaryColumn::read(
                sections,
                "column of rate centers",
                &rows,
                rate_centers,
            )?,
        };
        Ok(Self { npas, nxxs, rows, kinds, columns })
    }

    /// How many exchanges there are.
    pub(super) fn count(&self) -> usize {
        self.rows.item_count()
    }

    /// How many area codes have exchanges. Other methods name one by its position.
    pub(super) fn area_count(&self) -> usize {
        self.npas.count()
    }

    /// How many exchanges are of each kind.
    pub(super) fn counts_by_kind(&self) -> Vec<u32> {
        let mut counts = vec![0; self.kinds.count];
        for area in 0..self.area_count() {
            for row in self.rows_of(area) {
                counts[self.columns.kinds.get(area, row)] += 1;
            }
        }
        counts
    }

    /// The position of an area code.
    pub(super) fn area(&self, npa: Npa) -> Option<usize> {
        self.npas.position(npa)
    }

    /// The rows of an area code.
    pub(super) fn rows_of(&self, area: usize) -> Range<usize> {
        self.rows.range(area)
    }

    /// The position of the area code of a row.
    pub(super) fn area_of(&self, row: usize) -> usize {
        self.rows.list_of(row)
    }

    /// The row of an exchange of this area code.
    pub(super) fn row(&self, area: usize, nxx: Nxx) -> Option<usize> {
        let set = &self.nxxs.as_chunks().0[area];
        let (word, bit) = (usize::from(nxx.number()) / 64, nxx.number() % 64);
        let own = nxx_words(set).nth(word)?;
        let earlier = nxx_words(set).take(word).map(u64::count_ones).sum::<u32>();
        let in_word = (own & first_bits(bit.into())).count_ones();
        (own >> bit & 1 == 1).then(|| self.rows_of(area).start + (earlier + in_word) as usize)
    }

    /// The code of a row.
    pub(super) fn npa_nxx(&self, area: usize, row: usize) -> NpaNxx {
        let mut skipped = row - self.rows_of(area).start;
        let mut number = 0;
        for word in nxx_words(&self.nxxs.as_chunks().0[area]) {
            let count = word.count_ones() as usize;
            if skipped < count {
                number += nth_bit(word, skipped);
                break;
            }
            skipped -= count;
            number += 64;
        }
        let nxx = Nxx::of_number(number as u16).expect("`Exchanges::read` has checked every code");
        NpaNxx { npa: self.npas.get(area), nxx }
    }
}

fn nxx_words(set: &[u8; NXX_BYTES]) -> impl Iterator<Item = u64> {
    set.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes))
}

impl Kinds {
    fn read(sections: &mut Sections, states: &States) -> Result<Self, DamagedSnapshot> {
        const KINDS: &str = "kinds of exchanges";
        let count = sections.count(KINDS)?;
        let places = Places::read(sections, count, states)?;
        let statuses = sections.numbers(KINDS, count, Status::ALL.len())?;
        Ok(Self { count, places, statuses })
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn status(&self, kind: usize) -> Status {
        Status::ALL[self.statuses.get(kind)]
    }
}

impl DictionaryColumn {
    fn read(
        sections: &mut Sections,
        section: &'static str,
        rows: &Lists,
        limit: usize,
    ) -> Result<Self, DamagedSnapshot> {
        let dictionaries = sections.lists(section, rows.count())?;
        let entry_count = dictionaries.item_count();
        let entries = sections.numbers(section, entry_count, limit)?.to_vec(0..entry_count);
        let column = sections.numbers(section, rows.item_count(), ANY)?;
        let column = Self { dictionaries, entries, rows: column };
        let is_sound = (0..rows.count()).all(|area| column.is_sound(area, rows.range(area)));
        if is_sound { Ok(column) } else { Err(damaged(section)) }
    }

    /// Whether the dictionary of an area code is in order, and all rows name entries of it.
    fn is_sound(&self, area: usize, rows: Range<usize>) -> bool {
        self.entries_of(area).is_sorted_by(|one, next| one < next)
            && self.rows.are_below(self.entry_count(area), rows)
    }

    /// How many entries the dictionary of an area code has.
    pub(super) fn entry_count(&self, area: usize) -> usize {
        self.dictionaries.range(area).len()
    }

    /// The dictionary of an area code.
    pub(super) fn entries_of(&self, area: usize) -> &[u32] {
        &self.entries[self.dictionaries.range(area)]
    }

    /// The dictionaries of all area codes.
    pub(super) fn all_entries(&self) -> &[u32] {
        &self.entries
    }

    /// The value of an entry in the dictionary of an area code.
    pub(super) fn entry(&self, area: usize, entry: usize) -> usize {
        self.entries_of(area)[entry] as usize
    }

    /// The value of a row.
    pub(super) fn get(&self, area: usize, row: usize) -> usize {
        self.entry(area, self.rows.get(row))
    }

    /// Which entry of its area code each row has.
    pub(super) fn rows(&self) -> &Numbers {
        &self.rows
    }

    /// Writes a column, of which `dictionaries` has the entries of each area code, and `rows` the
    /// values of its rows.
    fn write(dictionaries: &[Vec<u32>], rows: &[Vec<u32>], writer: &mut SectionWriter) {
        writer.lists(dictionaries.iter().map(Vec::len));
        writer.numbers(&dictionaries.concat());
        let entries = dictionaries.iter().zip(rows).flat_map(|(dictionary, values)| {
            values.iter().map(|&value| entry_of(dictionary, value))
        });
        writer.numbers(&entries.collect::<Vec<_>>());
    }
}

/// Which entry of a dictionary has this value.
pub(super) fn entry_of(dictionary: &[u32], value: u32) -> u32 {
    dictionary.partition_point(|&entry| entry < value) as u32
}

/// The exchanges of an area code, as they are written.
#[derive(Debug, Default)]
pub(super) struct AreaRows {
    pub(super) nxxs: Vec<Nxx>,
    pub(super) kinds: Vec<u32>,
    pub(super) holders: Vec<u32>,
    pub(super) rate_centers: Vec<u32>,
}

/// The dictionaries of all area codes.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    pub(super) holders: Vec<Vec<u32>>,
    pub(super) rate_centers: Vec<Vec<u32>>,
}

/// The values of a dictionary: each of `values` once, in order.
pub(super) fn dictionary_of(values: impl Iterator<Item = u32>) -> Vec<u32> {
    values.collect::<BTreeSet<u32>>().into_iter().collect()
}

/// A country, a state and a status that exchanges have in common.
pub(super) type Kind = (crate::records::Country, Option<StateCode>, Status);

impl Exchanges {
    /// Writes the exchanges of area codes that are ordered by NPA.
    pub(super) fn write(
        areas: &[(Npa, AreaRows)],
        dictionaries: &Dictionaries,
        kinds: &[Kind],
        states: &[StateCode],
        writer: &mut SectionWriter,
    ) {
        Npas::write(areas.iter().map(|(npa, _)| *npa), writer);
        for (_, area) in areas {
            let mut set = [0; NXX_BYTES];
            for nxx in &area.nxxs {
                set[usize::from(nxx.number()) / 8] |= 1 << (nxx.number() % 8);
            }
            writer.bytes(&set);
        }
        writer.count(kinds.len());
        Places::write(kinds.iter().map(|&(country, state, _)| (country, state)), states, writer);
        writer.numbers(&kinds.iter().map(|&(.., status)| status as u32).collect::<Vec<_>>());
        let column = |values: fn(&AreaRows) -> &Vec<u32>| -> Vec<Vec<u32>> {
            areas.iter().map(|(_, area)| values(area).clone()).collect()
        };
        let kinds_of_rows = column(|area| &area.kinds);
        let kinds_of_areas: Vec<_> =
            kinds_of_rows.iter().map(|kinds| dictionary_of(kinds.iter().copied())).collect();
        DictionaryColumn::write(&kinds_of_areas, &kinds_of_rows, writer);
        let holders = column(|area| &area.holders);
        DictionaryColumn::write(&dictionaries.holders, &holders, writer);
        let rate_centers = column(|area| &area.rate_centers);
        DictionaryColumn::write(&dictionaries.rate_centers, &rate_centers, writer);
    }
}
