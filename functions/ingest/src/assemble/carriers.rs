//! Carriers, built from the codes and blocks they hold and from the overlay.

use std::collections::BTreeMap;

use jiff::civil::Date;
use numbering::records::{Carrier, Country, Ocn, OwnedExchanges, StateCode};

use super::{Counts, most_frequent};
use crate::{
    outcome::{Notes, SEVERAL_NAMES},
    reports::{CodeRow, overlay::OverlayRow, thousands_blocks::AssignedBlock},
};

/// One OCN's codes and blocks, counted for its carrier.
#[derive(Default)]
struct Holdings {
    names: BTreeMap<String, Usage>,
    countries: Counts<Country>,
    exchanges: OwnedExchanges,
    /// Its names as a block holder, for a carrier whose codes have no company name.
    block_names: BTreeMap<String, Usage>,
    /// The states of its blocks, for a carrier without exchanges.
    block_states: Counts<StateCode>,
}

/// The uses of a name for an OCN, and the last date it was assigned. Ordered by frequency, then by date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Usage {
    count: u32,
    newest: Option<Date>,
}

/// Every carrier that holds codes or blocks, or appears in the overlay.
pub(super) fn carriers(
    codes: &[CodeRow],
    blocks: &[AssignedBlock],
    overlay: Vec<OverlayRow>,
    notes: &mut Notes,
) -> BTreeMap<Ocn, Carrier> {
    let mut overlay_rows: BTreeMap<Ocn, OverlayRow> = BTreeMap::new();
    for row in overlay {
        let ocn = row.ocn;
        if overlay_rows.insert(ocn, row).is_some() {
            notes.warn("an OCN stands twice in the overlay; the later row counts", ocn);
            notes.skip("overlay rows whose OCN stands again further on");
        }
    }
    let mut carriers: BTreeMap<Ocn, Carrier> = holdings_by_ocn(codes, blocks)
        .into_iter()
        .map(|(ocn, holdings)| (ocn, carrier(ocn, holdings, overlay_rows.remove(&ocn), notes)))
        .collect();
    for (ocn, row) in overlay_rows {
        if row.company_name.is_none() {
            notes.skip("overlay rows without a name whose OCN has no exchanges");
        } else if let Some(carrier) = carrier_of_overlay(row) {
            carriers.insert(ocn, carrier);
        } else {
            notes.skip("overlay rows without a country whose OCN has no exchanges");
        }
    }
    carriers
}

fn holdings_by_ocn(codes: &[CodeRow], blocks: &[AssignedBlock]) -> BTreeMap<Ocn, Holdings> {
    let mut by_ocn: BTreeMap<Ocn, Holdings> = BTreeMap::new();
    for (ocn, code) in codes.iter().filter_map(|code| Some((code.ocn?, code))) {
        let holdings = by_ocn.entry(ocn).or_default();
        if let Some(name) = &code.company {
            let usage = holdings.names.entry(name.clone()).or_default();
            usage.count += 1;
            usage.newest = usage.newest.max(code.assigned);
        }
        *holdings.countries.entry(code.country).or_default() += 1;
        holdings.exchanges.total += 1;
        if let Some(state) = code.state {
            *holdings.exchanges.by_state.entry(state).or_default() += 1;
        }
    }
    for block in blocks {
        let holdings = by_ocn.entry(block.ocn).or_default();
        if let Some(name) = &block.company {
            holdings.block_names.entry(name.clone()).or_default().count += 1;
        }
        if let Some(state) = block.state {
            *holdings.block_states.entry(state).or_default() += 1;
        }
    }
    by_ocn
}

fn carrier(
    ocn: Ocn,
    holdings: Holdings,
    overlay_row: Option<OverlayRow>,
    notes: &mut Notes,
) -> Carrier {
    let Holdings { names, countries, exchanges, block_names, block_states } = holdings;
    let names_in_use = if names.is_empty() { &block_names } else { &names };
    let overlay = overlay_row.as_ref();
    let company_name =
        name_used_most(ocn, names_in_use, notes).or_else(|| overlay?.company_name.clone());
    let repeats_company_name =
        |name: &String| company_name.as_ref().is_some_and(|full| full.eq_ignore_ascii_case(name));
    let overlay_state = overlay.and_then(|row| row.state);
    let country = most_frequent(&countries).copied().or_else(|| overlay?.country);
    Carrier {
        ocn,
        common_name: overlay
            .and_then(|row| row.common_name.clone())
            .filter(|name| !repeats_company_name(name)),
        carrier_type: overlay.and_then(|row| row.carrier_type),
        state: state_of_most(&exchanges.by_state, overlay_state)
            .or(overlay_state)
            .or_else(|| most_frequent(&block_states).copied()),
        country: country.unwrap_or(Country::Us),
        exchanges,
        company_name,
    }
}

/// The most frequent state. On a tie: `preferred` if it is among them, else the first in order.
fn state_of_most(counts: &Counts<StateCode>, preferred: Option<StateCode>) -> Option<StateCode> {
    let most = counts.values().max()?;
    let preferred_of_most = preferred.filter(|state| counts.get(state) == Some(most));
    preferred_of_most.or_else(|| most_frequent(counts).copied())
}

/// The most frequent name for an OCN. On a tie: the most recently used, then the first in order.
fn name_used_most(ocn: Ocn, names: &BTreeMap<String, Usage>, notes: &mut Notes) -> Option<String> {
    // `max_by_key` returns the last of several maxima, so iterate from the end.
    let (name, _) = names.iter().rev().max_by_key(|&(_, usage)| usage)?;
    if let Some(other) = names.keys().find(|&other| other != name) {
        notes.warn(SEVERAL_NAMES, format!("{ocn} is '{name}' rather than '{other}'"));
    }
    Some(name.clone())
}

/// The carrier of an overlay row whose OCN holds nothing; its state may imply its country. `None` if the country is
/// unknown.
fn carrier_of_overlay(row: OverlayRow) -> Option<Carrier> {
    Some(Carrier {
        country: row.country.or_else(|| row.state.map(StateCode::country))?,
        ocn: row.ocn,
        company_name: row.company_name,
        common_name: row.common_name,
        carrier_type: row.carrier_type,
        state: row.state,
        exchanges: OwnedExchanges::default(),
    })
}
