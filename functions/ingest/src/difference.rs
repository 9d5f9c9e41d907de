//! Which records differ between two versions of the data.

use std::collections::BTreeMap;

use itertools::{EitherOrBoth, Itertools};
use numbering::dataset::Dataset;
use numbering::records::{Npa, Record, RecordKey};
use serde::Serialize;

/// The differences between two versions, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    pub exchanges: Delta,
    pub carriers: Delta,
    pub area_codes: Delta,
    /// The differences among the exchanges, by area code.
    pub by_area_code: BTreeMap<Npa, Delta>,
}

/// How many records were added, removed and changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
}

impl Delta {
    /// How many records differ.
    pub fn total(self) -> u32 {
        self.added + self.removed + self.changed
    }

    /// Counts a record that differs.
    fn count(&mut self, pair: &RecordPair) {
        match (&pair.before, &pair.after) {
            (None, Some(_)) => self.added += 1,
            (Some(_), None) => self.removed += 1,
            _ => self.changed += 1,
        }
    }
}

impl Differences {
    /// How many records differ, of all kinds.
    pub(crate) fn total(&self) -> u32 {
        self.exchanges.total() + self.carriers.total() + self.area_codes.total()
    }

    /// Counts a record that differs.
    fn count(&mut self, pair: &RecordPair) {
        match pair.key {
            RecordKey::Carrier(_) => self.carriers.count(pair),
            RecordKey::AreaCode(_) => self.area_codes.count(pair),
            RecordKey::Exchange(npa_nxx) => {
                self.exchanges.count(pair);
                self.by_area_code.entry(npa_nxx.npa).or_default().count(pair);
            }
        }
    }
}

/// The differences between two versions, counted and by key. Both come from one pass, since the
/// records of a dataset are made anew each time they are walked through.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub differences: Differences,
    /// The keys of all records that were added, removed or changed, in order.
    pub changed_keys: Vec<RecordKey>,
}

impl Comparison {
    /// Compares all records of two versions.
    pub fn between(before: &Dataset, after: &Dataset) -> Self {
        let mut differences = Differences::default();
        let mut changed_keys = Vec::new();
        for pair in record_pairs(before, after).filter(RecordPair::differs) {
            differences.count(&pair);
            changed_keys.push(pair.key);
        }
        Self { differences, changed_keys }
    }
}

/// The record of one key in two versions; at least one of them has it.
#[derive(Debug)]
pub(crate) struct RecordPair {
    pub key: RecordKey,
    pub before: Option<Record>,
    pub after: Option<Record>,
}

impl RecordPair {
    /// Whether the versions hold different records.
    pub fn differs(&self) -> bool {
        self.before != self.after
    }
}

/// The records of both versions side by side, in the order of their keys.
pub(crate) fn record_pairs(before: &Dataset, after: &Dataset) -> impl Iterator<Item = RecordPair> {
    let joined = before
        .records()
        .merge_join_by(after.records(), |before, after| before.key().cmp(&after.key()));
    joined.map(|either| match either {
        EitherOrBoth::Left(before) => {
            RecordPair { key: before.key(), before: Some(before), after: None }
        }
        EitherOrBoth::Right(after) => {
            RecordPair { key: after.key(), before: None, after: Some(after) }
        }
        EitherOrBoth::Both(before, after) => {
            RecordPair { key: before.key(), before: Some(before), after: Some(after) }
        }
    })
}

#[cfg(test)]
mod tests {
    use numbering::records::{Carrier, Exchange, Status};

    use super::*;
    use crate::quality::tests::{area_code, carrier, exchange};

    fn exchanges(all: &[(&str, Status)]) -> Vec<Exchange> {
        all.iter().map(|&(npa_nxx, status)| exchange(npa_nxx, None, "SNFC", status)).collect()
    }

