//! Carriers, from the codes and blocks they hold and from the overlay.

use std::collections::BTreeMap;

use jiff::civil::Date;
use shared::records::{Carrier, Country, Ocn, OwnedExchanges, State};

use super::{Counts, most_frequent};
use crate::{
    report::Notes,
    reports::{Code, overlay::Known, thousands_blocks::Block},
};

/// What the codes and blocks of one OCN say of its carrier.
#[derive(Default)]
struct Holdings {
    names: BTreeMap<String, Usage>,
    countries: Counts<Country>,
    exchanges: OwnedExchanges,
    /// Where its blocks are, for a carrier without exchanges.
    block_states: Counts<State>,
}

/// How often a name is used for an OCN, and when last; orders by both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Usage {
    count: u32,
    newest: Option<Date>,
}

/// Every carrier: of the codes and blocks it holds, or known from the overlay alone.
pub(super) fn carriers(
    codes: &[Code],
    blocks: &[Block],
    overlay: Vec<Known>,
    notes: &mut Notes,
) -> BTreeMap<Ocn, Carrier> {
    let mut known: BTreeMap<Ocn, Known> = BTreeMap::new();
    for carrier in overlay {
        let ocn = carrier.ocn;
        if known.insert(ocn, carrier).is_some() {
            notes.warn("an OCN stands twice in the overlay; the later row counts", ocn);
            notes.skip("overlay rows whose OCN stands again further on");
        }
    }
    let mut carriers: BTreeMap<Ocn, Carrier> = holdings(codes, blocks)
        .into_iter()
        .map(|(ocn, holdings)| (ocn, carrier(ocn, holdings, known.remove(&ocn), notes)))
        .collect();
    for (ocn, known) in known {
        match without_exchanges(known) {
            Some(carrier) => _ = carriers.insert(ocn, carrier),
            None => notes.skip("overlay rows without a country whose OCN has no exchanges"),
        }
    }
    carriers
}

fn holdings(codes: &[Code], blocks: &[Block]) -> BTreeMap<Ocn, Holdings> {
    let mut all: BTreeMap<Ocn, Holdings> = BTreeMap::new();
    for (ocn, code) in codes.iter().filter_map(|code| Some((code.ocn?, code))) {
        let holdings = all.entry(ocn).or_default();
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
        let holdings = all.entry(block.ocn).or_default();
        if holdings.exchanges.total == 0 {
            if !block.company.is_empty() {
                holdings.names.entry(block.company.clone()).or_default().count += 1;
            }
            if let Some(state) = block.state {
                *holdings.block_states.entry(state).or_default() += 1;
            }
        }
    }
    all
}

fn carrier(ocn: Ocn, holdings: Holdings, known: Option<Known>, notes: &mut Notes) -> Carrier {
    let Holdings { names, countries, exchanges, block_states } = holdings;
    let name = name(ocn, &names, notes);
    let known_name = known.as_ref().map(|known| known.company_name.clone());
    let company_name = name.or(known_name).unwrap_or_default();
    let (common_name, carrier_type, known_state, known_country) = match known {
        Some(known) => (known.common_name, known.carrier_type, known.state, known.country),
        None => (None, None, None, None),
    };
    let state = most_frequent(&exchanges.by_state).copied().or(known_state);
    Carrier {
        ocn,
        common_name: common_name.filter(|name| !name.eq_ignore_ascii_case(&company_name)),
        company_name,
        carrier_type,
        state: state.or_else(|| most_frequent(&block_states).copied()),
        country: most_frequent(&countries).copied().or(known_country).unwrap_or(Country::Us),
        exchanges,
    }
}

/// The name used most for an OCN; of several, the one used last, then the first in order.
fn name(ocn: Ocn, names: &BTreeMap<String, Usage>, notes: &mut Notes) -> Option<String> {
    let (name, _) = names.iter().rev().max_by_key(|&(_, usage)| usage)?;
    if let Some(other) = names.keys().find(|&other| other != name) {
        let example = format!("{ocn} is '{name}' rather than '{other}'");
        notes.warn_several_names(example);
    }
    Some(name.clone())
}

/// A carrier only the overlay knows; its country may follow from its state.
fn without_exchanges(known: Known) -> Option<Carrier> {
    Some(Carrier {
        country: known.country.or_else(|| known.state.map(State::country))?,
        ocn: known.ocn,
        company_name: known.company_name,
        common_name: known.common_name,
        carrier_type: known.carrier_type,
        state: known.state,
        exchanges: OwnedExchanges::default(),
    })
}
