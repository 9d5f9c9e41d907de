//! How many of the records that both versions have are not the same: nearly all stay as they are
//! from one night to the next.

use std::{collections::BTreeMap, fmt::Display};

use itertools::Itertools;
use numbering::records::{AreaCode, Carrier, Country, Exchange, Record, RecordKey};

use super::{
    Counted, Refusal,
    thresholds::{FEWEST, Thresholds},
};
use crate::{
    difference::{Pair, pairs},
    quality::{Quality, is_comparable, percent},
};

/// The records of one kind in both versions.
#[derive(Default)]
struct Compared {
    records: u32,
    changed: u32,
    by_field: BTreeMap<&'static str, u32>,
    example: Option<String>,
}

/// A field that differs, with its values as a message shows them.
struct Field {
    name: &'static str,
    before: String,
    after: String,
}

pub(super) fn refuse_changed(
    current: &Counted<'_>,
    next: &Counted<'_>,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for (kind, compared) in compare(current, next) {
        let Compared { records, changed, by_field, example } = compared;
        let share = percent(changed, records);
        if changed < FEWEST || share <= thresholds.changed {
            continue;
        }
        let of_kind = |quality: &Quality| kind.records(quality);
        if !is_comparable(of_kind(current.quality), of_kind(next.quality)) {
            continue;
        }
        let fields = by_field.into_iter().sorted_by_key(|&(_, count)| std::cmp::Reverse(count));
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

fn compare(current: &Counted<'_>, next: &Counted<'_>) -> BTreeMap<Kind, Compared> {
    let mut kinds: BTreeMap<Kind, Compared> = BTreeMap::new();
    for Pair { key, before, after } in pairs(current.dataset, next.dataset) {
        let (Some(before), Some(after)) = (before, after) else { continue };
        let (kind, fields) = match (&before, &after) {
            (Record::Exchange(old), Record::Exchange(new)) => {
                (Kind::Exchange(old.country), exchange_fields(old, new))
            }
            (Record::Carrier(old), Record::Carrier(new)) => {
                (Kind::Carrier, carrier_fields(old, new))
            }
            (Record::AreaCode(old), Record::AreaCode(new)) => {
                (Kind::AreaCode, area_code_fields(old, new))
            }
            // Records of one key are of one kind.
            _ => continue,
        };
        kinds.entry(kind).or_default().count(key, fields);
    }
    kinds
}

/// Records that are compared with each other.
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
    fn records(self, quality: &Quality) -> u32 {
        match self {
            Self::Exchange(country) => quality.by_country.get(&country).map_or(0, |of| of.records),
            Self::Carrier => quality.carriers.total,
            Self::AreaCode => quality.area_codes.total,
        }
    }
}

impl Compared {
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

fn key_text(key: RecordKey) -> String {
    match key {
        RecordKey::Exchange(npa_nxx) => npa_nxx.to_string(),
        RecordKey::AreaCode(npa) => npa.to_string(),
        RecordKey::Carrier(ocn) => ocn.to_string(),
    }
}

/// A value in quotes, with nothing in it that a terminal would obey.
fn quoted(value: &impl Display) -> String {
    format!("'{}'", value.to_string().replace(char::is_control, ""))
}

/// The fields of a record that differ.
#[derive(Default)]
struct Differing(Vec<Field>);

impl Differing {
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

    /// What was unknown may become known of all at once: an overlay is given for the first time.
    fn compare_known<T: PartialEq + Display>(
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

/// What the reports say of an exchange itself; the name and type of its carrier are the carrier's.
fn exchange_fields(before: &Exchange, after: &Exchange) -> Vec<Field> {
    let mut fields = Differing::default();
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

/// What is known of a carrier, but not how many exchanges it has: that changes with each of them.
fn carrier_fields(before: &Carrier, after: &Carrier) -> Vec<Field> {
    let mut fields = Differing::default();
    fields.compare_optional("company name", &before.company_name, &after.company_name);
    fields.compare_known("common name", &before.common_name, &after.common_name);
    fields.compare_known("type", &before.carrier_type, &after.carrier_type);
    fields.compare_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}

fn area_code_fields(before: &AreaCode, after: &AreaCode) -> Vec<Field> {
    let mut fields = Differing::default();
    fields.compare_known("state", &before.state, &after.state);
    fields.compare("country", &before.country, &after.country);
    fields.0
}
