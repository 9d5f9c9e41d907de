//! States, carriers and area codes that lose their exchanges: too few of all records to be noticed
//! otherwise, and too many of one.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Display};

use itertools::Itertools;
use numbering::records::{Exchange, Npa, Ocn, Record, StateCode};

use super::{FEWEST, MeasuredVersion, Refusal};
use crate::{
    difference::RecordPair,
    quality::{is_comparable, percent},
};

/// A state or a carrier with fewer exchanges is not looked at.
const SMALLEST: u32 = 500;
/// The most exchanges that a state may lose, in percent: an exchange does not move.
const STATE_PERCENT: f64 = 10.0;
/// The most exchanges that a carrier may lose, in percent. Carriers sell parts of their networks.
const CARRIER_PERCENT: f64 = 50.0;
/// The most exchanges of an area code that may be removed or changed, in percent. In a month at most 12
/// of up to 800 were assigned.
const AREA_CODE_PERCENT: f64 = 10.0;

/// The exchanges that states, carriers and area codes of an older version lose.
#[derive(Default)]
pub(super) struct Losses {
    before: u32,
    after: u32,
    states: BTreeMap<StateCode, Loss<StateCode>>,
    carriers: BTreeMap<Ocn, Loss<Ocn>>,
    area_codes: BTreeMap<Npa, AreaCodeLoss>,
}

/// What one state or carrier loses.
struct Loss<T> {
    exchanges: u32,
    lost: u32,
    /// How many of the lost ones another state or carrier has.
    gained_by: BTreeMap<T, u32>,
}

/// What one area code loses.
#[derive(Default)]
struct AreaCodeLoss {
    exchanges: u32,
    removed: u32,
    /// Those that are removed or changed.
    differing: u32,
}

impl<T> Default for Loss<T> {
    fn default() -> Self {
        Self { exchanges: 0, lost: 0, gained_by: BTreeMap::new() }
    }
}

impl<T: Ord + Copy + Display> Loss<T> {
    /// Counts an exchange of `owner` that `next` has afterwards.
    fn count(all: &mut BTreeMap<T, Self>, owner: Option<T>, next: Option<T>) {
        let Some(owner) = owner else { return };
        let loss = all.entry(owner).or_default();
        loss.exchanges += 1;
        if next != Some(owner) {
            loss.lost += 1;
            if let Some(next) = next {
                *loss.gained_by.entry(next).or_default() += 1;
            }
        }
    }

    fn is_refused(&self, most_percent: f64) -> bool {
        self.exchanges >= SMALLEST && percent(self.lost, self.exchanges) > most_percent
    }

    fn in_words(&self, owner: T) -> String {
        let most = self.gained_by.iter().max_by_key(|&(_, count)| count);
        let gained = most.map(|(next, count)| format!(", {count} of them to {next}"));
        format!("{owner} {} of {}{}", self.lost, self.exchanges, gained.unwrap_or_default())
    }
}

impl AreaCodeLoss {
    fn is_refused(&self) -> bool {
        let share = percent(self.differing, self.exchanges);
        self.removed == self.exchanges || self.differing >= FEWEST && share > AREA_CODE_PERCENT
    }
}

impl Losses {
    /// Counts the record of one key, if it is an exchange; `differs` says whether it is removed or
    /// changed.
    pub fn count(&mut self, pair: &RecordPair, differs: bool) {
        let after = exchange(&pair.after);
        self.after += u32::from(after.is_some());
        let Some(before) = exchange(&pair.before) else { return };
        self.before += 1;
        Loss::count(&mut self.states, before.state, after.and_then(|after| after.state));
        Loss::count(&mut self.carriers, before.ocn, after.and_then(|after| after.ocn));
        let area_code = self.area_codes.entry(before.npa).or_default();
        area_code.exchanges += 1;
        area_code.removed += u32::from(after.is_none());
        area_code.differing += u32::from(differs);
    }

    pub fn refuse(self, older: &MeasuredVersion<'_>, refusals: &mut Vec<Refusal>) {
        if !is_comparable(self.before, self.after) {
            return;
        }
        let states = refused_losses(&self.states, STATE_PERCENT);
        let carriers = refused_losses(&self.carriers, CARRIER_PERCENT);
        let area_codes: Vec<(u32, String)> = self
            .area_codes
            .iter()
            .filter(|(_, loss)| loss.is_refused())
            .map(|(npa, loss)| {
                let AreaCodeLoss { exchanges, differing, .. } = loss;
                (*differing, format!("{npa} {differing} of {exchanges}"))
            })
            .collect();
        for (one, many, losses) in [
            ("state", "states", states),
            ("carrier", "carriers", carriers),
            ("area code", "area codes", area_codes),
        ] {
            let Some(most) = losses.iter().map(|(lost, _)| *lost).max() else { continue };
            let what = if losses.len() == 1 { one } else { many };
            refusals.push(Refusal::Lost {
                what,
                count: losses.len(),
                most,
                version: older.version.clone(),
                first: first_of(losses),
            });
        }
    }
}

fn exchange(record: &Option<Record>) -> Option<&Exchange> {
    match record {
        Some(Record::Exchange(exchange)) => Some(exchange),
        _ => None,
    }
}

/// The losses that are too large, each with its number.
fn refused_losses<T: Ord + Copy + Display>(
    losses: &BTreeMap<T, Loss<T>>,
    most_percent: f64,
) -> Vec<(u32, String)> {
    let refused = losses.iter().filter(|(_, loss)| loss.is_refused(most_percent));
    refused.map(|(&owner, loss)| (loss.lost, loss.in_words(owner))).collect()
}

/// The number of losses that a refusal names.
const NAMED: usize = 5;

/// The largest losses in words, and how many more there are.
fn first_of(losses: Vec<(u32, String)>) -> String {
    let more = losses.len().saturating_sub(NAMED);
    let largest = losses.into_iter().sorted_by_key(|&(lost, _)| Reverse(lost));
    let named = largest.take(NAMED).map(|(_, text)| text).join("; ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
