//! Which version last changed each record of a dataset.
//!
//! An item of the lookup tables names the version that wrote it. It counts only if the dataset
//! names the same one for its record: since no two imports share a name, and each writes one value
//! a record, the item then holds that record and no other.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::Dataset;
use crate::records::{NpaNxx, Record, RecordKey, Version};

/// A version for each record, kept as its place among the versions that still have records.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LastChanged {
    versions: Vec<Version>,
    carriers: Vec<u32>,
    area_codes: Vec<u32>,
    exchanges: Vec<u32>,
}

impl Dataset {
    /// This dataset as `version`, which follows `base`: a record that `base` has alike keeps the
    /// version that last changed it there; every other was last changed in `version`.
    pub fn following(mut self, base: &Dataset, version: Version) -> Self {
        let mut names = Names::default();
        let mut places = self.records().map(|record| {
            let unchanged = base.record_of(record.key()).as_ref() == Some(&record);
            let kept = base.last_changed(record.key()).filter(|_| unchanged);
            names.place_of(kept.unwrap_or(&version))
        });
        let mut take = |count: usize| places.by_ref().take(count).collect::<Vec<u32>>();
        let carriers = take(self.carriers.len());
        let area_codes = take(self.area_codes.len());
        let exchanges = take(self.rows.len());
        drop(places);
        self.last_changed =
            LastChanged { versions: names.versions, carriers, area_codes, exchanges };
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

    /// Where the record of this key stands among the records of its kind.
    fn position(&self, key: RecordKey) -> Option<usize> {
        let position = match key {
            RecordKey::Carrier(ocn) => self.carriers.binary_search_by_key(&ocn, |it| it.ocn),
            RecordKey::AreaCode(npa) => self.area_codes.binary_search_by_key(&npa, |it| it.npa),
            RecordKey::Exchange(NpaNxx { npa, nxx }) => {
                self.rows.binary_search_by_key(&(npa, nxx), |row| (row.npa, row.nxx))
            }
        };
        position.ok()
    }
}

/// Versions in the order in which they are first met.
#[derive(Default)]
struct Names {
    versions: Vec<Version>,
    places: HashMap<Version, u32>,
}

impl Names {
    fn place_of(&mut self, version: &Version) -> u32 {
        if let Some(&place) = self.places.get(version) {
            return place;
        }
        let place = self.versions.len() as u32;
        self.versions.push(version.clone());
        self.places.insert(version.clone(), place);
        place
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
        let exchanges = dataset.exchanges().filter(|it| it.npa_nxx().to_string() != "415-300");
        let moved = exchanges.map(|mut exchange| {
            if exchange.npa_nxx().to_string() == "415-555" {
                exchange.rate_center = Some("ELSEWHERE".to_owned());
            }
            exchange
        });
        let moved = moved.collect();
        Dataset::new(dataset.carriers().to_vec(), dataset.area_codes().to_vec(), moved)
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

        // What vanished and comes back is as new as what never was.
        let third = Version::new(Timestamp::UNIX_EPOCH);
        let again = example().following(&next, third.clone());
        assert_eq!(again.last_changed(key("415-300")), Some(&third));
        assert_eq!(again.last_changed(key("415-555")), Some(&third));
        assert_eq!(again.last_changed(key("415-200")), Some(&first));
        // No record names the second version any longer.
        assert_eq!(again.last_changed.versions, [first, third]);
    }
}
