//! The carrier and area code columns.

use std::ops::Range;

use serde_json::json;
use strum::VariantArray;

use super::columns::{Lists, Numbers, Reader, Strings, Writer};
use crate::records::{
    AreaCode, Carrier, CarrierType, Country, Npa, Ocn, OwnedExchanges, StateCode,
};

#[derive(Debug)]
pub(super) struct Carriers {
    ocns: Numbers,
    /// Empty for carriers without a name.
    company_names: Strings,
    common_names: Strings,
    /// See [`variant`].
    types: Numbers,
    /// See [`variant`].
    type_bases: Numbers,
    /// See [`variant`].
    family_line_types: Numbers,
    pub(super) places: Places,
    exchange_totals: Numbers,
    /// The states where each carrier has exchanges, with a count for each.
    exchange_counts: Lists,
    counted_states: Numbers,
    counts: Numbers,
}

impl Carriers {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        Some(Self {
            ocns: reader.numbers()?,
            company_names: reader.strings()?,
            common_names: reader.strings()?,
            types: reader.numbers()?,
            type_bases: reader.numbers()?,
            family_line_types: reader.numbers()?,
            places: Places::read(reader)?,
            exchange_totals: reader.numbers()?,
            exchange_counts: reader.lists()?,
            counted_states: reader.numbers()?,
            counts: reader.numbers()?,
        })
    }

    /// Writes carriers, which must be ordered by OCN.
    pub(super) fn write(carriers: &[Carrier], writer: &mut Writer) {
        let counts = || carriers.iter().flat_map(|carrier| &carrier.exchanges.by_state);
        writer.numbers(carriers.iter().map(|carrier| ocn_to_number(carrier.ocn)));
        writer.strings(carriers.iter().map(|it| it.company_name.as_deref().unwrap_or_default()));
        writer.strings(carriers.iter().map(|it| it.common_name.as_deref().unwrap_or_default()));
        writer.numbers(carriers.iter().map(|it| it.carrier_type.map_or(0, |it| it as u32 + 1)));
        writer.numbers(carriers.iter().map(|it| it.type_basis.map_or(0, |it| it as u32 + 1)));
        writer.numbers(carriers.iter().map(|it| it.family_line_type.map_or(0, |it| it as u32 + 1)));
        Places::write(carriers.iter().map(|carrier| (carrier.country, carrier.state)), writer);
        writer.numbers(carriers.iter().map(|carrier| carrier.exchanges.total));
        writer.lists(carriers.iter().map(|carrier| carrier.exchanges.by_state.len()));
        writer.numbers(counts().map(|(&state, _)| state_to_number(Some(state))));
        writer.numbers(counts().map(|(_, &count)| count));
    }

    pub(super) fn count(&self) -> usize {
        self.ocns.count()
    }

    pub(super) fn position(&self, ocn: Ocn) -> Option<usize> {
        self.ocns.position(ocn_to_number(ocn) as usize)
    }

    /// The positions of carriers whose OCN starts with these uppercase characters.
    pub(super) fn with_ocn_prefix(&self, prefix: &[u8]) -> Range<usize> {
        let mut first = [0; 4];
        let Some(start) = first.get_mut(..prefix.len()) else { return 0..0 };
        start.copy_from_slice(prefix);
        let first = u32::from_be_bytes(first) as usize;
        let end = first + (1 << (32 - 8 * prefix.len()));
        self.ocns.lower_bound(first)..self.ocns.lower_bound(end)
    }

    pub(super) fn ocn(&self, position: usize) -> Ocn {
        Ocn::from_characters((self.ocns.get(position) as u32).to_be_bytes())
    }

    pub(super) fn company_name(&self, position: usize) -> Option<&str> {
        Some(self.company_names.get(position)).filter(|name| !name.is_empty())
    }

    pub(super) fn common_name(&self, position: usize) -> Option<&str> {
        Some(self.common_names.get(position)).filter(|name| !name.is_empty())
    }

    pub(super) fn carrier_type(&self, position: usize) -> Option<CarrierType> {
        variant(&self.types, position)
    }

    pub(super) fn exchange_total(&self, position: usize) -> u32 {
        self.exchange_totals.get(position) as u32
    }

    pub(super) fn record(&self, position: usize) -> Carrier {
        let counts = self.exchange_counts.range(position).filter_map(|item| {
            let state = state_from_number(self.counted_states.get(item))?;
            Some((state, self.counts.get(item) as u32))
        });
        Carrier {
            ocn: self.ocn(position),
            company_name: self.company_name(position).map(str::to_owned),
            common_name: self.common_name(position).map(str::to_owned),
            carrier_type: self.carrier_type(position),
            type_basis: variant(&self.type_bases, position),
            family_line_type: variant(&self.family_line_types, position),
            state: self.places.state(position),
            country: self.places.country(position),
            exchanges: OwnedExchanges {
                total: self.exchange_total(position),
                by_state: counts.collect(),
            },
        }
    }
}

