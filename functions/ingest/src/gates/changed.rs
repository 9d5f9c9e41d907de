//! The gates that compare a version with an older one. Nearly all records stay the same overnight.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use jiff::SignedDuration;
use numbering::records::{BlockHolder, Country, Record, RecordKey, Status};

use super::{
    MIN_RECORDS, MeasuredVersion, Refusal, Waivers,
    losses::{Losses, count_losses, exchange, refuse_losses},
};
use crate::{
    changes::{ChangeKind, FieldChange, RecordPair, key_text, record_pairs},
    quality::percent,
};

/// Percent of a country's exchanges that may differ, however short the time. NANPA assigned 0.29 % in its busiest
/// month, and a report may catch up on a month at once.
const CATCH_UP_PERCENT: f64 = 0.3;
/// Additional percent that may differ per day: twice the busiest month's rate.
const DAILY_PERCENT: f64 = 0.02;
/// Percent above which no elapsed time explains the changes. Reached after 85 days.
const MAX_PERCENT: f64 = 2.0;
/// Percent of carriers, area codes or thousands blocks that may differ. Their changes have no dates.
const UNDATED_PERCENT: f64 = 2.0;

/// Refuses too many differences between two versions, overall and per state, carrier or area code.
pub(super) fn refuse_changes(
    older: MeasuredVersion<'_>,
    next: MeasuredVersion<'_>,
    refusals: &mut Vec<Refusal>,
) {
    let mut kinds: BTreeMap<Kind, ChangeCounts> = BTreeMap::new();
    let mut losses = Losses::new();
    for pair in record_pairs(older.dataset, next.dataset) {
        let differences = counted_differences(&pair);
        let differs = !differences.is_empty();
        count_record(&mut kinds, &pair, differences);
        count_blocks(&mut kinds, &pair);
        count_losses(&mut losses, &pair, differs);
    }
    let [before, after] = [older, next].map(|version| version.dataset.exchanges().len() as u32);
    for ((name, country), counts) in kinds {
        let days = country.map(|country| days_between(country, older, next));
        refusals.extend(counts.refusal(name, days, older));
    }
    if is_comparable(before, after) {
        refuse_losses(losses, older, refusals);
    }
}

/// Returns `true` if versions with these record counts can be compared. If the count more than doubles, the data is different,
/// such as some of the reports and then all.
fn is_comparable(before: u32, after: u32) -> bool {
    after <= before.saturating_mul(2)
}

