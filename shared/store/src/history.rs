//! The history of the data: consecutive publications, each with its difference from the previous one.
//!
//! A publication makes a version current, through an import or a rollback. It refers to the previous publication, and
//! the manifest refers to the newest, so a single write adds a publication. Imports that were overtaken or crashed
//! leave publications that nothing refers to.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use numbering::{
    changed_keys::ChangedKeys,
    changes::Difference,
    dataset::SnapshotError,
    records::{Npa, NpaNxx, RecordKey, Version},
};
use serde::{Deserialize, Serialize};

use crate::{Manifest, Snapshot, StoreError};

/// An eventually consistent read costs half a unit for every 4 KB, rounded up.
const BYTES_PER_READ: u32 = 4096;

/// A version that became current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// A unique name: the version for an import, or a new name for a rollback, whose version is not new.
    pub id: Version,
    pub version: Version,
    /// One more than the previous publication's number.
    pub number: u32,
    /// The time at which it became current, by the clock of the machine that published it.
    pub at: Timestamp,
    /// The time at which its difference leaves the history, in Unix seconds; `None` if the history starts with it.
    pub ends_at: Option<i64>,
}

/// A publication, and its difference from the previous one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedDifference {
    pub publication: Publication,
    pub predecessor: Publication,
    /// The keys of the records that differ.
    pub keys: ChangedKeys,
    pub bytes: u32,
    pub(crate) hash: String,
}

/// A publication whose difference has not been written. A later import writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnrecordedPublication {
    pub publication: Publication,
    pub predecessor: Publication,
    /// The previous version, which is stored until the difference is written.
    pub before: Snapshot,
}

/// Consecutive publications and their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    start: Publication,
    /// Oldest first.
    differences: Vec<PublishedDifference>,
    /// The reason why the difference of `start` is unknown, unless the history starts there.
    gap: Option<Gap>,
}

/// The reason why an earlier part of the history is unreadable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The publication's item is missing or damaged.
    Damaged,
    /// The publication's difference has not been written yet.
    Unrecorded,
}

impl PublishedDifference {
    /// Describes and packs the difference between a publication and the previous one.
    pub fn pack(
        publication: &Publication,
        predecessor: &Publication,
        difference: &Difference,
    ) -> Result<(Self, Vec<u8>), SnapshotError> {
        let packed = difference.pack()?;
        let (publication, predecessor) = (publication.clone(), predecessor.clone());
        let (keys, bytes) = (difference.keys(), packed.len() as u32);
        let hash = crate::manifest::snapshot_hash(&packed);
        Ok((Self { publication, predecessor, keys, bytes, hash }, packed))
    }

    /// Unpacks its difference, which takes milliseconds.
    pub fn unpack(&self, packed: &[u8]) -> Result<Difference, StoreError> {
        Difference::unpack(packed)
            .map_err(|error| StoreError::DamagedHistory { part: self.part(), source: error.into() })
    }

    /// The name of its difference in messages.
    pub(crate) fn part(&self) -> String {
        format!("the difference of publication {}", self.publication.id)
    }

    /// The read units needed to read its packed difference.
    pub fn read_units(&self) -> f64 {
        f64::from(self.bytes.div_ceil(BYTES_PER_READ)) / 2.0
    }
}

impl History {
    /// Follows the publications back from the manifest's, until one whose difference has expired or is unknown.
    pub fn new(manifest: &Manifest, stored: Vec<PublishedDifference>, now: Timestamp) -> Self {
        let mut stored: HashMap<Version, PublishedDifference> = stored
            .into_iter()
            .map(|difference| (difference.publication.id.clone(), difference))
            .collect();
        let start = manifest.publication.clone();
        let mut history = Self { start, differences: Vec::new(), gap: None };
        while history.start.ends_at.is_some_and(|ends_at| ends_at > now.as_second()) {
            let Some(difference) = stored.remove(&history.start.id) else {
                let is_start = |it: &UnrecordedPublication| it.publication.id == history.start.id;
                let is_unrecorded = manifest.unrecorded.iter().any(is_start);
                history.gap = Some(if is_unrecorded { Gap::Unrecorded } else { Gap::Damaged });
                break;
            };
            history.start = difference.predecessor.clone();
            history.differences.push(difference);
        }
        history.differences.reverse();
        history
    }

    /// The reason why an earlier part of the history is unreadable; `None` if it is complete.
    pub fn gap(&self) -> Option<Gap> {
        self.gap
    }

    /// Returns an error if an earlier part of the history is unreadable.
    pub fn check_complete(&self) -> Result<(), StoreError> {
        let id = || self.start.id.clone();
        match self.gap {
            None => Ok(()),
            Some(Gap::Unrecorded) => Err(StoreError::Unrecorded { publication: id() }),
            Some(Gap::Damaged) => {
                let part = format!("publication {}", id());
                Err(StoreError::DamagedHistory { part, source: "its item cannot be read".into() })
            }
        }
    }

