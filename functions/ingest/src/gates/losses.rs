//! The gate that refuses an import if a state, carrier or area code loses many exchanges at once.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use numbering::{
    changes::RecordPair,
    records::{Exchange, Record},
};

use super::{Gate, MIN_RECORDS, MeasuredVersion, Refusal};
use crate::quality::percent;

/// The kinds of exchange owners, each with the minimum exchanges for a check and the percentage it may lose.
const OWNERS: [(&str, u32, f64); 3] = [
    // Exchanges do not move between states.
    ("state", 500, 10.0),
    // Carriers sell parts of their networks.
    ("carrier", 500, 50.0),
    // No area code has had more than 12 exchanges assigned in a month.
    (AREA_CODE, 1, 10.0),
];
const AREA_CODE: &str = "area code";

pub(super) type Losses = BTreeMap<(usize, String), Loss>;

/// An owner's exchanges in the older version, and how many of them it loses.
#[derive(Default)]
pub(super) struct Loss {
    exchanges: u32,
    removed: u32,
    lost: u32,
    gained_by: BTreeMap<String, u32>,
}

fn owners(exchange: &Exchange) -> [Option<String>; 3] {
    let (state, ocn) =
        (exchange.state.map(|it| it.to_string()), exchange.ocn.map(|it| it.to_string()));
    [state, ocn, Some(exchange.npa.to_string())]
}

/// Counts a record if it is an exchange. For area codes, changed exchanges also count as lost.
pub(super) fn count_losses(losses: &mut Losses, pair: &RecordPair, differs: bool) {
    let Some(before) = exchange(&pair.before) else { return };
    let after = exchange(&pair.after);
    let next_owners = after.map(owners).unwrap_or_default();
    for (kind, (owner, next)) in owners(before).into_iter().zip(next_owners).enumerate() {
        let Some(owner) = owner else { continue };
        let is_lost = next.as_ref() != Some(&owner);
        let loss = losses.entry((kind, owner)).or_default();
        loss.exchanges += 1;
        loss.removed += u32::from(after.is_none());
        loss.lost += u32::from(is_lost || OWNERS[kind].0 == AREA_CODE && differs);
        if let Some(next) = next.filter(|_| is_lost) {
            *loss.gained_by.entry(next).or_default() += 1;
        }
    }
}

impl Loss {
    fn is_refused(&self, kind: usize) -> bool {
        let (name, min_exchanges, max_percent) = OWNERS[kind];
        let is_gone = name == AREA_CODE && self.removed == self.exchanges;
        let is_checked = self.exchanges >= min_exchanges && self.lost >= MIN_RECORDS;
        is_gone || is_checked && percent(self.lost, self.exchanges) > max_percent
    }
}

const MAX_NAMED: usize = 5;

pub(super) fn refuse_losses(
    losses: Losses,
    older: MeasuredVersion<'_>,
    refusals: &mut Vec<Refusal>,
) {
    let refused = losses.into_iter().filter(|((kind, _), loss)| loss.is_refused(*kind));
    for (kind, losses) in &refused.chunk_by(|((kind, _), _)| *kind) {
        let losses: Vec<_> = losses.sorted_by_key(|(_, loss)| Reverse(loss.lost)).collect();
        let named = losses.iter().take(MAX_NAMED).map(|((_, owner), loss)| {
            let main_gainer = loss.gained_by.iter().max_by_key(|&(_, count)| count);
            let gained = main_gainer.map(|(next, count)| format!(" ({count} to {next})"));
            format!("{owner} {} of {}{}", loss.lost, loss.exchanges, gained.unwrap_or_default())
        });
        let mut first = named.collect::<Vec<_>>().join("; ");
        let (count, name) = (losses.len(), OWNERS[kind].0);
        if count > MAX_NAMED {
            first += &format!(" and {} more", count - MAX_NAMED);
        }
        let reason = format!(
            "{count} {name}{} would lose or change exchanges compared with version {}: {first}; check \
             whether a file is truncated or a column has the same value everywhere",
            if count == 1 { "" } else { "s" },
            older.snapshot.version
        );
        refusals.push(Refusal::new(Gate::Losses, reason));
    }
}

pub(super) fn exchange(record: &Option<Record>) -> Option<&Exchange> {
    match record {
        Some(Record::Exchange(exchange)) => Some(exchange),
        _ => None,
    }
}
