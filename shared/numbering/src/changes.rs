//! The differences between two versions of the data, record by record.

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use itertools::Itertools;
use serde::Serialize;
use serde_json::{Value, json};
use strum::{Display, EnumString, VariantNames};
use utoipa::ToSchema;

use crate::{
    changed_keys::ChangedKeys,
    dataset::{Dataset, SnapshotError},
    records::{
        AreaCodeStatus, Carrier, Exchange, Ocn, OwnedExchanges, Record, RecordKey, StateCode,
    },
};

/// A kind of change to a record.
#[derive(Serialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
}

/// A kind of record.
#[derive(Serialize, Display, EnumString, VariantNames, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", ascii_case_insensitive)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordKind {
    Exchange,
    AreaCode,
    Carrier,
}

impl From<RecordKey> for RecordKind {
    fn from(key: RecordKey) -> Self {
        match key {
            RecordKey::Exchange(_) => Self::Exchange,
            RecordKey::AreaCode(_) => Self::AreaCode,
            RecordKey::Carrier(_) => Self::Carrier,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordChange {
    pub change: ChangeKind,
    pub kind: RecordKind,
    /// An NPA-NXX, an NPA or an OCN.
    pub key: String,
    /// The fields that differ, by their names in responses. A nested field has a dotted name, such as
    /// `exchanges.by_state.CA` or `blocks.5.ocn`. Arrays differ as a whole. Empty if no response shows the difference.
    pub fields: BTreeMap<String, FieldChange>,
}

/// A field's values before and after; `null` if the record or the value is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldChange {
    #[schema(required)]
    pub before: Option<Value>,
    #[schema(required)]
    pub after: Option<Value>,
}

/// The value as text; strings have no quotes.
pub fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// A record before and after a change. `None` if it did not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordPair {
    pub key: RecordKey,
    pub before: Option<Record>,
    pub after: Option<Record>,
}

/// Pairs up the records in both versions, in key order.
pub fn record_pairs(before: &Dataset, after: &Dataset) -> impl Iterator<Item = RecordPair> {
    let joined = before
        .records()
        .merge_join_by(after.records(), |before, after| before.key().cmp(&after.key()));
    joined.map(|either| {
        let key = either.as_ref().reduce(|before, _| before).key();
        let (before, after) = either.left_and_right();
        RecordPair { key, before, after }
    })
}

impl RecordPair {
    /// `None` if the records are equal.
    pub fn change(&self) -> Option<ChangeKind> {
        match (&self.before, &self.after) {
            (None, _) => Some(ChangeKind::Added),
            (_, None) => Some(ChangeKind::Removed),
            (before, after) => (before != after).then_some(ChangeKind::Changed),
        }
    }

    /// Describes the change; `None` if the records are equal.
    pub fn description(&self) -> Option<RecordChange> {
        Some(RecordChange {
            change: self.change()?,
            kind: self.key.into(),
            key: self.key.to_string(),
            fields: self.changed_fields(),
        })
    }

    pub fn changed_fields(&self) -> BTreeMap<String, FieldChange> {
        let mut fields = BTreeMap::new();
        for (name, value) in values(self.before.as_ref()) {
            fields.insert(name, FieldChange { before: Some(value), after: None });
        }
        for (name, value) in values(self.after.as_ref()) {
            let field = fields.entry(name).or_insert(FieldChange { before: None, after: None });
            field.after = Some(value);
        }
        fields.retain(|_, field| field.before != field.after);
        fields
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        [&self.before, &self.after].into_iter().flatten()
    }

    /// Returns `true` for the carrier itself, and for exchanges that it held before or after, in whole or in part.
    pub fn concerns_carrier(&self, ocn: Ocn) -> bool {
        self.records().any(|record| match record {
            Record::Carrier(carrier) => carrier.ocn == ocn,
            Record::AreaCode(_) => false,
            Record::Exchange(exchange) => exchange.ocns().any(|held_by| held_by == ocn),
        })
    }

    /// Returns `true` if the record is in the state, before or after the change.
    pub fn is_in_state(&self, state: StateCode) -> bool {
        self.records().any(|record| match record {
            Record::Carrier(carrier) => carrier.state == Some(state),
            Record::AreaCode(area_code) => area_code.states.contains(&state),
            Record::Exchange(exchange) => exchange.state == Some(state),
        })
    }
}

fn values(record: Option<&Record>) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    collect_values("", record.map_or(Value::Null, response_fields), &mut values);
    values
}

