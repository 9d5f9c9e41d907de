//! The names of holders and rate centers, and where they occur.

use super::{
    columns::{Lists, Sections, Texts, damaged},
    exchanges::{DictionaryColumn, Exchanges},
    packed::DamagedSnapshot,
    word_index::WordIndex,
};

/// All names. [`WordIndex`] says how they are numbered.
#[derive(Debug)]
pub(super) struct Names {
    /// The names of holders without an OCN, in order.
    pub(super) companies: Texts,
    /// In order.
    pub(super) rate_centers: Texts,
    pub(super) words: WordIndex,
    /// How many numbers holders have; the numbers of rate centers follow.
    holder_numbers: usize,
    /// For each name the area codes that have it.
    areas: Lists,
    listed_areas: Vec<u16>,
    area_count: usize,
}

impl Names {
    /// Reads the words of names, and collects the area codes of each name from the exchanges.
    pub(super) fn read(
        sections: &mut Sections,
        companies: Texts,
        rate_centers: Texts,
        [holder_numbers, rate_center_numbers]: [usize; 2],
        exchanges: &Exchanges,
    ) -> Result<Self, DamagedSnapshot> {
        let count = holder_numbers + rate_center_numbers;
        let words = WordIndex::read(sections, count)?;
        let columns = &exchanges.columns;
        let columns = [(&columns.holders, 0), (&columns.rate_centers, holder_numbers)];
        let mut lengths = vec![0; count];
        for (column, first) in columns {
            column.all_entries().iter().for_each(|&entry| lengths[first + entry as usize] += 1);
        }
        let areas = Lists::of_lengths(lengths.into_iter()).ok_or(damaged("list of names"))?;
        let listed_areas = listed_areas(&areas, columns, exchanges.area_count());
        Ok(Self {
            companies,
            rate_centers,
            words,
            holder_numbers,
            areas,
            listed_areas,
            area_count: exchanges.area_count(),
        })
    }

    /// How many numbers names have.
    pub(super) fn count(&self) -> usize {
        self.areas.count()
    }

    /// How many numbers holders have.
    pub(super) fn holder_numbers(&self) -> usize {
        self.holder_numbers
    }

    /// The positions of the area codes that have this name.
    pub(super) fn areas_of(&self, name: usize) -> &[u16] {
        &self.listed_areas[self.areas.range(name)]
    }

    /// How many area codes have exchanges.
    pub(super) fn area_count(&self) -> usize {
        self.area_count
    }
}

/// The area codes of each name, from columns with the first number of their names.
fn listed_areas(
    areas: &Lists,
    columns: [(&DictionaryColumn, usize); 2],
    area_count: usize,
) -> Vec<u16> {
    let mut listed = vec![0; areas.item_count()];
    let mut next: Vec<usize> = (0..areas.count()).map(|name| areas.range(name).start).collect();
    for (column, first) in columns {
        for area in 0..area_count {
            for &entry in column.entries_of(area) {
                let position = &mut next[first + entry as usize];
                listed[*position] = area as u16;
                *position += 1;
            }
        }
    }
    listed
}
