//! The gate against a state, carrier or area code that loses many exchanges at once.

use std::{cmp::Reverse, collections::BTreeMap, fmt};

use itertools::Itertools;
use numbering::records::{Exchange, Npa, Ocn, Record, StateCode};

use super::{FEWEST, MeasuredVersion, Refusal, Waivers};
use crate::{changes::RecordPair, quality::percent};

/// A state, carrier or area code that has exchanges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    State(StateCode),
    Carrier(Ocn),
    AreaCode(Npa),
}

/// An owner's exchanges in an older version, and how many it loses.
#[derive(Default)]
pub(super) struct Loss {
    exchanges: u32,
    removed: u32,
    lost: u32,
    /// The number of lost ones that each other owner gains.
    gained_by: BTreeMap<Owner, u32>,
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(state) => state.fmt(f),
            Self::Carrier(ocn) => ocn.fmt(f),
            Self::AreaCode(npa) => npa.fmt(f),
        }
    }
}

impl Owner {
    /// The singular and plural names of this kind of owner.
    fn names(self) -> [&'static str; 2] {
        match self {
            Self::State(_) => ["state", "states"],
            Self::Carrier(_) => ["carrier", "carriers"],
            Self::AreaCode(_) => ["area code", "area codes"],
        }
    }

    fn is_refused(self, loss: &Loss) -> bool {
        let share = percent(loss.lost, loss.exchanges);
        match self {
            // Exchanges do not move between states.
            Self::State(_) => loss.exchanges >= 500 && share > 10.0,
            // Carriers sell parts of their networks.
            Self::Carrier(_) => loss.exchanges >= 500 && share > 50.0,
            // At most 12 of up to 800 were assigned in a month.
            Self::AreaCode(_) => {
                loss.removed == loss.exchanges || loss.lost >= FEWEST && share > 10.0
            }
        }
    }
}

/// Counts the record of one key, if it is an exchange. For an area code, changed exchanges also count as lost.
pub(super) fn count_losses(losses: &mut BTreeMap<Owner, Loss>, pair: &RecordPair, differs: bool) {
    let Some(before) = exchange(&pair.before) else { return };
    let after = exchange(&pair.after);
    let state = |exchange: &Exchange| exchange.state.map(Owner::State);
    let carrier = |exchange: &Exchange| exchange.ocn.map(Owner::Carrier);
    let owners = [
        (state(before), after.and_then(state)),
        (carrier(before), after.and_then(carrier)),
        (Some(Owner::AreaCode(before.npa)), None),
    ];
    for (owner, next) in owners {
        let Some(owner) = owner else { continue };
        let loss = losses.entry(owner).or_default();
        loss.exchanges += 1;
        loss.removed += u32::from(after.is_none());
        let is_lost = match owner {
            Owner::AreaCode(_) => differs,
            _ => next != Some(owner),
        };
        if is_lost {
            loss.lost += 1;
            if let Some(next) = next {
                *loss.gained_by.entry(next).or_default() += 1;
            }
        }
    }
}

/// Maximum losses named in a refusal.
const NAMED: usize = 5;

pub(super) fn refuse_losses(
    losses: BTreeMap<Owner, Loss>,
    older: MeasuredVersion<'_>,
    refusals: &mut Vec<Refusal>,
) {
    let refused = losses.into_iter().filter(|(owner, loss)| owner.is_refused(loss));
    for ([one, many], losses) in &refused.chunk_by(|(owner, _)| owner.names()) {
        let losses: Vec<_> = losses.sorted_by_key(|(_, loss)| Reverse(loss.lost)).collect();
        let count = losses.len();
        let what = if count == 1 { one } else { many };
        let named = losses.iter().take(NAMED).map(|(owner, loss)| {
            let most = loss.gained_by.iter().max_by_key(|&(_, count)| count);
            let gained = most.map(|(next, count)| format!(", {count} of them to {next}"));
            format!("{owner} {} of {}{}", loss.lost, loss.exchanges, gained.unwrap_or_default())
        });
        let mut first = named.collect::<Vec<_>>().join("; ");
        if count > NAMED {
            first += &format!(" and {} more", count - NAMED);
        }
        let reason = format!(
            "{count} {what} would lose exchanges that version {} has, or have them changed: {first}; \
             check whether a file is cut off, or a column is filled with one value",
            older.snapshot.version
        );
        let max_loss = losses.iter().map(|(_, loss)| loss.lost).max();
        let waivers = Some(Waivers { max_loss, ..Waivers::default() });
        refusals.push(Refusal { reason, waivers, is_of_changes: true });
    }
}

pub(super) fn exchange(record: &Option<Record>) -> Option<&Exchange> {
    match record {
        Some(Record::Exchange(exchange)) => Some(exchange),
        _ => None,
    }
}