/// The variant in a column of positions in [`VariantArray::VARIANTS`] plus one; `None` for zero.
fn variant<T: VariantArray + Copy>(column: &Numbers, position: usize) -> Option<T> {
    column.get(position).checked_sub(1).map(|number| T::VARIANTS[number])
}

/// Converts an OCN to a number, preserving order.
fn ocn_to_number(ocn: Ocn) -> u32 {
    u32::from_be_bytes(ocn.characters())
}

#[derive(Debug)]
pub(super) struct AreaCodes {
    npas: Numbers,
    /// See [`variant`].
    countries: Numbers,
    primary_states: Numbers,
    exchange_totals: Numbers,
    state_lists: Lists,
    states: Numbers,
    /// The numbering plan's facts as JSON, which few requests need.
    plans: Strings,
}

impl AreaCodes {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        Some(Self {
            npas: reader.numbers()?,
            countries: reader.numbers()?,
            primary_states: reader.numbers()?,
            exchange_totals: reader.numbers()?,
            state_lists: reader.lists()?,
            states: reader.numbers()?,
            plans: reader.strings()?,
        })
    }

    /// Writes area codes, which must be ordered by NPA.
    pub(super) fn write(area_codes: &[AreaCode], writer: &mut Writer) {
        let states = area_codes.iter().flat_map(|area_code| &area_code.states);
        writer.numbers(area_codes.iter().map(|area_code| area_code.npa.number().into()));
        writer.numbers(area_codes.iter().map(|it| it.country.map_or(0, |it| it as u32 + 1)));
        writer.numbers(area_codes.iter().map(|it| state_to_number(it.state)));
        writer.numbers(area_codes.iter().map(|area_code| area_code.total_exchanges));
        writer.lists(area_codes.iter().map(|area_code| area_code.states.len()));
        writer.numbers(states.map(|&state| state_to_number(Some(state))));
        let plans: Vec<String> = area_codes.iter().map(|it| json!(it.plan).to_string()).collect();
        writer.strings(plans.iter().map(String::as_str));
    }

    pub(super) fn count(&self) -> usize {
        self.npas.count()
    }

    pub(super) fn position(&self, npa: Npa) -> Option<usize> {
        self.npas.position(npa.number().into())
    }

    pub(super) fn record(&self, position: usize) -> AreaCode {
        let states = self.state_lists.range(position).map(|item| self.states.get(item));
        AreaCode {
            npa: Npa::from_number(self.npas.get(position) as u16),
            state: state_from_number(self.primary_states.get(position)),
            states: states.filter_map(state_from_number).collect(),
            country: variant(&self.countries, position),
            total_exchanges: self.exchange_totals.get(position) as u32,
            plan: serde_json::from_str(self.plans.get(position))
                .expect("only JSON is written to this column"),
        }
    }
}

#[derive(Debug)]
pub(super) struct Places {
    countries: Numbers,
    /// The letters of the states; zero for a record without a state.
    states: Numbers,
}

impl Places {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        Some(Self { countries: reader.numbers()?, states: reader.numbers()? })
    }

    pub(super) fn write(
        places: impl Iterator<Item = (Country, Option<StateCode>)> + Clone,
        writer: &mut Writer,
    ) {
        writer.numbers(places.clone().map(|(country, _)| country as u32));
        writer.numbers(places.map(|(_, state)| state_to_number(state)));
    }

    pub(super) fn count(&self) -> usize {
        self.countries.count()
    }

    pub(super) fn country(&self, position: usize) -> Country {
        Country::ALL[self.countries.get(position)]
    }

    pub(super) fn state(&self, position: usize) -> Option<StateCode> {
        state_from_number(self.states.get(position))
    }
}

fn state_to_number(state: Option<StateCode>) -> u32 {
    state.map_or(0, |state| u16::from_le_bytes(state.characters()).into())
}

fn state_from_number(number: usize) -> Option<StateCode> {
    StateCode::from_letters((number as u16).to_le_bytes())
}
