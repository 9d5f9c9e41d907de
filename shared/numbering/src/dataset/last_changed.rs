//! Which version last changed each record of a dataset.
//!
//! An item of the lookup tables names the version that wrote it. A reader uses the item only if the
//! dataset names the same version for its record. Since no two imports share a name, and each
//! writes a record once, the item then holds the record as the dataset has it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Dataset;
use crate::records::{NpaNxx, Record, RecordKey, Version};

/// A version for each record, as an index in the versions that still have records.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LastChanged {
    versions: Vec<Version>,
    carriers: Vec<u32>,
    area_codes: Vec<u32>,
    exchanges: Vec<u32>,
}

impl Dataset {
    /// Makes this dataset the version `version`, which follows `base`. A record that is the same in
    /// `base` keeps the version that last changed it there; any other was last changed in
    /// `version`.
    pub fn following(mut self, base: &Dataset, version: Version) -> Self {
        let mut versions = VersionIndexes::default();
        let mut carriers = Vec::with_capacity(self.carriers.len());
        let mut area_codes = Vec::with_capacity(self.area_codes.len());
        let mut exchanges = Vec::with_capacity(self.rows.len());
        for record in self.records() {
            let key = record.key();
            let is_unchanged = base.record_of(key).as_ref() == Some(&record);
            let unchanged_since = base.last_changed(key).filter(|_| is_unchanged);
            let index = versions.index_of(unchanged_since.unwrap_or(&version));
            match key {
                RecordKey::Carrier(_) => carriers.push(index),
                RecordKey::AreaCode(_) => area_codes.push(index),
                RecordKey::Exchange(_) => exchanges.push(index),
            }
        }
        self.last_changed =
            LastChanged { versions: versions.versions, carriers, area_codes, exchanges };
        self
    }

    /// The version that last changed the record of this key; `None` if there is no such record.
    pub fn last_changed(&self, key: RecordKey) -> Option<&Version> {
        let column = match key {
            RecordKey::Carrier(_) => &self.last_changed.carriers,
            RecordKey::AreaCode(_) => &self.last_changed.area_codes,
            RecordKey::Exchange(_) => &self.last_changed.exchanges,
        };
        let version = *column.get(self.position(key)?)?;
        self.last_changed.versions.get(version as usize)
    }

    /// The record of this key.
    pub fn record_of(&self, key: RecordKey) -> Option<Record> {
        match key {
            RecordKey::Carrier(ocn) => self.carrier(ocn).cloned().map(Record::Carrier),
            RecordKey::AreaCode(npa) => self.area_code(npa).cloned().map(Record::AreaCode),
            RecordKey::Exchange(npa_nxx) => self.exchange(npa_nxx).map(Record::Exchange),
        }
    }

    /// The index of the record of this key among the records of its kind.
    fn position(&self, key: RecordKey) -> Option<usize> {
        let position = match key {
            RecordKey::Carrier(ocn) => {
                self.carriers.binary_search_by_key(&ocn, |carrier| carrier.ocn)
            }
            RecordKey::AreaCode(npa) => {
                self.area_codes.binary_search_by_key(&npa, |area_code| area_code.npa)
            }
            RecordKey::Exchange(NpaNxx { npa, nxx }) => {
                self.rows.binary_search_by_key(&(npa, nxx), |row| (row.npa, row.nxx))
            }
        };
        position.ok()
    }
}

/// Versions in the order in which they are first seen, each with its index.
#[derive(Default)]
struct VersionIndexes {
    versions: Vec<Version>,
    indexes: HashMap<Version, u32>,
}

impl VersionIndexes {
    fn index_of(&mut self, version: &Version) -> u32 {
        if let Some(&index) = self.indexes.get(version) {
            return index;
        }
        let index = self.versions.len() as u32;
        self.versions.push(version.clone());
        self.indexes.insert(version.clone(), index);
        index
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

    /// The example without its exchange 415-300, and with another rate center in 415-555.
    fn changed() -> Dataset {
        let dataset = example();
        let mut exchanges: Vec<_> = dataset.exchanges().collect();
        exchanges.retain(|exchange| exchange.npa_nxx().to_string() != "415-300");
        for exchange in &mut exchanges {
            if exchange.npa_nxx().to_string() == "415-555" {
                exchange.rate_center = Some("ELSEWHERE".to_owned());
            }
        }
        Dataset::new(dataset.carriers().to_vec(), dataset.area_codes().to_vec(), exchanges)
    }

    #[test]
    fn a_record_keeps_its_version_until_it_changes() {
        let [first, second] = [0, 1].map(|_| Version::new(Timestamp::UNIX_EPOCH));
        let base = example().following(&Dataset::default(), first.clone());
        assert!(base.records().all(|record| base.last_changed(record.key()) == Some(&first)));

        let next = changed().following(&base, second.clone());
        assert_eq!(next.last_changed(key("415-200")), Some(&first));
        assert_eq!(next.last_changed(key("415-555")), Some(&second));
        assert_eq!(next.last_changed(key("415-300")), None);
        assert_eq!(next.last_changed(RecordKey::Carrier("6010".parse().unwrap())), Some(&first));

        // A record that comes back after it was gone is as new as one that never existed.
        let third = Version::new(Timestamp::UNIX_EPOCH);
        let again = example().following(&next, third.clone());
        assert_eq!(again.last_changed(key("415-300")), Some(&third));
        assert_eq!(again.last_changed(key("415-555")), Some(&third));
        assert_eq!(again.last_changed(key("415-200")), Some(&first));
        // No record names the second version any longer.
        assert_eq!(again.last_changed.versions, [first, third]);
    }
}
