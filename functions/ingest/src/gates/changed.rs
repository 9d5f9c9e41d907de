//! The number of records that differ from an older version: nearly all stay as they are from one
//! night to the next.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use jiff::SignedDuration;
use numbering::records::{BlockHolder, Country, Exchange, Record, RecordKey};

use super::{FEWEST, MeasuredVersion, Refusal, fields::counted_differences, losses::Losses};
use crate::{
    difference::{RecordPair, record_pairs},
    quality::{is_comparable, percent},
};

/// The share of a country's exchanges that may differ however short the time is, in percent. NANPA
/// assigned 0.29 % in its busiest month, and a report may catch up with a month at once.
const CATCH_UP_PERCENT: f64 = 0.3;
/// The share that may differ in addition for each day, in percent: twice the busiest month's.
const DAILY_PERCENT: f64 = 0.02;
/// The share above which no time explains the changes, in percent. It is reached after 85 days.
const LONGEST_PERCENT: f64 = 2.0;
/// The share of the carriers, area codes or thousands blocks that may differ, in percent. Nothing
/// dates their changes.
const UNDATED_PERCENT: f64 = 2.0;

/// Refuses too many differences between two versions, in all and in one state, carrier or area code.
pub(super) fn refuse_changed(
    older: &MeasuredVersion<'_>,
    next: &MeasuredVersion<'_>,
    refusals: &mut Vec<Refusal>,
) {
    let mut kinds: BTreeMap<Kind, ChangeCounts> = BTreeMap::new();
    let mut losses = Losses::default();
    for pair in record_pairs(older.dataset, next.dataset) {
        let differs = count_record(&mut kinds, &pair);
        count_blocks(&mut kinds, &pair);
        losses.count(&pair, differs);
    }
    for (kind, counts) in kinds {
        let days = kind.days_between(older, next);
        refusals.extend(counts.refusal(kind, days, older));
    }
    losses.refuse(older, refusals);
}

/// Counts the record of one key, and gives whether it differs.
fn count_record(kinds: &mut BTreeMap<Kind, ChangeCounts>, pair: &RecordPair) -> bool {
    if let Some(before) = &pair.before {
        kinds.entry(Kind::of(before)).or_default().before += 1;
    }
    if let Some(after) = &pair.after {
        kinds.entry(Kind::of(after)).or_default().after += 1;
    }
    let Some(record) = pair.before.as_ref().or(pair.after.as_ref()) else { return false };
    let counts = kinds.entry(Kind::of(record)).or_default();
    let differences = counted_differences(pair);
    if let Some(first) = differences.first() {
        counts.changed += 1;
        counts.example.get_or_insert_with(|| format!("{} {}", key_text(pair.key), first.text));
    }
    for difference in &differences {
        *counts.by_field.entry(difference.field).or_default() += 1;
    }
    !differences.is_empty()
}

/// Counts the thousands blocks of an exchange. A new one counts for nothing.
fn count_blocks(kinds: &mut BTreeMap<Kind, ChangeCounts>, pair: &RecordPair) {
    let (before, after) = (blocks(&pair.before), blocks(&pair.after));
    if before.is_none_or(BTreeMap::is_empty) && after.is_none_or(BTreeMap::is_empty) {
        return;
    }
    let counts = kinds.entry(Kind::Block).or_default();
    counts.after += after.map_or(0, |blocks| blocks.len() as u32);
    for (digit, holder) in before.into_iter().flatten() {
        counts.before += 1;
        let (field, text) = match after.and_then(|blocks| blocks.get(digit)) {
            None => ("removal", "would be removed".to_owned()),
            Some(next) if next.ocn != holder.ocn => {
                ("OCN", format!("has OCN '{}' and would have '{}'", holder.ocn, next.ocn))
            }
            Some(_) => continue,
        };
        counts.changed += 1;
        *counts.by_field.entry(field).or_default() += 1;
        counts.example.get_or_insert_with(|| format!("{}-{digit} {text}", key_text(pair.key)));
    }
}