    /// Two versions. Of each kind one record stays equal, and others are added, removed and changed.
    fn before_and_after() -> (Dataset, Dataset) {
        let before = Dataset::new(
            vec![
                carrier("0051", "Equal", 1),
                carrier("0052", "Old", 1),
                carrier("0053", "Gone", 1),
            ],
            ["201", "202", "203", "415"].map(|npa| area_code(npa, 1)).to_vec(),
            exchanges(&[
                ("415-200", Status::Assigned),
                ("415-201", Status::Assigned),
                ("916-200", Status::Assigned),
            ]),
        );
        let after = Dataset::new(
            vec![carrier("0050", "New", 1), carrier("0051", "Equal", 1), carrier("0052", "New", 1)],
            vec![area_code("201", 1), area_code("415", 2), area_code("916", 1)],
            exchanges(&[
                ("415-200", Status::Assigned),
                ("415-201", Status::Reserved),
                ("415-202", Status::Assigned),
                ("707-200", Status::Assigned),
            ]),
        );
        (before, after)
    }

    #[test]
    fn records_are_counted_by_kind_as_added_removed_or_changed() {
        let (before, after) = before_and_after();
        let differences = Comparison::between(&before, &after).differences;
        assert_eq!(differences.carriers, Delta { added: 1, removed: 1, changed: 1 });
        assert_eq!(differences.area_codes, Delta { added: 1, removed: 2, changed: 1 });
        assert_eq!(differences.exchanges, Delta { added: 2, removed: 1, changed: 1 });
        assert_eq!(differences.area_codes.total(), 4);
    }

    #[test]
    fn exchanges_are_also_counted_by_area_code() {
        let (before, after) = before_and_after();
        let counted = Comparison::between(&before, &after).differences.by_area_code;
        let expected = [
            ("415", Delta { added: 1, removed: 0, changed: 1 }),
            ("707", Delta { added: 1, ..Delta::default() }),
            ("916", Delta { removed: 1, ..Delta::default() }),
        ];
        assert_eq!(counted, expected.map(|(npa, delta)| (npa.parse().unwrap(), delta)).into());
    }

    #[test]
    fn the_keys_of_all_records_that_differ_come_in_order() {
        let (before, after) = before_and_after();
        let carriers = ["0050", "0052", "0053"].map(|ocn| RecordKey::Carrier(ocn.parse().unwrap()));
        let area_codes =
            ["202", "203", "415", "916"].map(|npa| RecordKey::AreaCode(npa.parse().unwrap()));
        let exchanges = ["415-201", "415-202", "707-200", "916-200"]
            .map(|npa_nxx| RecordKey::Exchange(npa_nxx.parse().unwrap()));
        let expected = [&carriers[..], &area_codes, &exchanges].concat();
        assert_eq!(Comparison::between(&before, &after).changed_keys, expected);
    }

    #[test]
    fn equal_versions_do_not_differ() {
        let (before, _) = before_and_after();
        let (same, _) = before_and_after();
        let comparison = Comparison::between(&before, &same);
        assert_eq!(comparison.differences, Differences::default());
        assert_eq!(comparison.changed_keys, []);
        assert_eq!(record_pairs(&before, &same).count(), 10, "equal records are paired, too");
    }

    #[test]
    fn a_first_version_adds_all_and_an_emptied_one_removes_all() {
        let (before, _) = before_and_after();
        let added = Comparison::between(&Dataset::default(), &before).differences;
        assert_eq!(added.exchanges, Delta { added: 3, ..Delta::default() });
        let removed = Comparison::between(&before, &Dataset::default()).differences;
        assert_eq!(removed.carriers, Delta { removed: 3, ..Delta::default() });
    }

    #[test]
    fn a_pair_holds_both_records_of_its_key() {
        let (before, after) = before_and_after();
        let key = RecordKey::Carrier("0052".parse().unwrap());
        let pair = record_pairs(&before, &after).find(|pair| pair.key == key).unwrap();
        let name = |record: &Option<Record>| match record {
            Some(Record::Carrier(Carrier { company_name, .. })) => company_name.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(name(&pair.before).as_deref(), Some("Old"));
        assert_eq!(name(&pair.after).as_deref(), Some("New"));
    }
}