/// A counted difference: the field that differs, or whether the record is added or removed, and the words after its
/// code.
type Difference = (&'static str, String);

/// The fields a gate counts, as stored and as shown in messages. An exchange's carrier name and type are compared as
/// the carrier's; exchange counts change with every exchange.
const EXCHANGE_FIELDS: &[(&str, &str)] = &[
    ("status", "status"),
    ("ocn", "OCN"),
    ("company_name", "company"),
    ("rate_center", "rate center"),
    ("state", "state"),
    ("country", "country"),
];
const CARRIER_FIELDS: &[(&str, &str)] = &[
    ("company_name", "company name"),
    ("common_name", "common name"),
    ("carrier_type", "type"),
    ("state", "state"),
    ("country", "country"),
    ("exchanges.total", "number of exchanges"),
];
const AREA_CODE_FIELDS: &[(&str, &str)] = &[("state", "state"), ("country", "country")];

/// A record's differences between two versions; empty if none counts.
fn counted_differences(pair: &RecordPair) -> Vec<Difference> {
    match pair.change() {
        None => Vec::new(),
        Some(ChangeKind::Removed) => vec![("removal", "would be removed".to_owned())],
        Some(ChangeKind::Added) => match &pair.after {
            // A new Canadian area code comes with 800 rows, nearly all unassigned. The overlay adds carriers, and an
            // area code appears before its exchanges.
            Some(Record::Exchange(after)) if after.status != Status::Unassigned => {
                vec![("addition", "would be added".to_owned())]
            }
            _ => Vec::new(),
        },
        Some(ChangeKind::Changed) => {
            let fields = match pair.key {
                RecordKey::Exchange(_) => EXCHANGE_FIELDS,
                RecordKey::Carrier(_) => CARRIER_FIELDS,
                RecordKey::AreaCode(_) => AREA_CODE_FIELDS,
            };
            let changed = pair.changed_fields();
            fields
                .iter()
                .filter_map(|&(field, name)| Some((field, name, changed.get(field)?)))
                .filter(|&(field, _, change)| is_counted(pair, field, change))
                .map(|(_, name, FieldChange { before, after })| {
                    let [before, after] = [before, after].map(quoted);
                    (name, format!("has {name} {before} and would have {after}"))
                })
                .collect()
        }
    }
}

fn is_counted(pair: &RecordPair, field: &str, change: &FieldChange) -> bool {
    match (pair.key, field) {
        // With an OCN, the company belongs to the carrier.
        (RecordKey::Exchange(_), "company_name") => [&pair.before, &pair.after]
            .iter()
            .all(|record| exchange(record).is_some_and(|exchange| exchange.ocn.is_none())),
        // The overlay would keep the number of carriers up however many the reports lose.
        (RecordKey::Carrier(_), "exchanges.total") => change.after.as_deref() == Some("0"),
        // The first overlay adds values to all records at once.
        (RecordKey::Carrier(_), "common_name" | "carrier_type" | "state")
        | (RecordKey::AreaCode(_), "state") => change.before.is_some(),
        _ => true,
    }
}

/// A quoted value, without control characters that a terminal would obey.
fn quoted(value: &Option<String>) -> String {
    value
        .as_ref()
        .map_or("none".to_owned(), |text| format!("'{}'", text.replace(char::is_control, "")))
}

/// Records that are counted together: their name, and the country of exchanges, which have a known rate of change.
type Kind = (&'static str, Option<Country>);

fn kind(record: &Record) -> Kind {
    match record {
        Record::Exchange(exchange) => match exchange.country {
            Country::Us => ("US exchanges", Some(Country::Us)),
            Country::Ca => ("CA exchanges", Some(Country::Ca)),
        },
        Record::Carrier(_) => ("carriers", None),
        Record::AreaCode(_) => ("area codes", None),
    }
}

/// The days between two versions' imports, or between a country's reports if more.
fn days_between(country: Country, older: MeasuredVersion<'_>, next: MeasuredVersion<'_>) -> u64 {
    let [date_before, date_after] = [older, next].map(|version| match country {
        Country::Us => version.snapshot.file_dates.nanpa,
        Country::Ca => version.snapshot.file_dates.cnac,
    });
    let between_reports = match (date_before, date_after) {
        (Some(before), Some(after)) => after.duration_since(before),
        _ => SignedDuration::ZERO,
    };
    let between_imports = next.snapshot.ingested_at.duration_since(older.snapshot.ingested_at);
    let longest = between_imports.abs().max(between_reports.abs());
    longest.as_secs().unsigned_abs().div_ceil(24 * 60 * 60).max(1)
}

/// The records of one kind in two versions, and how many differ.
#[derive(Default)]
struct ChangeCounts {
    before: u32,
    after: u32,
    changed: u32,
    by_field: BTreeMap<&'static str, u32>,
    /// The first differing record, in words.
    example: Option<String>,
}

impl ChangeCounts {
    /// Counts a record that differs; the first one is the example.
    fn note(&mut self, name: impl FnOnce() -> String, differences: Vec<Difference>) {
        if let Some((_, text)) = differences.first() {
            self.changed += 1;
            self.example.get_or_insert_with(|| format!("{} {text}", name()));
        }
        for (field, _) in differences {
            *self.by_field.entry(field).or_default() += 1;
        }
    }
}

fn count_record(
    kinds: &mut BTreeMap<Kind, ChangeCounts>,
    pair: &RecordPair,
    differences: Vec<Difference>,
) {
    if let Some(before) = &pair.before {
        kinds.entry(kind(before)).or_default().before += 1;
    }
    if let Some(after) = &pair.after {
        kinds.entry(kind(after)).or_default().after += 1;
    }
    let Some(record) = pair.before.as_ref().or(pair.after.as_ref()) else { return };
    kinds.entry(kind(record)).or_default().note(|| key_text(pair.key), differences);
}

/// Counts an exchange's thousands blocks. New ones are ignored.
fn count_blocks(kinds: &mut BTreeMap<Kind, ChangeCounts>, pair: &RecordPair) {
    let (before, after) = (blocks(&pair.before), blocks(&pair.after));
    if before.is_none_or(BTreeMap::is_empty) && after.is_none_or(BTreeMap::is_empty) {
        return;
    }
    let counts = kinds.entry(("thousands blocks", None)).or_default();
    counts.after += after.map_or(0, |blocks| blocks.len() as u32);
    for (digit, holder) in before.into_iter().flatten() {
        counts.before += 1;
        let difference = match after.and_then(|blocks| blocks.get(digit)) {
            None => ("removal", "would be removed".to_owned()),
            Some(next) if next.ocn != holder.ocn => {
                ("OCN", format!("has OCN '{}' and would have '{}'", holder.ocn, next.ocn))
            }
            Some(_) => continue,
        };
        counts.note(|| format!("{}-{digit}", key_text(pair.key)), vec![difference]);
    }
}

fn blocks(record: &Option<Record>) -> Option<&BTreeMap<u8, BlockHolder>> {
    exchange(record).map(|exchange| &exchange.blocks)
}

/// The number of these records that may differ after this many days.
pub(super) fn allowed_changes(records: u32, days: Option<u64>) -> u32 {
    let percent = match days {
        Some(days) => (CATCH_UP_PERCENT + DAILY_PERCENT * days as f64).min(MAX_PERCENT),
        None => UNDATED_PERCENT,
    };
    let share = f64::from(records) * percent / 100.0;
    (share.round() as u32).max(MIN_RECORDS - 1)
}

impl ChangeCounts {
    fn refusal(self, what: &str, days: Option<u64>, older: MeasuredVersion<'_>) -> Option<Refusal> {
        let Self { before, after, changed, by_field, example } = self;
        let allowed = allowed_changes(before, days);
        if changed <= allowed || !is_comparable(before, after) {
            return None;
        }
        let share = percent(changed, before);
        let in_days = match days {
            None => String::new(),
            Some(1) => " in a day".to_owned(),
            Some(days) => format!(" in {days} days"),
        };
        let fields = by_field.into_iter().sorted_by_key(|&(_, count)| Reverse(count));
        let fields = fields.map(|(name, count)| format!("{name} of {count}")).join(", ");
        let reason = format!(
            "{changed} of {before} {what} ({share:.1} %) would differ from version {}, more than \
             {allowed}{in_days}: {fields}; {}; check whether a file is cut off or left out, columns \
             are blank or swapped, or rows are shifted",
            older.snapshot.version,
            example.unwrap_or_default()
        );
        let waivers = Some(Waivers { max_change: Some(changed), ..Waivers::default() });
        Some(Refusal { reason, waivers, is_of_changes: true })
    }
}
