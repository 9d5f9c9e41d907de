//! The version that last changed each record in a dataset.
//!
//! An item in the lookup tables names the version that wrote it. A reader uses the item only if the dataset
//! names the same version for its record. No two imports share a version, and each writes a record once, so
//! the item then matches the dataset.

use std::collections::HashMap;

use super::{
    Dataset,
    columns::{Numbers, Reader, Strings, Writer},
};
use crate::records::{Record, RecordKey, Version};

/// The version of each record, as an index into the list of versions that still have records.
#[derive(Debug)]
pub(super) struct LastChanged {
    /// Empty until [`Dataset::into_successor`] gives the dataset a version.
    versions: Strings,
    /// One column each for carriers, area codes and exchanges.
    columns: [Numbers; 3],
}

impl LastChanged {
    pub(super) fn read(reader: &mut Reader) -> Option<Self> {
        Some(Self {
            versions: reader.strings()?,
            columns: [reader.numbers()?, reader.numbers()?, reader.numbers()?],
        })
    }

    /// Writes the columns of a dataset that has no version yet.
    pub(super) fn write_none(writer: &mut Writer) {
        writer.strings([""; 0].into_iter());
        [[]; 3].into_iter().for_each(|no_numbers| writer.numbers(no_numbers));
    }
}

impl Dataset {
    /// Makes this dataset `version`, the successor of `base`. Records equal to those in `base` keep the version
    /// that last changed them; all others get `version`.
    pub fn into_successor(self, base: &Dataset, version: Version) -> Self {
        let mut versions: Vec<Version> = Vec::new();
        let mut indexes: HashMap<Version, u32> = HashMap::new();
        let mut columns = [const { Vec::new() }; 3];
        for record in self.records() {
            let key = record.key();
            let is_unchanged = base.record(key).as_ref() == Some(&record);
            let unchanged_since = base.last_changed(key).filter(|_| is_unchanged);
            let changed_in = unchanged_since.unwrap_or_else(|| version.clone());
            let index = *indexes.entry(changed_in).or_insert_with_key(|version| {
                versions.push(version.clone());
                versions.len() as u32 - 1
            });
            columns[column_index(key)].push(index);
        }
        let mut writer = Writer(self.body[..self.versions_start].to_vec());
        writer.strings(versions.iter().map(Version::as_str));
        for column in columns {
            writer.numbers(column);
        }
        Self::from_writer(writer)
    }

    /// The version that last changed the record with this key, if it exists.
    pub fn last_changed(&self, key: RecordKey) -> Option<Version> {
        let LastChanged { versions, columns } = &self.last_changed;
        let (column, position) = (&columns[column_index(key)], self.position(key)?);
        (versions.count() > 0).then(|| Version::from_name(versions.get(column.get(position))))
    }

    /// The record with this key.
    pub fn record(&self, key: RecordKey) -> Option<Record> {
        match key {
            RecordKey::Carrier(ocn) => self.carrier(ocn).map(Record::Carrier),
            RecordKey::AreaCode(npa) => self.area_code(npa).map(Record::AreaCode),
            RecordKey::Exchange(npa_nxx) => self.exchange(npa_nxx).map(Record::Exchange),
        }
    }

    /// The position of this record among records of its kind.
    fn position(&self, key: RecordKey) -> Option<usize> {
        match key {
            RecordKey::Carrier(ocn) => self.carriers.position(ocn),
            RecordKey::AreaCode(npa) => self.area_codes.position(npa),
            RecordKey::Exchange(npa_nxx) => self.row_of(npa_nxx),
        }
    }
}

fn column_index(key: RecordKey) -> usize {
    match key {
        RecordKey::Carrier(_) => 0,
        RecordKey::AreaCode(_) => 1,
        RecordKey::Exchange(_) => 2,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::dataset::tests::example;

    fn key(npa_nxx: &str) -> RecordKey {
        RecordKey::Exchange(npa_nxx.parse().unwrap())
    }

    /// The example without exchange 415-300, and with a different rate center in 415-555.
    fn changed_example() -> Dataset {
        let dataset = example();
        let mut exchanges: Vec<_> = dataset.exchanges().collect();
        exchanges.remove(1);
        exchanges[1].rate_center = Some("ELSEWHERE".to_owned());
        Dataset::new(dataset.carriers().collect(), dataset.area_codes().collect(), exchanges)
    }

    #[test]
    fn a_record_keeps_its_version_until_it_changes() {
        let [first, second] = [0, 1].map(|_| Version::new(Timestamp::UNIX_EPOCH));
        let base = example().into_successor(&Dataset::default(), first.clone());
        assert!(
            base.records().all(|record| base.last_changed(record.key()).as_ref() == Some(&first))
        );

        let next = changed_example().into_successor(&base, second.clone());
        assert_eq!(next.last_changed(key("415-200")).as_ref(), Some(&first));
        assert_eq!(next.last_changed(key("415-555")).as_ref(), Some(&second));
        assert_eq!(next.last_changed(key("415-300")), None);
        assert_eq!(
            next.last_changed(RecordKey::Carrier("6010".parse().unwrap())).as_ref(),
            Some(&first)
        );

        // A record that was removed and comes back counts as new.
        let third = Version::new(Timestamp::UNIX_EPOCH);
        let again = example().into_successor(&next, third.clone());
        assert_eq!(again.last_changed(key("415-300")).as_ref(), Some(&third));
        assert_eq!(again.last_changed(key("415-555")).as_ref(), Some(&third));
        assert_eq!(again.last_changed(key("415-200")).as_ref(), Some(&first));
        // No record refers to the second version anymore.
        let versions = &again.last_changed.versions;
        assert_eq!([versions.get(0), versions.get(1)], [first.as_str(), third.as_str()]);
        assert_eq!(versions.count(), 2);
    }
}
