//! The differences between two versions: counts, and each added, removed or changed record with its differing fields.

use std::{collections::BTreeMap, fmt, sync::Arc};

use numbering::{
    changes::{ChangeKind, Difference, RecordChange, RecordKind, RecordPair, record_pairs},
    dataset::Dataset,
    records::{Npa, RecordKey},
};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::json;

/// The maximum number of changes listed in a report. [`Changes::iter`] returns all changes.
pub const MAX_LISTED: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    pub exchanges: Delta,
    pub carriers: Delta,
    pub area_codes: Delta,
    pub by_area_code: BTreeMap<Npa, Delta>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    pub added: u32,
    pub removed: u32,
    pub changed: u32,
}

/// The changes between two versions. A record's differing fields are computed on demand.
#[derive(Clone, Default)]
pub struct Changes {
    before: Arc<Dataset>,
    pub(crate) after: Arc<Dataset>,
    pub differences: Differences,
    /// The keys of all records that differ: exchanges by NPA-NXX, then area codes, then carriers by OCN.
    pub(crate) keys: Vec<RecordKey>,
}

impl Delta {
    pub fn total(self) -> u32 {
        self.added + self.removed + self.changed
    }

    fn count(&mut self, change: ChangeKind) {
        match change {
            ChangeKind::Added => self.added += 1,
            ChangeKind::Removed => self.removed += 1,
            ChangeKind::Changed => self.changed += 1,
        }
    }
}

/// A record's position in a list of changes: exchanges, area codes, then carriers.
fn list_position(key: RecordKey) -> (RecordKind, RecordKey) {
    (key.into(), key)
}

impl Changes {
    /// Compares all records in two versions. Counts them in the same pass, since each pass rebuilds every record.
    pub(crate) fn between(before: &Arc<Dataset>, after: &Arc<Dataset>) -> Self {
        let mut differences = Differences::default();
        let mut keys = Vec::new();
        for pair in record_pairs(before, after) {
            let Some(change) = pair.change() else { continue };
            keys.push(pair.key);
            match pair.key {
                RecordKey::Carrier(_) => differences.carriers.count(change),
                RecordKey::AreaCode(_) => differences.area_codes.count(change),
                RecordKey::Exchange(npa_nxx) => {
                    differences.exchanges.count(change);
                    differences.by_area_code.entry(npa_nxx.npa).or_default().count(change);
                }
            }
        }
        keys.sort_by_key(|&key| list_position(key));
        Self { before: Arc::clone(before), after: Arc::clone(after), differences, keys }
    }

    /// The changed records in storage format.
    pub(crate) fn difference(&self) -> Difference {
        Difference::new(&self.pairs().collect::<Vec<_>>())
    }

    pub fn total(&self) -> usize {
        self.keys.len()
    }

    /// Iterates over all changes: exchanges by NPA-NXX, then area codes, then carriers by OCN.
    pub fn iter(&self) -> impl Iterator<Item = RecordChange> {
        self.pairs().filter_map(|pair| pair.description())
    }

    pub(crate) fn pairs(&self) -> impl ExactSizeIterator<Item = RecordPair> {
        self.keys.iter().map(|&key| {
            let (before, after) = (self.before.record(key), self.after.record(key));
            RecordPair { key, before, after }
        })
    }

    pub fn listed(&self) -> impl Iterator<Item = RecordChange> {
        self.iter().take(MAX_LISTED)
    }

    pub fn unlisted_count(&self) -> usize {
        self.total().saturating_sub(MAX_LISTED)
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (listed, more) = (self.listed().collect::<Vec<_>>(), self.unlisted_count());
        let mut fields = serializer.serialize_struct("Changes", 2)?;
        fields.serialize_field("differences", &self.differences)?;
        fields.serialize_field("changes", &json!({ "listed": listed, "more": more }))?;
        fields.end()
    }
}

impl fmt::Debug for Changes {
    /// Shows only a few changes; the datasets are too large to print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first: Vec<_> = self.iter().take(3).collect();
        f.debug_struct("Changes").field("total", &self.total()).field("first", &first).finish()
    }
}

#[cfg(test)]
mod tests {
    use numbering::records::Status;

    use super::*;
    use crate::quality::tests::{area_code, carrier, exchange};

    /// Two versions that share one record of each type. The other records are added, removed or changed.
    fn before_and_after() -> (Arc<Dataset>, Arc<Dataset>) {
        let assigned = |npa_nxx, ocn| exchange(npa_nxx, ocn, "SNFC", Status::Assigned);
        let before = Dataset::new(
            ["0051", "0052", "0053"].map(|ocn| carrier(ocn, "Old", 2)).to_vec(),
            ["201", "202", "203", "415"].map(|npa| area_code(npa, 1)).to_vec(),
            vec![
                assigned("415-200", Some("0051")),
                assigned("415-201", Some("0051")),
                assigned("916-200", None),
            ],
        );
        let after = Dataset::new(
            vec![carrier("0050", "New", 1), carrier("0051", "Old", 2), carrier("0052", "Old", 1)],
            vec![area_code("201", 1), area_code("415", 2), area_code("916", 1)],
            vec![
                assigned("415-200", Some("0051")),
                exchange("415-201", None, "SAN RAFAEL", Status::Assigned),
                exchange("415-202", None, "SNFC", Status::Reserved),
                assigned("707-200", None),
            ],
        );
        (before.into(), after.into())
    }

    #[test]
    fn differing_records_are_counted_and_listed_as_exchanges_area_codes_and_carriers() {
        let (before, after) = before_and_after();
        let changes = Changes::between(&before, &after);
        let records = changes.iter().map(|it| format!("{} {}\n", it.change, it.key));
        let counts = serde_json::to_string_pretty(&changes.differences).unwrap();
        insta::assert_snapshot!(records.collect::<String>() + &counts);
        assert_eq!(changes.differences.area_codes.total(), 4);
        assert_eq!(changes.total(), 3 + 4 + 4);
        let none = Changes::between(&before, &before_and_after().0);
        assert_eq!((none.differences, none.keys), (Differences::default(), Vec::new()));
    }

    #[test]
    fn report_lists_the_first_hundred_changes_and_counts_the_rest() {
        let exchanges =
            (200..350).map(|nxx| exchange(&format!("415-{nxx}"), None, "", Status::Assigned));
        let after = Dataset::new(Vec::new(), Vec::new(), exchanges.collect());
        let report = Changes::between(&Arc::default(), &Arc::new(after));
        let report = serde_json::to_value(report).unwrap();
        assert_eq!(report["differences"]["exchanges"]["added"], 150);
        let json = &report["changes"];
        assert_eq!(json["listed"].as_array().unwrap().len(), MAX_LISTED);
        assert_eq!(json["more"], 50);
        assert_eq!(json["listed"][0]["kind"], "exchange");
        assert_eq!(json["listed"][0]["fields"]["status"]["after"], "ASSIGNED");
    }
}