fn blocks(record: &Option<Record>) -> Option<&BTreeMap<u8, BlockHolder>> {
    match record {
        Some(Record::Exchange(Exchange { blocks, .. })) => Some(blocks),
        _ => None,
    }
}

fn key_text(key: RecordKey) -> String {
    match key {
        RecordKey::Exchange(npa_nxx) => npa_nxx.to_string(),
        RecordKey::AreaCode(npa) => npa.to_string(),
        RecordKey::Carrier(ocn) => ocn.to_string(),
    }
}

/// The records that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Exchange(Country),
    Block,
    Carrier,
    AreaCode,
}

impl Kind {
    fn of(record: &Record) -> Self {
        match record {
            Record::Exchange(exchange) => Self::Exchange(exchange.country),
            Record::Carrier(_) => Self::Carrier,
            Record::AreaCode(_) => Self::AreaCode,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Exchange(Country::Us) => "US exchanges",
            Self::Exchange(Country::Ca) => "CA exchanges",
            Self::Block => "thousands blocks",
            Self::Carrier => "carriers",
            Self::AreaCode => "area codes",
        }
    }

    /// The days whose changes lie between two versions: those between their imports, or between the
    /// reports that they were imported from if these are more. `None` for records whose changes have
    /// no known pace.
    fn days_between(self, older: &MeasuredVersion<'_>, next: &MeasuredVersion<'_>) -> Option<u64> {
        let Self::Exchange(country) = self else { return None };
        let date = |version: &MeasuredVersion<'_>| match country {
            Country::Us => version.file_dates.nanpa,
            Country::Ca => version.file_dates.cnac,
        };
        let between_reports = match (date(older), date(next)) {
            (Some(before), Some(after)) => after.duration_since(before),
            _ => SignedDuration::ZERO,
        };
        let between_imports = next.imported_at.duration_since(older.imported_at);
        let longest = between_imports.abs().max(between_reports.abs());
        Some(longest.as_secs().unsigned_abs().div_ceil(24 * 60 * 60).max(1))
    }
}

/// The number of so many records that may differ after so many days.
fn allowed_changes(records: u32, days: Option<u64>) -> u32 {
    let percent = match days {
        Some(days) => (CATCH_UP_PERCENT + DAILY_PERCENT * days as f64).min(LONGEST_PERCENT),
        None => UNDATED_PERCENT,
    };
    let share = f64::from(records) * percent / 100.0;
    (share.round() as u32).max(FEWEST - 1)
}

/// The records of one kind in two versions, and how many of them differ.
#[derive(Default)]
struct ChangeCounts {
    before: u32,
    after: u32,
    changed: u32,
    by_field: BTreeMap<&'static str, u32>,
    /// The first record that differs, in words.
    example: Option<String>,
}

impl ChangeCounts {
    fn refusal(
        self,
        kind: Kind,
        days: Option<u64>,
        older: &MeasuredVersion<'_>,
    ) -> Option<Refusal> {
        let Self { before, after, changed, by_field, example } = self;
        let allowed = allowed_changes(before, days);
        if changed <= allowed || !is_comparable(before, after) {
            return None;
        }
        let fields = by_field.into_iter().sorted_by_key(|&(_, count)| Reverse(count));
        Some(Refusal::Changed {
            what: kind.name(),
            changed,
            records: before,
            share: percent(changed, before),
            version: older.version.clone(),
            allowed,
            days,
            fields: fields.map(|(name, count)| format!("{name} of {count}")).join(", "),
            example: example.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changes_allowed_grow_with_the_days_and_stay_below_every_damaged_file() {
        let us = |days| allowed_changes(202_468, Some(days));
        assert_eq!([us(1), us(4), us(30), us(85), us(1000)], [648, 769, 1822, 4049, 4049]);
        assert_eq!(allowed_changes(44_000, Some(1)), 141);
        assert_eq!(allowed_changes(3084, None), 62);
    }

    #[test]
    fn fewer_than_twenty_changes_are_allowed_in_the_smallest_data() {
        assert_eq!([0, 100, 3484].map(|records| allowed_changes(records, Some(1))), [19; 3]);
    }
}
