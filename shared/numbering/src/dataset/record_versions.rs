//! The version that last changed each record in a dataset.
//!
//! An item in the lookup tables names the version that wrote it. A reader uses the item only if the dataset
//! has the same version for the record. No two imports share a version, and each writes a record once, so
//! the item then matches the dataset.

use std::collections::HashMap;

use super::{
    Dataset,
    columns::{Columns, Numbers, Strings},
};
use crate::records::{Record, RecordKey, Version};

/// The version of each record, as an index into the list of versions in use.
#[derive(Debug)]
pub(super) struct RecordVersions {
    /// Empty until [`Dataset::into_successor`] gives the dataset a version.
    versions: Strings,
    /// In the order of [`Dataset::records`].
    indexes: Numbers,
}

impl RecordVersions {
    pub(super) fn write_or_read(
        columns: &mut Columns,
        versions: &[Version],
        indexes: Vec<u32>,
    ) -> Option<Self> {
        Some(Self {
            versions: columns.strings(versions.iter().map(Version::as_str))?,
            indexes: columns.numbers(indexes)?,
        })
    }
}

impl Dataset {
    /// Turns this dataset into `version`, the successor of `base`. Records equal to those in `base` have the version
    /// that last changed them; all others have `version`.
    pub fn into_successor(self, base: &Dataset, version: Version) -> Self {
        let mut versions: Vec<Version> = Vec::new();
        let mut known: HashMap<Version, u32> = HashMap::new();
        let mut indexes = Vec::new();
        for record in self.records() {
            let key = record.key();
            let is_unchanged = base.record(key).as_ref() == Some(&record);
            let unchanged_since = base.last_changed(key).filter(|_| is_unchanged);
            let changed_in = unchanged_since.unwrap_or_else(|| version.clone());
            indexes.push(*known.entry(changed_in).or_insert_with_key(|version| {
                versions.push(version.clone());
                versions.len() as u32 - 1
            }));
        }
        Self::written(self.body[..self.versions_start].to_vec(), |columns| {
            RecordVersions::write_or_read(columns, &versions, indexes)
        })
    }

    pub fn last_changed(&self, key: RecordKey) -> Option<Version> {
        let RecordVersions { versions, indexes } = &self.last_changed;
        let position = self.position(key)?;
        (versions.count() > 0).then(|| Version::from_name(versions.get(indexes.get(position))))
    }

    pub fn record(&self, key: RecordKey) -> Option<Record> {
        match key {
            RecordKey::Carrier(ocn) => self.carrier(ocn).map(Record::Carrier),
            RecordKey::AreaCode(npa) => self.area_code(npa).map(Record::AreaCode),
            RecordKey::Exchange(npa_nxx) => self.exchange(npa_nxx).map(Record::Exchange),
        }
    }

    /// The record's position among all records.
    fn position(&self, key: RecordKey) -> Option<usize> {
        let area_codes_start = self.carriers.count();
        let exchanges_start = area_codes_start + self.area_codes.count();
        match key {
            RecordKey::Carrier(ocn) => self.carriers.position(ocn),
            RecordKey::AreaCode(npa) => Some(area_codes_start + self.area_codes.position(npa)?),
            RecordKey::Exchange(npa_nxx) => Some(exchanges_start + self.row_of(npa_nxx)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::dataset::tests::{changed_example, example};

    #[test]
    fn record_version_changes_only_with_the_record() {
        let [first, second, third] = [(); 3].map(|()| Version::new(Timestamp::UNIX_EPOCH));
        let base = example().into_successor(&Dataset::default(), first.clone());
        let is_first = |record: Record| base.last_changed(record.key()).as_ref() == Some(&first);
        assert!(base.records().all(is_first));
        let next = changed_example().into_successor(&base, second.clone());
        // A record that was removed and added again counts as new.
        let again = example().into_successor(&next, third.clone());
        for (key, in_next, in_again) in [
            (RecordKey::Carrier("6010".parse().unwrap()), Some(&first), Some(&first)),
            (RecordKey::AreaCode("416".parse().unwrap()), Some(&first), Some(&first)),
            (RecordKey::Exchange("415-200".parse().unwrap()), Some(&second), Some(&third)),
            (RecordKey::Exchange("415-300".parse().unwrap()), None, Some(&third)),
            (RecordKey::Exchange("415-555".parse().unwrap()), Some(&second), Some(&third)),
        ] {
            assert_eq!(next.last_changed(key).as_ref(), in_next, "{key}");
            assert_eq!(again.last_changed(key).as_ref(), in_again, "{key}");
        }
        assert_eq!(again.last_changed.versions.count(), 2, "no record has the second version");
    }
}
