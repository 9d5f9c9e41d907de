//! How many of the records in both versions change: nearly all stay as they are from one night to
//! the next.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Display};

use itertools::Itertools;
use numbering::records::{AreaCode, Carrier, Country, Exchange, Record, RecordKey};

use super::{
    MeasuredVersion, Refusal,
    thresholds::{FEWEST, Thresholds},
};
use crate::{
    difference::{RecordPair, record_pairs},
    quality::{Quality, is_comparable, percent},
};

pub(super) fn refuse_changed(
    current: &MeasuredVersion<'_>,
    next: &MeasuredVersion<'_>,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for (kind, changes) in count_changes(current, next) {
        let ChangeCounts { records, changed, by_field, example } = changes;
        let share = percent(changed, records);
        let is_refused = changed >= FEWEST && share > thresholds.changed;
        if !is_refused || !is_comparable(kind.total(current.quality), kind.total(next.quality)) {
            continue;
        }
        let fields = by_field.into_iter().sorted_by_key(|&(_, count)| Reverse(count));
        refusals.push(Refusal::Changed {
            what: kind.name(),
            changed,
            records,
            share,
            fields: fields.map(|(name, count)| format!("{name} of {count}")).join(", "),
            example: example.unwrap_or_default(),
            most_percent: thresholds.changed,
        });
    }
}

fn count_changes(
    current: &MeasuredVersion<'_>,
    next: &MeasuredVersion<'_>,
) -> BTreeMap<Kind, ChangeCounts> {
    let mut kinds: BTreeMap<Kind, ChangeCounts> = BTreeMap::new();
    for RecordPair { key, before, after } in record_pairs(current.dataset, next.dataset) {
        let (kind, fields) = match (&before, &after) {
            (Some(Record::Exchange(before)), Some(Record::Exchange(after))) => {
                (Kind::Exchange(before.country), exchange_fields(before, after))
            }
            (Some(Record::Carrier(before)), Some(Record::Carrier(after))) => {
                (Kind::Carrier, carrier_fields(before, after))
            }
            (Some(Record::AreaCode(before)), Some(Record::AreaCode(after))) => {
                (Kind::AreaCode, area_code_fields(before, after))
            }
            // Only one version has the record.
            _ => continue,
        };
        kinds.entry(kind).or_default().count(key, fields);
    }
    kinds
}

/// The records that are compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exchange(Country),
    Carrier,
    AreaCode,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Exchange(Country::Us) => "US exchanges",
            Self::Exchange(Country::Ca) => "CA exchanges",
            Self::Carrier => "carriers",
            Self::AreaCode => "area codes",
        }
    }

    /// How many of them a version has.
    fn total(self, quality: &Quality) -> u32 {
        match self {
            Self::Exchange(country) => {
                quality.by_country.get(&country).map_or(0, |coverage| coverage.records)
            }
            Self::Carrier => quality.carriers.total,
            Self::AreaCode => quality.area_codes.total,
        }
    }
}

/// How many records of one kind are in both versions, and how many of them change.
#[derive(Default)]
struct ChangeCounts {
    records: u32,
    changed: u32,
    by_field: BTreeMap<&'static str, u32>,
    /// The first record that changes, in words.
    example: Option<String>,
}

impl ChangeCounts {
    /// Counts a record by its fields that differ.
    fn count(&mut self, key: RecordKey, fields: Vec<Field>) {
        self.records += 1;
        if let Some(Field { name, before, after }) = fields.first() {
            self.changed += 1;
            self.example.get_or_insert_with(|| {
                format!("{} has {name} {before} and would have {after}", key_text(key))
            });
        }
        for field in fields {
            *self.by_field.entry(field.name).or_default() += 1;
        }
    }
}

/// A field that differs, with its values as a message shows them.
struct Field {
    name: &'static str,
    before: String,
    after: String,
}

fn key_text(key: RecordKey) -> String {
    match key {
        RecordKey::Exchange(npa_nxx) => npa_nxx.to_string(),
        RecordKey::AreaCode(npa) => npa.to_string(),
        RecordKey::Carrier(ocn) => ocn.to_string(),
    }
}

/// A value in quotes, without control characters, which a terminal would obey.
fn quoted(value: &impl Display) -> String {
    format!("'{}'", value.to_string().replace(char::is_control, ""))
}

/// The fields of a record that differ.
#[derive(Default)]
struct DifferingFields(Vec<Field>);

impl DifferingFields {
    fn compare<T: PartialEq + Display>(&mut self, name: &'static str, before: &T, after: &T) {
        if before != after {
            self.0.push(Field { name, before: quoted(before), after: quoted(after) });
        }
    }

    fn compare_optional<T: PartialEq + Display>(
        &mut self,
        name: &'static str,
        before: &Option<T>,
        after: &Option<T>,
    ) {
        if before != after {
            let text = |value: &Option<T>| value.as_ref().map_or("none".to_owned(), quoted);
            self.0.push(Field { name, before: text(before), after: text(after) });
        }
    }

    /// A value that was not known before does not differ: the first overlay adds values to all
    /// records at once.
    fn compare_if_known<T: PartialEq + Display>(
        &mut self,
        name: &'static str,
        before: &Option<T>,
        after: &Option<T>,
    ) {
        if before.is_some() {
            self.compare_optional(name, before, after);
        }
    }
}

/// The fields of an exchange that the reports state for it. The name and type of its carrier are
/// compared with those of the carrier.
fn exchange_fields(before: &Exchange, after: &Exchange) -> Vec<Field> {
    let mut fields = DifferingFields::default();
    fields.compare("status", &before.status, &after.status);
    fields.compare_optional("OCN", &before.ocn, &after.ocn);
    if before.ocn.is_none() && after.ocn.is_none() {
        fields.compare_optional("company", &before.company_name, &after.company_name);
    }
    fields.compare_optional("rate center", &before.rate_center, &after.rate_center);
    fields.compare_optional("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}

/// The fields of a carrier without the number of its exchanges, which changes with each of them.
fn carrier_fields(before: &Carrier, after: &Carrier) -> Vec<Field> {
    let mut fields = DifferingFields::default();
    fields.compare_optional("company name", &before.company_name, &after.company_name);
    fields.compare_if_known("common name", &before.common_name, &after.common_name);
    fields.compare_if_known("type", &before.carrier_type, &after.carrier_type);
    fields.compare_if_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}

/// The fields of an area code without the number of its exchanges.
fn area_code_fields(before: &AreaCode, after: &AreaCode) -> Vec<Field> {
    let mut fields = DifferingFields::default();
    fields.compare_if_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}
