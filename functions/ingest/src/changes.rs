//! What an import changes, record by record: each record that is added, removed or changed, with the
//! fields that differ and their values before and after.

use std::{collections::BTreeMap, sync::Arc};

use itertools::{EitherOrBoth, Itertools};
use numbering::dataset::Dataset;
use numbering::records::{AreaCode, Carrier, Exchange};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

/// Most changes that a report lists; [`Changes::iter`] gives all of them.
pub const MOST_LISTED: usize = 100;

/// The changes between two versions. Each is worked out only when it is read.
#[derive(Clone)]
pub struct Changes {
    before: Arc<Dataset>,
    after: Arc<Dataset>,
    total: usize,
}

/// A record that differs between the versions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordChange {
    pub change: ChangeKind,
    pub record: RecordKind,
    /// An NPA-NXX, an NPA or an OCN.
    pub key: String,
    /// The fields that differ. A field inside another has both names, as in `exchanges.by_state.CA`.
    pub fields: BTreeMap<String, FieldChange>,
}

/// What happens to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
}

/// What a record describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    Exchange,
    AreaCode,
    Carrier,
}

/// The values of a field; `None` if there is no record, or the record has no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    pub before: Option<String>,
    pub after: Option<String>,
}

impl ChangeKind {
    /// The word for it in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

impl RecordKind {
    /// The word for it in a report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::AreaCode => "area code",
            Self::Carrier => "carrier",
        }
    }
}

impl Changes {
    /// The changes from `before` to `after`, of which there are `total`.
    pub(crate) fn new(before: Dataset, after: Dataset, total: usize) -> Self {
        Self { before: Arc::new(before), after: Arc::new(after), total }
    }

    /// How many records are added, removed or changed.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Every change: exchanges by NPA-NXX first, then area codes, then carriers by OCN.
    pub fn iter(&self) -> impl Iterator<Item = RecordChange> {
        let (before, after) = (&self.before, &self.after);
        let exchanges = differing(before.exchanges(), after.exchanges(), Exchange::npa_nxx)
            .map(|(key, either)| record_change(RecordKind::Exchange, key.to_string(), &either));
        let npa = |area_code: &AreaCode| area_code.npa;
        let area_codes = differing(before.area_codes(), after.area_codes(), npa)
            .map(|(key, either)| record_change(RecordKind::AreaCode, key.to_string(), &either));
        let ocn = |carrier: &Carrier| carrier.ocn;
        let carriers = differing(before.carriers(), after.carriers(), ocn)
            .map(|(key, either)| record_change(RecordKind::Carrier, key.to_string(), &either));
        exchanges.chain(area_codes).chain(carriers)
    }

    /// The changes that a report lists: the first ones.
    pub fn listed(&self) -> impl Iterator<Item = RecordChange> {
        self.iter().take(MOST_LISTED)
    }

    /// How many changes are not among the listed ones.
    pub fn unlisted(&self) -> usize {
        self.total.saturating_sub(MOST_LISTED)
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut changes = serializer.serialize_struct("Changes", 2)?;
        changes.serialize_field("listed", &self.listed().collect::<Vec<_>>())?;
        changes.serialize_field("more", &self.unlisted())?;
        changes.end()
    }
}

impl PartialEq for Changes {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total && self.iter().eq(other.iter())
    }
}

impl std::fmt::Debug for Changes {
    /// Shows a few changes only: both datasets would fill a terminal for minutes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first: Vec<_> = self.iter().take(3).collect();
        f.debug_struct("Changes").field("total", &self.total).field("first", &first).finish()
    }
}

/// The record of one key in two versions; at least one of them has it.
type InEither<R> = EitherOrBoth<R, R>;

/// The records of two ordered lists that are not the same in both, with their keys.
fn differing<K: Ord, R: PartialEq>(
    before: impl Iterator<Item = R>,
    after: impl Iterator<Item = R>,
    key: impl Fn(&R) -> K + Copy,
) -> impl Iterator<Item = (K, InEither<R>)> {
    let joined = before.merge_join_by(after, move |before, after| key(before).cmp(&key(after)));
    let differing = joined.filter(|either| match either {
        EitherOrBoth::Both(before, after) => before != after,
        EitherOrBoth::Left(_) | EitherOrBoth::Right(_) => true,
    });
    differing.map(move |either| {
        let key_of_either = match &either {
            EitherOrBoth::Left(record)
            | EitherOrBoth::Right(record)
            | EitherOrBoth::Both(record, _) => key(record),
        };
        (key_of_either, either)
    })
}

