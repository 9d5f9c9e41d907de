//! The carrier and area code columns.

use serde_json::json;
use strum::VariantArray;

use super::columns::{Columns, Lists, Numbers, Strings};
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
    countries: Numbers,
    /// The letters of each state; zero for a carrier without a state.
    states: Numbers,
    exchange_totals: Numbers,
    /// The states where each carrier has exchanges, with a count for each.
    exchange_counts: Lists,
    counted_states: Numbers,
    counts: Numbers,
}

impl Carriers {
    /// Writes or reads carriers, which must be ordered by OCN.
    pub(super) fn write_or_read(columns: &mut Columns, carriers: &[Carrier]) -> Option<Self> {
        let all = || carriers.iter();
        let counts = || all().flat_map(|carrier| &carrier.exchanges.by_state);
        Some(Self {
            ocns: columns.numbers(all().map(|it| it.ocn.number()))?,
            company_names: columns.strings(all().map(|it| text(&it.company_name)))?,
            common_names: columns.strings(all().map(|it| text(&it.common_name)))?,
            types: columns
                .numbers(all().map(|it| it.carrier_type.map_or(0, |it| it as u32 + 1)))?,
            type_bases: columns
                .numbers(all().map(|it| it.type_basis.map_or(0, |it| it as u32 + 1)))?,
            family_line_types: columns
                .numbers(all().map(|it| it.family_line_type.map_or(0, |it| it as u32 + 1)))?,
            countries: columns.numbers(all().map(|it| it.country as u32))?,
            states: columns.numbers(all().map(|it| state_to_number(it.state)))?,
            exchange_totals: columns.numbers(all().map(|it| it.exchanges.total))?,
            exchange_counts: columns.lists(all().map(|it| it.exchanges.by_state.len()))?,
            counted_states: columns
                .numbers(counts().map(|(state, _)| state_to_number(Some(*state))))?,
            counts: columns.numbers(counts().map(|(_, count)| *count))?,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.ocns.count()
    }

    pub(super) fn position(&self, ocn: Ocn) -> Option<usize> {
        self.ocns.position(ocn.number() as usize)
    }

    pub(super) fn ocn(&self, position: usize) -> Ocn {
        Ocn::from_number(self.ocns.get(position) as u32)
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

    pub(super) fn country(&self, position: usize) -> Country {
        Country::ALL[self.countries.get(position)]
    }

    pub(super) fn state(&self, position: usize) -> Option<StateCode> {
        state_from_number(self.states.get(position))
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
            state: self.state(position),
            country: self.country(position),
            exchanges: OwnedExchanges {
                total: self.exchange_total(position),
                by_state: counts.collect(),
            },
        }
    }
}

/// The variant whose position in [`VariantArray::VARIANTS`], plus one, is in the column; `None` for zero.
fn variant<T: VariantArray + Copy>(column: &Numbers, position: usize) -> Option<T> {
    column.get(position).checked_sub(1).map(|number| T::VARIANTS[number])
}

/// A name as stored: an empty string if missing.
fn text(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or_default()
}

#[derive(Debug)]
pub(super) struct AreaCodes {
    npas: Numbers,
    /// Each area code as JSON, since no search uses their fields.
    records: Strings,
}

impl AreaCodes {
    /// Writes or reads area codes, which must be ordered by NPA.
    pub(super) fn write_or_read(columns: &mut Columns, area_codes: &[AreaCode]) -> Option<Self> {
        let npas = area_codes.iter().map(|it| it.npa.number().into());
        let records: Vec<String> = area_codes.iter().map(|it| json!(it).to_string()).collect();
        Some(Self {
            npas: columns.numbers(npas)?,
            records: columns.strings(records.iter().map(String::as_str))?,
        })
    }

    pub(super) fn count(&self) -> usize {
        self.npas.count()
    }

    pub(super) fn position(&self, npa: Npa) -> Option<usize> {
        self.npas.position(npa.number().into())
    }

    pub(super) fn record(&self, position: usize) -> AreaCode {
        serde_json::from_str(self.records.get(position))
            .expect("only JSON is written to this column")
    }
}

fn state_to_number(state: Option<StateCode>) -> u32 {
    state.map_or(0, |state| u16::from_le_bytes(state.characters()).into())
}

fn state_from_number(number: usize) -> Option<StateCode> {
    StateCode::from_letters((number as u16).to_le_bytes())
}