    pub fn start(&self) -> &Publication {
        &self.start
    }

    /// The time of the first publication; `None` if an earlier part is unreadable.
    pub fn begins_at(&self) -> Option<Timestamp> {
        self.gap.is_none().then_some(self.start.at)
    }

    pub fn current(&self) -> &Publication {
        self.differences.last().map_or(&self.start, |newest| &newest.publication)
    }

    /// The publication at this position; 0 is the oldest.
    pub fn publication(&self, index: usize) -> Option<&Publication> {
        self.publications().nth(index)
    }

    /// Every publication, oldest first.
    pub fn publications(&self) -> impl DoubleEndedIterator<Item = &Publication> {
        let later = self.differences.iter().map(|difference| &difference.publication);
        [&self.start].into_iter().chain(later)
    }

    /// The differences published after the publication at this position, oldest first.
    pub fn differences_after(&self, position: usize) -> &[PublishedDifference] {
        self.differences.get(position..).unwrap_or_default()
    }

    /// The position of the publication that was current at a time; `None` before the first one. If clocks were wrong,
    /// the last one with a time that is not later.
    pub fn position_at(&self, time: Timestamp) -> Option<usize> {
        self.last_position(|publication| publication.at <= time)
    }

    /// The position of the publication with this ID, or otherwise of the last publication of this version.
    pub fn position_of(&self, name: &Version) -> Option<usize> {
        self.last_position(|publication| publication.id == *name)
            .or_else(|| self.last_position(|publication| publication.version == *name))
    }

    fn last_position(&self, matches: impl Fn(&Publication) -> bool) -> Option<usize> {
        let publications: Vec<&Publication> = self.publications().collect();
        publications.into_iter().rposition(matches)
    }

    /// The positions of the publications that changed a record, oldest first.
    pub fn changes_of(&self, key: RecordKey) -> impl DoubleEndedIterator<Item = usize> {
        let changed =
            move |difference: &PublishedDifference| difference.keys.existed(key).is_some();
        (1..=self.differences.len()).filter(move |at| changed(&self.differences[at - 1]))
    }

    /// The position of a record's first change after the publication at `position`, and whether the record existed
    /// before.
    pub fn first_change_after(&self, position: usize, key: RecordKey) -> Option<(usize, bool)> {
        let later = self.differences_after(position).iter().zip(position + 1..);
        later.filter_map(|(difference, at)| Some((at, difference.keys.existed(key)?))).next()
    }

