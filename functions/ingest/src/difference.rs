//! What sets two versions of the data apart, record by record.

use std::collections::BTreeMap;

use itertools::{EitherOrBoth, Itertools};
use numbering::dataset::Dataset;
use numbering::records::{Npa, Record, RecordKey};
use serde::Serialize;

/// How many records were added, removed and changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
}

impl Delta {
    fn count(&mut self, pair: &Pair) {
        match (&pair.before, &pair.after) {
            (None, Some(_)) => self.added += 1,
            (Some(_), None) => self.removed += 1,
            _ => self.changed += 1,
        }
    }

    pub fn total(self) -> u32 {
        self.added + self.removed + self.changed
    }
}

/// The differences between two versions, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    pub exchanges: Delta,
    pub carriers: Delta,
    pub area_codes: Delta,
    /// Of the exchanges, by area code.
    pub by_area_code: BTreeMap<Npa, Delta>,
}

impl Differences {
    pub(crate) fn total(&self) -> u32 {
        self.exchanges.total() + self.carriers.total() + self.area_codes.total()
    }

    pub(crate) fn between(before: &Dataset, after: &Dataset) -> Self {
        let mut counted = Self::default();
        for pair in pairs(before, after).filter(Pair::differs) {
            match pair.key {
                RecordKey::Carrier(_) => counted.carriers.count(&pair),
                RecordKey::AreaCode(_) => counted.area_codes.count(&pair),
                RecordKey::Exchange(npa_nxx) => {
                    counted.exchanges.count(&pair);
                    counted.by_area_code.entry(npa_nxx.npa).or_default().count(&pair);
                }
            }
        }
        counted
    }
}

/// One record in both versions.
pub(crate) struct Pair {
    pub key: RecordKey,
    pub before: Option<Record>,
    pub after: Option<Record>,
}

impl Pair {
    pub fn differs(&self) -> bool {
        self.before != self.after
    }
}

/// Every record of either version, by key; made only as they are taken.
pub(crate) fn pairs(before: &Dataset, after: &Dataset) -> impl Iterator<Item = Pair> {
    let joined = before.records().merge_join_by(after.records(), |a, b| a.key().cmp(&b.key()));
    joined.map(|either| match either {
        EitherOrBoth::Left(before) => Pair { key: before.key(), before: Some(before), after: None },
        EitherOrBoth::Right(after) => Pair { key: after.key(), before: None, after: Some(after) },
        EitherOrBoth::Both(before, after) => {
            Pair { key: before.key(), before: Some(before), after: Some(after) }
        }
    })
}
