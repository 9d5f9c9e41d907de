//! The columns of area codes.

use bytes::Bytes;

use super::{
    columns::{ANY, Lists, Numbers, SectionWriter, Sections, damaged},
    packed::DamagedSnapshot,
    places::{Places, States},
};
use crate::records::{AreaCode, Npa, StateCode};

/// All area codes, ordered by NPA.
#[derive(Debug)]
pub(super) struct AreaCodes {
    npas: Npas,
    places: Places,
    exchange_totals: Numbers,
    /// For each area code the positions of its states.
    states: Lists,
    state_numbers: Numbers,
}

impl AreaCodes {
    pub(super) fn read(sections: &mut Sections, states: &States) -> Result<Self, DamagedSnapshot> {
        const STATES: &str = "states of area codes";
        let npas = Npas::read(sections, "column of area codes")?;
        let count = npas.count();
        let places = Places::read(sections, count, states)?;
        let exchange_totals = sections.numbers("totals of area codes", count, ANY)?;
        let lists = sections.lists(STATES, count)?;
        let state_numbers = sections.numbers(STATES, lists.item_count(), states.count())?;
        Ok(Self { npas, places, exchange_totals, states: lists, state_numbers })
    }

    pub(super) fn count(&self) -> usize {
        self.npas.count()
    }

    pub(super) fn position(&self, npa: Npa) -> Option<usize> {
        self.npas.position(npa)
    }

    pub(super) fn record(&self, position: usize, states: &States) -> AreaCode {
        let numbers = self.states.range(position).map(|item| self.state_numbers.get(item));
        AreaCode {
            npa: self.npas.get(position),
            state: self.places.state(position, states),
            states: numbers.filter_map(|number| states.get(number)).collect(),
            country: self.places.country(position),
            total_exchanges: self.exchange_totals.get(position) as u32,
        }
    }

    /// Writes area codes that are ordered by NPA.
    pub(super) fn write(area_codes: &[AreaCode], states: &[StateCode], writer: &mut SectionWriter) {
        Npas::write(area_codes.iter().map(|area_code| area_code.npa), writer);
        let places = area_codes.iter().map(|area_code| (area_code.country, area_code.state));
        Places::write(places, states, writer);
        let totals: Vec<u32> =
            area_codes.iter().map(|area_code| area_code.total_exchanges).collect();
        writer.numbers(&totals);
        writer.lists(area_codes.iter().map(|area_code| area_code.states.len()));
        let all_states = area_codes.iter().flat_map(|area_code| &area_code.states);
        let numbers: Vec<u32> =
            all_states.map(|state| states.partition_point(|other| other < state) as u32).collect();
        writer.numbers(&numbers);
    }
}

/// NPAs in order, each of them once.
#[derive(Debug)]
pub(super) struct Npas(Bytes);

impl Npas {
    pub(super) fn read(
        sections: &mut Sections,
        section: &'static str,
    ) -> Result<Self, DamagedSnapshot> {
        let count = sections.count(section)?;
        let npas = Self(sections.items::<2>(section, count)?);
        let are_codes = npas.numbers().all(|number| Npa::of_number(number).is_some());
        if are_codes && npas.numbers().is_sorted_by(|one, next| one < next) {
            Ok(npas)
        } else {
            Err(damaged(section))
        }
    }

    fn numbers(&self) -> impl Iterator<Item = u16> {
        self.0.as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes))
    }

    pub(super) fn count(&self) -> usize {
        self.0.len() / 2
    }

    pub(super) fn position(&self, npa: Npa) -> Option<usize> {
        let (npas, _) = self.0.as_chunks();
        npas.binary_search_by_key(&npa.number(), |&bytes| u16::from_le_bytes(bytes)).ok()
    }

    pub(super) fn get(&self, position: usize) -> Npa {
        let number = u16::from_le_bytes(self.0.as_chunks().0[position]);
        Npa::of_number(number).expect("`Npas::read` has checked every number")
    }

    pub(super) fn write(npas: impl ExactSizeIterator<Item = Npa>, writer: &mut SectionWriter) {
        writer.count(npas.len());
        npas.for_each(|npa| writer.bytes(&npa.number().to_le_bytes()));
    }
}
