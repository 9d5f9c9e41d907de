//! Builds carriers from their codes, their blocks and the overlay.

use std::collections::BTreeMap;

use jiff::civil::Date;
use numbering::records::{Carrier, Country, Ocn, OwnedExchanges, StateCode, TypeBasis};

use store::ReportName;

use super::{Counts, most_frequent};
use crate::{
    carrier_types,
    notes::{CONFLICTING_NAMES, Notes},
    reports::{blocks::AssignedBlock, codes::CodeRow, overlay::OverlayRow},
};

#[derive(Default)]
struct Holdings {
    names: BTreeMap<String, Usage>,
    countries: Counts<Country>,
    exchanges: OwnedExchanges,
    /// Used if no code has a company name.
    block_names: BTreeMap<String, Usage>,
    /// Used if no exchange has a state.
    block_states: Counts<StateCode>,
    /// Used if the carrier has no exchanges.
    block_countries: Counts<Country>,
}

/// A name's number of uses for an OCN, and its latest assignment date. Ordered by count, then by date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Usage {
    count: u32,
    newest: Option<Date>,
}

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
            notes.warn("duplicate OCN in the overlay; the later row is used", ocn);
            notes.skip(ReportName::Carriers, "rows replaced by a later row with the same OCN");
        }
    }
    let mut carriers: BTreeMap<Ocn, Carrier> = holdings_by_ocn(codes, blocks)
        .into_iter()
        .map(|(ocn, holdings)| (ocn, carrier(ocn, holdings, overlay_rows.remove(&ocn), notes)))
        .collect();
    for (ocn, mut row) in overlay_rows {
        row.country = row.country.or_else(|| row.state.map(StateCode::country));
        if row.company_name.is_none() {
            notes.skip(ReportName::Carriers, "rows without a name whose OCN has no exchanges");
        } else if row.country.is_none() {
            notes.skip(ReportName::Carriers, "rows without a country whose OCN has no exchanges");
        } else {
            carriers.insert(ocn, carrier(ocn, Holdings::default(), Some(row), notes));
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
        *holdings.block_countries.entry(block.country).or_default() += 1;
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
    let Holdings { names, countries, exchanges, block_names, block_states, block_countries } =
        holdings;
    let names_in_use = if names.is_empty() { &block_names } else { &names };
    let overlay = overlay_row.as_ref();
    let company_name =
        most_common_name(ocn, names_in_use, notes).or_else(|| overlay?.company_name.clone());
    let repeats_company_name =
        |name: &String| company_name.as_ref().is_some_and(|full| full.eq_ignore_ascii_case(name));
    let overlay_state = overlay.and_then(|row| row.state);
    let country = most_frequent(&countries).copied().or_else(|| overlay?.country);
    let country = country.or_else(|| most_frequent(&block_countries).copied());
    let known = company_name.as_deref().map(|name| carrier_types::find(name, ocn));
    let known = known.unwrap_or_default();
    let overlay_type = overlay.and_then(|row| Some((row.carrier_type?, TypeBasis::CarriersFile)));
    let (carrier_type, type_basis) = overlay_type.or(known.carrier_type).unzip();
    let is_known_type = known.carrier_type.map(|(known, _)| known) == carrier_type;
    Carrier {
        ocn,
        common_name: overlay
            .and_then(|row| row.common_name.clone())
            .or_else(|| known.common_name.map(str::to_owned))
            .filter(|name| !repeats_company_name(name)),
        carrier_type,
        type_basis,
        family_line_type: known.line_type.filter(|_| is_known_type),
        state: most_frequent_state(&exchanges.by_state, overlay_state)
            .or(overlay_state)
            .or_else(|| most_frequent(&block_states).copied()),
        country: country.unwrap_or(Country::Us),
        exchanges,
        company_name,
    }
}

/// Returns the most frequent state. On a tie, `preferred` wins, then the first code in order.
fn most_frequent_state(
    counts: &Counts<StateCode>,
    preferred: Option<StateCode>,
) -> Option<StateCode> {
    let max = counts.values().max()?;
    preferred
        .filter(|state| counts.get(state) == Some(max))
        .or_else(|| most_frequent(counts).copied())
}

/// Returns the most frequent name for an OCN. On a tie, the most recent wins, then the first in order.
fn most_common_name(
    ocn: Ocn,
    names: &BTreeMap<String, Usage>,
    notes: &mut Notes,
) -> Option<String> {
    // Reversed, because `max_by_key` returns the last maximum.
    let (name, _) = names.iter().rev().max_by_key(|&(_, usage)| usage)?;
    if let Some(other) = names.keys().find(|&other| other != name) {
        notes.warn(CONFLICTING_NAMES, format!("{ocn} is '{name}' rather than '{other}'"));
    }
    Some(name.clone())
}