fn record_change<R: Serialize>(
    record: RecordKind,
    key: String,
    either: &InEither<R>,
) -> RecordChange {
    let change = match either {
        EitherOrBoth::Left(_) => ChangeKind::Removed,
        EitherOrBoth::Right(_) => ChangeKind::Added,
        EitherOrBoth::Both(..) => ChangeKind::Changed,
    };
    let mut fields_before = either.as_ref().left().map(fields).unwrap_or_default();
    let fields_after = either.as_ref().right().map(fields).unwrap_or_default();
    let mut changed = BTreeMap::new();
    for (name, after) in fields_after {
        let before = fields_before.remove(&name);
        if before.as_ref() != Some(&after) {
            changed.insert(name, FieldChange { before, after: Some(after) });
        }
    }
    for (name, before) in fields_before {
        changed.insert(name, FieldChange { before: Some(before), after: None });
    }
    RecordChange { change, record, key, fields: changed }
}

/// The fields of a record that have a value, by name, as text.
fn fields<R: Serialize>(record: &R) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let value = serde_json::to_value(record)
        .expect("a record is made of texts, numbers, and maps with such keys, which JSON can hold");
    collect_fields(String::new(), &value, &mut fields);
    fields
}

fn collect_fields(name: String, value: &Value, fields: &mut BTreeMap<String, String>) {
    match value {
        Value::Null => (),
        Value::Object(inner_fields) => {
            for (inner_name, inner_value) in inner_fields {
                let separator = if name.is_empty() { "" } else { "." };
                collect_fields(format!("{name}{separator}{inner_name}"), inner_value, fields);
            }
        }
        Value::String(text) => _ = fields.insert(name, text.clone()),
        other => _ = fields.insert(name, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use numbering::records::Status;

    use super::*;
    use crate::quality::tests::{carrier, exchange};

    fn changes() -> Changes {
        let before = Dataset::new(
            vec![carrier("0051", "Old name", 2)],
            Vec::new(),
            vec![
                exchange("415-200", Some("0051"), "SNFC", Status::Assigned),
                exchange("415-201", Some("0051"), "SNFC", Status::Assigned),
                exchange("415-202", Some("0051"), "SNFC", Status::Assigned),
            ],
        );
        let after = Dataset::new(
            vec![carrier("0051", "Old name", 1)],
            Vec::new(),
            vec![
                exchange("415-200", None, "SAN RAFAEL", Status::Assigned),
                exchange("415-201", Some("0051"), "SNFC", Status::Assigned),
                exchange("415-203", None, "SNFC", Status::Reserved),
            ],
        );
        Changes::new(before, after, 4)
    }

    #[test]
    fn each_record_that_differs_is_listed_with_old_and_new_values() {
        let all: Vec<_> = changes().iter().collect();
        let records: Vec<_> =
            all.iter().map(|change| (change.change.name(), change.key.as_str())).collect();
        let expected = [
            ("changed", "415-200"),
            ("removed", "415-202"),
            ("added", "415-203"),
            ("changed", "0051"),
        ];
        assert_eq!(records, expected);
        let field = |before: &str, after: Option<&str>| FieldChange {
            before: Some(before.to_owned()),
            after: after.map(str::to_owned),
        };
        let changed = &all[0].fields;
        assert_eq!(changed["rate_center"], field("SNFC", Some("SAN RAFAEL")));
        assert_eq!(changed["ocn"], field("0051", None));
        assert!(!changed.contains_key("status"), "{changed:?}");
        assert_eq!(all[1].fields["status"], field("ASSIGNED", None));
        assert_eq!(all[2].fields["status"].after.as_deref(), Some("RESERVED"));
        let exchanges_lost =
            BTreeMap::from([("exchanges.total".to_owned(), field("2", Some("1")))]);
        assert_eq!(all[3].fields, exchanges_lost);
    }

    #[test]
    fn a_report_lists_the_first_changes_and_counts_the_others() {
        let exchanges =
            (200..350).map(|nxx| exchange(&format!("415-{nxx}"), None, "", Status::Assigned));
        let after = Dataset::new(Vec::new(), Vec::new(), exchanges.collect());
        let json = serde_json::to_value(Changes::new(Dataset::default(), after, 150)).unwrap();
        assert_eq!(json["listed"].as_array().unwrap().len(), MOST_LISTED);
        assert_eq!(json["more"], 50);
        assert_eq!(json["listed"][0]["record"], "exchange");
        assert_eq!(json["listed"][0]["fields"]["status"]["after"], "ASSIGNED");
    }
}
