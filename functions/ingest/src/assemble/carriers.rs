//! Carriers, from the codes and blocks they hold and from the overlay.

use std::collections::BTreeMap;

use jiff::civil::Date;
use numbering::records::{Carrier, Country, Ocn, OwnedExchanges, StateCode};

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
    /// Its names as a holder of blocks, for a carrier whose codes name nobody.
    block_names: BTreeMap<String, Usage>,
    /// Where its blocks are, for a carrier without exchanges.
    block_states: Counts<StateCode>,
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
        if known.company_name.is_none() {
            notes.skip("overlay rows without a name whose OCN has no exchanges");
        } else if let Some(carrier) = without_exchanges(known) {
            carriers.insert(ocn, carrier);
        } else {
            notes.skip("overlay rows without a country whose OCN has no exchanges");
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
        if let Some(name) = &block.company {
            holdings.block_names.entry(name.clone()).or_default().count += 1;
        }
        if let Some(state) = block.state {
            *holdings.block_states.entry(state).or_default() += 1;
        }
    }
    all
}

fn carrier(ocn: Ocn, holdings: Holdings, known: Option<Known>, notes: &mut Notes) -> Carrier {
    let Holdings { names, countries, exchanges, block_names, block_states } = holdings;
    let used_names = match names.is_empty() {
        true => &block_names,
        false => &names,
    };
    let used_name = name(ocn, used_names, notes);
    let (known_name, common_name, carrier_type, known_state, known_country) = match known {
        Some(Known { ocn: _, company_name, common_name, carrier_type, state, country }) => {
            (company_name, common_name, carrier_type, state, country)
        }
        None => (None, None, None, None, None),
    };
    let company_name = used_name.or(known_name);
    let repeats =
        |name: &String| company_name.as_ref().is_some_and(|full| full.eq_ignore_ascii_case(name));
    let state = state_of_most(&exchanges.by_state, known_state).or(known_state);
    Carrier {
        ocn,
        common_name: common_name.filter(|name| !repeats(name)),
        carrier_type,
        state: state.or_else(|| most_frequent(&block_states).copied()),
        country: most_frequent(&countries).copied().or(known_country).unwrap_or(Country::Us),
        exchanges,
        company_name,
    }
}

/// The state that occurs most; of several, `preferred` if it is one of them, else the first in
/// order.
fn state_of_most(counts: &Counts<StateCode>, preferred: Option<StateCode>) -> Option<StateCode> {
    let most = counts.values().max()?;
    let preferred = preferred.filter(|state| counts.get(state) == Some(most));
    preferred.or_else(|| most_frequent(counts).copied())
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
        country: known.country.or_else(|| known.state.map(StateCode::country))?,
        ocn: known.ocn,
        company_name: known.company_name,
        common_name: known.common_name,
        carrier_type: known.carrier_type,
        state: known.state,
        exchanges: OwnedExchanges::default(),
    })
}