    /// The exchanges in an area code that changed after the publication at `position`, and whether each existed before.
    pub fn exchanges_changed_after(&self, position: usize, npa: Npa) -> BTreeMap<NpaNxx, bool> {
        let mut existed = BTreeMap::new();
        for difference in self.differences_after(position) {
            for (npa_nxx, existed_before) in difference.keys.exchanges_in(npa) {
                existed.entry(npa_nxx).or_insert(existed_before);
            }
        }
        existed
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use jiff::ToSpan;
    use numbering::dataset::Dataset;

    use super::*;

    pub(crate) fn publications<const N: usize>() -> [Publication; N] {
        let start: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        std::array::from_fn(|index| {
            let at = start + (24 * index as i64).hours();
            let id = Version::new(at);
            let ends_at = (index > 0).then(|| (at + (24 * 10).hours()).as_second());
            Publication { version: id.clone(), id, number: index as u32, at, ends_at }
        })
    }

    pub(crate) fn difference(
        predecessor: &Publication,
        publication: &Publication,
    ) -> PublishedDifference {
        difference_with(predecessor, publication, &[])
    }

    fn difference_with(
        predecessor: &Publication,
        publication: &Publication,
        changes: &[(&str, bool)],
    ) -> PublishedDifference {
        let keys = ChangedKeys::new(changes.iter().map(|(key, existed)| (exchange(key), *existed)));
        let (publication, predecessor) = (publication.clone(), predecessor.clone());
        PublishedDifference { publication, predecessor, keys, bytes: 0, hash: String::new() }
    }

    fn exchange(npa_nxx: &str) -> RecordKey {
        RecordKey::Exchange(npa_nxx.parse().unwrap())
    }

    pub(crate) fn manifest(publication: &Publication) -> Manifest {
        let version = publication.version.clone();
        let snapshot = Snapshot::of(&Dataset::default(), version, publication.at);
        Manifest { publication: publication.clone(), ..Manifest::new(None, snapshot, |_| false) }
    }

    fn history(current: &Publication, stored: &[PublishedDifference], now: Timestamp) -> History {
        History::new(&manifest(current), stored.to_vec(), now)
    }

    #[test]
    fn history_has_only_predecessors_of_the_current_publication() {
        let [first, second, overtaken, third, rollback] = publications();
        let rollback = Publication { version: second.version.clone(), ..rollback };
        let stored = [
            difference(&third, &rollback),
            difference(&second, &overtaken),
            difference(&second, &third),
            difference(&first, &second),
        ];
        let found = history(&rollback, &stored, rollback.at);
        assert_eq!(found.publications().collect::<Vec<_>>(), [&first, &second, &third, &rollback]);
        assert_eq!((found.start(), found.current()), (&first, &rollback));
        assert!(found.check_complete().is_ok());
        assert_eq!(found.differences_after(3), []);
        assert_eq!(found.differences_after(2), &stored[..1]);
        assert_eq!(found.position_of(&second.id), Some(1));
        assert_eq!(found.position_of(&rollback.id), Some(3));
        assert_eq!(found.position_of(&overtaken.id), None);
        // The history before the rollback.
        assert_eq!(history(&third, &stored, third.at).current(), &third);
    }

    #[test]
    fn history_starts_with_the_first_unexpired_publication() {
        let all = publications::<4>();
        let stored: Vec<_> = all.array_windows().map(|[one, next]| difference(one, next)).collect();
        let end = Timestamp::from_second(all[1].ends_at.unwrap()).unwrap();
        for (now, start) in [(end - 1.second(), &all[0]), (end, &all[1])] {
            let found = history(&all[3], &stored, now);
            assert_eq!((found.start(), found.gap()), (start, None), "{now}");
        }
        let only = history(&all[0], &[], end);
        assert_eq!((only.start(), only.current(), only.gap()), (&all[0], &all[0], None));
    }

    /// Otherwise a request for an earlier time would return a shorter list, or an error that blames the client.
    #[test]
    fn missing_difference_is_damage_unless_listed_as_unrecorded() {
        let all = publications::<4>();
        let stored = [difference(&all[0], &all[1]), difference(&all[2], &all[3])];
        let mut manifest = manifest(&all[3]);
        let damaged = History::new(&manifest, stored.to_vec(), all[3].at);
        assert_eq!((damaged.start(), damaged.gap()), (&all[2], Some(Gap::Damaged)));
        let error = damaged.check_complete().unwrap_err();
        assert!(matches!(&error, StoreError::DamagedHistory { .. }), "{error:?}");

        let [predecessor, publication] = [&all[1], &all[2]].map(Clone::clone);
        let before = manifest.current.clone();
        manifest.unrecorded.push(UnrecordedPublication { publication, predecessor, before });
        let unrecorded = History::new(&manifest, stored.to_vec(), all[3].at);
        assert_eq!((unrecorded.start(), unrecorded.gap()), (&all[2], Some(Gap::Unrecorded)));
        let error = unrecorded.check_complete().unwrap_err();
        assert!(
            matches!(error, StoreError::Unrecorded { publication } if publication == all[2].id)
        );
    }

    #[test]
    fn keys_show_when_a_record_changed_and_whether_it_existed() {
        let [first, second, third] = publications();
        let stored = [
            difference_with(
                &first,
                &second,
                &[("415-200", false), ("415-201", true), ("416-200", true)],
            ),
            difference_with(&second, &third, &[("415-200", true), ("415-202", true)]),
        ];
        let history = history(&third, &stored, third.at);
        assert_eq!(history.changes_of(exchange("415-200")).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(history.changes_of(exchange("415-202")).collect::<Vec<_>>(), [2]);
        for (position, npa_nxx, expected) in [
            (0, "415-200", Some((1, false))),
            (1, "415-200", Some((2, true))),
            (2, "415-200", None),
            (0, "415-202", Some((2, true))),
            (1, "415-201", None),
        ] {
            assert_eq!(history.first_change_after(position, exchange(npa_nxx)), expected);
        }
        let changed = |position| -> Vec<String> {
            let changed = history.exchanges_changed_after(position, "415".parse().unwrap());
            changed.iter().map(|(npa_nxx, existed)| format!("{npa_nxx} {existed}")).collect()
        };
        assert_eq!(changed(0), ["415-200 false", "415-201 true", "415-202 true"]);
        assert_eq!(changed(1), ["415-200 true", "415-202 true"]);
        assert!(changed(2).is_empty());
    }

    #[test]
    fn difference_takes_half_a_unit_per_4_kb_rounded_up() {
        let [first, second] = publications();
        for (bytes, units) in [(1, 0.5), (4096, 0.5), (4097, 1.0)] {
            let difference = PublishedDifference { bytes, ..difference(&first, &second) };
            assert_eq!(difference.read_units(), units, "{bytes}");
        }
    }

    #[test]
    fn past_times_resolve_to_the_last_publication_at_or_before_them() {
        let [first, second, third] = publications();
        let wrong = Publication { at: third.at + (24 * 365).hours(), ..second };
        let stored = [difference(&first, &wrong), difference(&wrong, &third)];
        let history = history(&third, &stored, third.at);
        assert_eq!(history.position_at(first.at - 1.second()), None);
        assert_eq!(history.position_at(third.at - 1.second()), Some(0));
        assert_eq!(history.position_at(third.at), Some(2));
    }
}
