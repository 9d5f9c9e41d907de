//! The columns that say where a record lies, which all kinds of records have.

use bytes::Bytes;

use super::{
    columns::{Numbers, SectionWriter, Sections, damaged},
    packed::DamagedSnapshot,
};
use crate::records::{Country, StateCode};

/// Every state that a record names, in order.
#[derive(Debug)]
pub(super) struct States(Bytes);

impl States {
    pub(super) fn read(sections: &mut Sections) -> Result<Self, DamagedSnapshot> {
        const STATES: &str = "list of states";
        let count = sections.count(STATES)?;
        let states = sections.items::<2>(STATES, count)?;
        let (codes, _) = states.as_chunks();
        let are_codes = codes.iter().all(|&letters| StateCode::of_letters(letters).is_some());
        if are_codes && codes.is_sorted_by(|one, next| one < next) {
            Ok(Self(states))
        } else {
            Err(damaged(STATES))
        }
    }

    pub(super) fn count(&self) -> usize {
        self.0.len() / 2
    }

    pub(super) fn get(&self, position: usize) -> Option<StateCode> {
        StateCode::of_letters(*self.0.as_chunks().0.get(position)?)
    }

    pub(super) fn write(states: &[StateCode], writer: &mut SectionWriter) {
        writer.count(states.len());
        states.iter().for_each(|state| writer.bytes(&state.characters()));
    }
}

/// The country and the state of each record of a table.
#[derive(Debug)]
pub(super) struct Places {
    /// Positions in [`Country::ALL`].
    countries: Numbers,
    /// Positions in [`States`] plus one; zero for no state.
    states: Numbers,
}

impl Places {
    pub(super) fn read(
        sections: &mut Sections,
        count: usize,
        states: &States,
    ) -> Result<Self, DamagedSnapshot> {
        Ok(Self {
            countries: sections.numbers("column of countries", count, Country::ALL.len())?,
            states: sections.numbers("column of states", count, states.count() + 1)?,
        })
    }

    pub(super) fn country(&self, position: usize) -> Country {
        Country::ALL[self.countries.get(position)]
    }

    pub(super) fn state(&self, position: usize, states: &States) -> Option<StateCode> {
        self.states.get(position).checked_sub(1).and_then(|state| states.get(state))
    }

    pub(super) fn write(
        places: impl Iterator<Item = (Country, Option<StateCode>)> + Clone,
        states: &[StateCode],
        writer: &mut SectionWriter,
    ) {
        let countries: Vec<u32> = places.clone().map(|(country, _)| country as u32).collect();
        writer.numbers(&countries);
        let numbers: Vec<u32> = places.map(|(_, state)| number_of(state, states)).collect();
        writer.numbers(&numbers);
    }
}

/// The position of a state plus one; zero for no state.
fn number_of(state: Option<StateCode>, states: &[StateCode]) -> u32 {
    state.map_or(0, |state| states.partition_point(|&other| other <= state) as u32)
}