/// A record's fields, named as in API responses. Responses combine some of the stored fields.
fn response_fields(record: &Record) -> Value {
    let mut fields = serde_json::to_value(record)
        .expect("records contain only strings, numbers and maps with string keys");
    match record {
        Record::Exchange(_) => (),
        Record::AreaCode(area_code) => {
            let total_exchanges = area_code.is_covered().then_some(area_code.total_exchanges);
            fields["total_exchanges"] = json!(total_exchanges);
            fields["country"] = json!(area_code.iso_country());
            fields["status"] = json!(AreaCodeStatus::new(area_code.plan.is_in_service));
            remove(&mut fields, &["plan_country", "is_in_service"]);
        }
        Record::Carrier(carrier) => {
            let line = carrier.line_type();
            fields["line"] =
                json!(line.map(|(kind, basis)| json!({ "type": kind, "basis": basis })));
            remove(&mut fields, &["type_basis", "family_line_type"]);
        }
    }
    fields
}

fn remove(fields: &mut Value, names: &[&str]) {
    if let Value::Object(fields) = fields {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

fn collect_values(name: &str, value: Value, values: &mut Vec<(String, Value)>) {
    match value {
        Value::Null => (),
        Value::Object(fields) => {
            for (inner_name, inner_value) in fields {
                let separator = if name.is_empty() { "" } else { "." };
                collect_values(&format!("{name}{separator}{inner_name}"), inner_value, values);
            }
        }
        other => values.push((name.to_owned(), other)),
    }
}

/// The records that differ between two versions, stored as two small datasets.
///
/// Exchanges get their holder's name from its carrier, so the datasets also contain the holders' carriers. A
/// carrier that did not change is equal in both, and has only the fields that its exchanges need.
#[derive(Debug, PartialEq)]
pub struct Difference {
    before: Dataset,
    after: Dataset,
}

impl Difference {
    /// Builds the difference from its changes.
    pub fn new(changes: &[RecordPair]) -> Self {
        let keys: BTreeSet<RecordKey> = changes.iter().map(|pair| pair.key).collect();
        let holders = changes.iter().flat_map(RecordPair::records).flat_map(holders_named_in);
        let unchanged: BTreeMap<Ocn, Carrier> = holders
            .filter(|carrier| !keys.contains(&RecordKey::Carrier(carrier.ocn)))
            .map(|carrier| (carrier.ocn, carrier))
            .collect();
        let version = |records: fn(&RecordPair) -> &Option<Record>| {
            let known = changes.iter().filter_map(|pair| records(pair).clone());
            let unchanged = unchanged.values().cloned().map(Record::Carrier);
            Dataset::from_records(known.chain(unchanged))
        };
        Self { before: version(|pair| &pair.before), after: version(|pair| &pair.after) }
    }

    /// The records that differ, in key order: carriers, area codes, then exchanges.
    pub fn changes(&self) -> impl Iterator<Item = RecordPair> {
        record_pairs(&self.before, &self.after).filter(|pair| pair.change().is_some())
    }

    /// Packs both datasets. The length of the first one comes first.
    pub fn pack(&self) -> Result<Vec<u8>, SnapshotError> {
        let [before, after] = [self.before.pack()?, self.after.pack()?];
        Ok([&(before.len() as u32).to_le_bytes()[..], &before, &after].concat())
    }

    /// Unpacks a difference. Verify the hash of the bytes first: this only detects other layouts.
    pub fn unpack(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let (length, datasets) = bytes.split_first_chunk().ok_or(SnapshotError::Empty)?;
        let (before, after) = datasets
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or(SnapshotError::Columns)?;
        Ok(Self { before: Dataset::unpack(before)?, after: Dataset::unpack(after)? })
    }

    /// The keys of the records that differ.
    pub fn keys(&self) -> ChangedKeys {
        ChangedKeys::new(self.changes().map(|pair| (pair.key, pair.before.is_some())))
    }

    /// Builds the newer version from the older one.
    pub fn apply(&self, before: &Dataset) -> Dataset {
        let changes = self.changes().map(|RecordPair { key, after, .. }| (key, after));
        before.with_records(changes)
    }

    /// Builds the older version from the newer one.
    pub fn undo(&self, after: &Dataset) -> Dataset {
        let changes = self.changes().map(|RecordPair { key, before, .. }| (key, before));
        after.with_records(changes)
    }
}

/// The holders of an exchange and its blocks, with only the details that the exchange contains.
fn holders_named_in(record: &Record) -> Vec<Carrier> {
    let Record::Exchange(exchange) = record else { return Vec::new() };
    let carrier = |ocn, company_name: &Option<String>, carrier_type| Carrier {
        ocn,
        company_name: company_name.clone(),
        common_name: None,
        carrier_type,
        type_basis: None,
        family_line_type: None,
        state: None,
        country: exchange.country,
        exchanges: OwnedExchanges::default(),
    };
    let Exchange { ocn, company_name, carrier_type, blocks, .. } = exchange;
    let own = ocn.map(|ocn| carrier(ocn, company_name, *carrier_type));
    let blocks = blocks.values().map(|it| carrier(it.ocn, &it.company_name, it.carrier_type));
    own.into_iter().chain(blocks).collect()
}
