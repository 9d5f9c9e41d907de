//! The history of the data: the publications that follow each other, and the difference that each one made.
//!
//! A publication makes a version current, by an import or a rollback. It refers to the one before, and the manifest
//! refers to the newest, so one write adds a publication. Others are left behind by imports that were overtaken or died,
//! and nothing refers to them.

use std::collections::HashMap;

use jiff::Timestamp;
use numbering::records::Version;
use serde::{Deserialize, Serialize};

/// A version that became current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    /// A unique name. Imports use the version; a rollback has its own, since its version was current before.
    pub id: Version,
    pub version: Version,
    /// One more than its predecessor's.
    pub number: u32,
    /// The time at which it became current, by the clock of the machine that published it.
    pub at: Timestamp,
}

/// A publication, and where to find its difference from the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedDifference {
    pub publication: Publication,
    pub predecessor: Publication,
    /// The number of records that differ.
    pub changes: u32,
    /// The hash of the packed difference.
    pub(crate) hash: String,
    /// The end of its time in the history, in Unix seconds.
    pub(crate) ends_at: i64,
}

/// Publications that follow each other without a gap, and their differences.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The first publication, whose difference is unknown.
    start: Publication,
    /// Oldest first.
    differences: Vec<PublishedDifference>,
}

impl PublishedDifference {
    pub fn new(
        publication: Publication,
        predecessor: Publication,
        changes: u32,
        packed: &[u8],
        ends_at: Timestamp,
    ) -> Self {
        let hash = crate::manifest::snapshot_hash(packed);
        Self { publication, predecessor, changes, hash, ends_at: ends_at.as_second() }
    }
}

impl History {
    /// Follows the predecessors of the current publication, until a difference is missing or past its end.
    pub(crate) fn new(
        current: Publication,
        stored: Vec<PublishedDifference>,
        now: Timestamp,
    ) -> Self {
        let is_kept = |difference: &PublishedDifference| difference.ends_at > now.as_second();
        let mut stored: HashMap<Version, PublishedDifference> = stored
            .into_iter()
            .filter(is_kept)
            .map(|difference| (difference.publication.id.clone(), difference))
            .collect();
        let mut history = Self { start: current, differences: Vec::new() };
        while let Some(difference) = stored.remove(&history.start.id) {
            history.start = difference.predecessor.clone();
            history.differences.push(difference);
        }
        history.differences.reverse();
        history
    }

    pub fn start(&self) -> &Publication {
        &self.start
    }

    pub fn current(&self) -> &Publication {
        self.differences.last().map_or(&self.start, |newest| &newest.publication)
    }

    /// The publication at a position, from the oldest at zero.
    pub fn publication(&self, position: usize) -> Option<&Publication> {
        self.publications().nth(position)
    }

    /// Every publication, oldest first.
    pub fn publications(&self) -> impl DoubleEndedIterator<Item = &Publication> {
        let later = self.differences.iter().map(|difference| &difference.publication);
        [&self.start].into_iter().chain(later)
    }

    /// The differences that were published after the publication at a position, oldest first.
    pub fn differences_after(&self, position: usize) -> &[PublishedDifference] {
        self.differences.get(position..).unwrap_or_default()
    }

    /// The position of the publication that was current at a time; `None` before the first one. If a clock was wrong,
    /// the last one that is not later.
    pub fn position_at(&self, time: Timestamp) -> Option<usize> {
        self.last_position(|publication| publication.at <= time)
    }

    /// The position of the publication with this ID, or of the last one of this version.
    pub fn position_of(&self, name: &Version) -> Option<usize> {
        self.last_position(|publication| publication.id == *name)
            .or_else(|| self.last_position(|publication| publication.version == *name))
    }

    fn last_position(&self, matches: impl Fn(&Publication) -> bool) -> Option<usize> {
        let publications: Vec<&Publication> = self.publications().collect();
        publications.into_iter().rposition(matches)
    }

    /// The position of each publication, by ID.
    pub(crate) fn positions(&self) -> HashMap<&Version, usize> {
        self.publications().map(|publication| &publication.id).zip(0..).collect()
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;

    fn publications<const N: usize>() -> [Publication; N] {
        let start: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        std::array::from_fn(|index| {
            let at = start + (24 * index as i64).hours();
            let id = Version::new(at);
            Publication { version: id.clone(), id, number: index as u32, at }
        })
    }

    fn difference(predecessor: &Publication, publication: &Publication) -> PublishedDifference {
        let ends_at = publication.at + (24 * 10).hours();
        PublishedDifference::new(publication.clone(), predecessor.clone(), 1, b"", ends_at)
    }

    #[test]
    fn a_history_has_only_publications_that_led_to_the_current_one() {
        let [first, second, overtaken, third, rollback] = publications();
        let rollback = Publication { version: second.version.clone(), ..rollback };
        let stored = vec![
            difference(&third, &rollback),
            difference(&second, &overtaken),
            difference(&second, &third),
            difference(&first, &second),
        ];
        let history = History::new(rollback.clone(), stored.clone(), rollback.at);
        assert_eq!(
            history.publications().collect::<Vec<_>>(),
            [&first, &second, &third, &rollback]
        );
        assert_eq!((history.start(), history.current()), (&first, &rollback));
        assert_eq!(history.differences_after(3), []);
        assert_eq!(history.differences_after(2), &stored[..1]);
        assert_eq!(history.position_of(&second.id), Some(1));
        assert_eq!(history.position_of(&rollback.id), Some(3));
        assert_eq!(history.position_of(&overtaken.id), None);
        // Before the rollback.
        let history = History::new(third.clone(), stored, third.at);
        assert_eq!(history.current(), &third);
    }

    #[test]
    fn a_history_begins_before_the_first_difference_that_is_kept() {
        let all = publications::<4>();
        let stored: Vec<_> = all.array_windows().map(|[one, next]| difference(one, next)).collect();
        let now = all[1].at + (24 * 10).hours();
        let history = History::new(all[3].clone(), stored.clone(), now);
        assert_eq!(history.start(), &all[1]);
        assert_eq!(history.differences_after(0).len(), 2);
        let without_second = vec![stored[0].clone(), stored[2].clone()];
        assert_eq!(History::new(all[3].clone(), without_second, all[3].at).start(), &all[2]);
        let history = History::new(all[0].clone(), Vec::new(), now);
        assert_eq!((history.start(), history.current()), (&all[0], &all[0]));
    }

    #[test]
    fn the_publication_at_a_time_is_the_last_one_that_is_not_later() {
        let [first, second, third] = publications();
        let wrong = Publication { at: third.at + (24 * 365).hours(), ..second };
        let stored = vec![difference(&first, &wrong), difference(&wrong, &third)];
        let history = History::new(third.clone(), stored, third.at);
        assert_eq!(history.position_at(first.at - 1.second()), None);
        assert_eq!(history.position_at(third.at - 1.second()), Some(0));
        assert_eq!(history.position_at(third.at), Some(2));
    }
}
