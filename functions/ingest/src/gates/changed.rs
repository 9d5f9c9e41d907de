//! The gates that compare versions. Nearly all records stay the same overnight, and no state, carrier or area code
//! loses many exchanges at once.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use jiff::SignedDuration;
use numbering::{
    changes::{ChangeKind, FieldChange, RecordPair, record_pairs, value_text},
    records::{BlockHolder, Country, Exchange, Record, RecordKey, Status},
};
use serde_json::Value;
use store::ReportName;

use super::{Gate, MIN_RECORDS, MeasuredVersion, Refusal};
use crate::quality::percent;

/// The percentage of a country's exchanges that may differ, even within a day. A report may catch up on a month's
/// changes, and NANPA assigned 0.29% in its busiest month.
const MAX_CATCH_UP_PERCENT: f64 = 0.3;
/// The additional percentage that may differ per day: twice the rate of the busiest month.
const MAX_DAILY_PERCENT: f64 = 0.02;
/// The maximum percentage that may differ, no matter how much time has passed. Reached after 85 days.
const MAX_TOTAL_PERCENT: f64 = 2.0;
/// The percentage of carriers, area codes or thousands blocks that may differ. Their changes have no dates.
const MAX_UNDATED_PERCENT: f64 = 2.0;

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

/// Returns `false` if the number of records more than doubles. The older version was probably missing some reports.
fn is_comparable(before: u32, after: u32) -> bool {
    after <= before.saturating_mul(2)
}

/// A counted difference: the field, `addition` or `removal`, and a description.
type Difference = (&'static str, String);

/// The fields that gates count. A carrier's name and type count once, not for each of its exchanges. Exchange counts
/// are left out, since they change with every exchange.
fn counted_fields(key: RecordKey) -> &'static [&'static str] {
    match key {
        RecordKey::Exchange(_) => {
            &["status", "ocn", "company_name", "rate_center", "state", "country"]
        }
        RecordKey::Carrier(_) => {
            &["company_name", "common_name", "carrier_type", "state", "country", "exchanges.total"]
        }
        RecordKey::AreaCode(_) => &["state", "country"],
    }
}

fn counted_differences(pair: &RecordPair) -> Vec<Difference> {
    match pair.change() {
        None => Vec::new(),
        Some(ChangeKind::Removed) => vec![("removal", "would be removed".to_owned())],
        Some(ChangeKind::Added) => match &pair.after {
            // A new Canadian area code adds 800 unassigned rows, and the overlay adds carriers.
            Some(Record::Exchange(after)) if after.status != Status::Unassigned => {
                vec![("addition", "would be added".to_owned())]
            }
            _ => Vec::new(),
        },
        Some(ChangeKind::Changed) => {
            let changed = pair.changed_fields();
            let fields = counted_fields(pair.key).iter();
            let fields = fields.filter_map(|&field| Some((field, changed.get(field)?)));
            let counted = fields.filter(|(field, change)| is_counted(pair, field, change));
            let describe = |(field, change): (&'static str, &FieldChange)| {
                let [before, after] = [&change.before, &change.after].map(quote);
                (field, format!("would change {field} from {before} to {after}"))
            };
            counted.map(describe).collect()
        }
    }
}

fn is_counted(pair: &RecordPair, field: &str, change: &FieldChange) -> bool {
    match (pair.key, field) {
        // With an OCN, the company belongs to the carrier.
        (RecordKey::Exchange(_), "company_name") => [&pair.before, &pair.after]
            .iter()
            .all(|record| exchange(record).is_some_and(|exchange| exchange.ocn.is_none())),
        // Carriers in the overlay remain even if they lose all exchanges.
        (RecordKey::Carrier(_), "exchanges.total") => change.after == Some(0.into()),
        // The first overlay sets these fields in all records at once.
        (RecordKey::Carrier(_), "common_name" | "carrier_type" | "state")
        | (RecordKey::AreaCode(_), "state") => change.before.is_some(),
        _ => true,
    }
}

/// Quotes a value after removing control characters.
fn quote(value: &Option<Value>) -> String {
    let quoted = |value| format!("'{}'", value_text(value).replace(char::is_control, ""));
    value.as_ref().map_or("none".to_owned(), quoted)
}

/// Records that are counted together: their name in messages, and the country for exchanges.
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

/// Returns the days between the imports or between the country's reports, whichever is longer.
fn days_between(country: Country, older: MeasuredVersion<'_>, next: MeasuredVersion<'_>) -> u64 {
    let [date_before, date_after] =
        [older, next].map(|version| version.snapshot.reports.date(ReportName::codes(country)));
    let between_reports = match (date_before, date_after) {
        (Some(before), Some(after)) => after.duration_since(before),
        _ => SignedDuration::ZERO,
    };
    let between_imports = next.snapshot.ingested_at.duration_since(older.snapshot.ingested_at);
    let longest = between_imports.abs().max(between_reports.abs());
    longest.as_secs().unsigned_abs().div_ceil(24 * 60 * 60).max(1)
}

#[derive(Default)]
struct ChangeCounts {
    before: u32,
    after: u32,
    changed: u32,
    by_field: BTreeMap<&'static str, u32>,
    example: Option<String>,
}

impl ChangeCounts {
    /// Counts a record if it has differences. The first such record is the example in messages.
    fn add(&mut self, name: impl FnOnce() -> String, differences: Vec<Difference>) {
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
    kinds.entry(kind(record)).or_default().add(|| pair.key.to_string(), differences);
}

/// Counts an exchange's thousands blocks. New blocks do not count as differences.
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
                ("ocn", format!("would change ocn from '{}' to '{}'", holder.ocn, next.ocn))
            }
            Some(_) => continue,
        };
        counts.add(|| format!("{}-{digit}", pair.key), vec![difference]);
    }
}

fn blocks(record: &Option<Record>) -> Option<&BTreeMap<u8, BlockHolder>> {
    exchange(record).map(|exchange| &exchange.blocks)
}

pub(super) fn allowed_changes(records: u32, days: Option<u64>) -> u32 {
    let percent = match days {
        Some(days) => {
            (MAX_CATCH_UP_PERCENT + MAX_DAILY_PERCENT * days as f64).min(MAX_TOTAL_PERCENT)
        }
        None => MAX_UNDATED_PERCENT,
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
        let period = match days {
            None => String::new(),
            Some(1) => " in a day".to_owned(),
            Some(days) => format!(" in {days} days"),
        };
        let fields = by_field.into_iter().sorted_by_key(|&(_, count)| Reverse(count));
        let fields = fields.map(|(name, count)| format!("{name} ({count})")).join(", ");
        let reason = format!(
            "{changed} of {before} {what} ({share:.1}%) would differ from version {}, more than \
             {allowed}{period}: {fields}; {}; check whether a file is truncated or missing, columns \
             are blank or swapped, or rows are shifted",
            older.snapshot.version,
            example.unwrap_or_default()
        );
        Some(Refusal::new(Gate::Changes, reason))
    }
}

/// The kinds of exchange owners, each with the minimum exchanges to check it and the percentage it may lose.
const OWNERS: [(&str, u32, f64); 3] = [
    // Exchanges do not move between states.
    ("state", 500, 10.0),
    // Carriers sell parts of their networks.
    ("carrier", 500, 50.0),
    // No area code has had more than 12 exchanges assigned in a month.
    (AREA_CODE, 1, 10.0),
];
const AREA_CODE: &str = "area code";

type Losses = BTreeMap<(usize, String), Loss>;

/// The number of exchanges that an owner had in the older version, and how many of them it lost.
#[derive(Default)]
struct Loss {
    exchanges: u32,
    removed: u32,
    lost: u32,
    gained_by: BTreeMap<String, u32>,
}

fn owners(exchange: &Exchange) -> [Option<String>; 3] {
    let (state, ocn) =
        (exchange.state.map(|it| it.to_string()), exchange.ocn.map(|it| it.to_string()));
    [state, ocn, Some(exchange.npa.to_string())]
}

/// Counts a record if it is an exchange. For area codes, changed exchanges also count as lost.
fn count_losses(losses: &mut Losses, pair: &RecordPair, differs: bool) {
    let Some(before) = exchange(&pair.before) else { return };
    let after = exchange(&pair.after);
    let next_owners = after.map(owners).unwrap_or_default();
    for (kind, (owner, next)) in owners(before).into_iter().zip(next_owners).enumerate() {
        let Some(owner) = owner else { continue };
        let is_lost = next.as_ref() != Some(&owner);
        let loss = losses.entry((kind, owner)).or_default();
        loss.exchanges += 1;
        loss.removed += u32::from(after.is_none());
        loss.lost += u32::from(is_lost || OWNERS[kind].0 == AREA_CODE && differs);
        if let Some(next) = next.filter(|_| is_lost) {
            *loss.gained_by.entry(next).or_default() += 1;
        }
    }
}

impl Loss {
    fn is_refused(&self, kind: usize) -> bool {
        let (name, min_exchanges, max_percent) = OWNERS[kind];
        let is_gone = name == AREA_CODE && self.removed == self.exchanges;
        let is_checked = self.exchanges >= min_exchanges && self.lost >= MIN_RECORDS;
        is_gone || is_checked && percent(self.lost, self.exchanges) > max_percent
    }
}

const MAX_NAMED: usize = 5;

fn refuse_losses(losses: Losses, older: MeasuredVersion<'_>, refusals: &mut Vec<Refusal>) {
    let refused = losses.into_iter().filter(|((kind, _), loss)| loss.is_refused(*kind));
    for (kind, losses) in &refused.chunk_by(|((kind, _), _)| *kind) {
        let losses: Vec<_> = losses.sorted_by_key(|(_, loss)| Reverse(loss.lost)).collect();
        let named = losses.iter().take(MAX_NAMED).map(|((_, owner), loss)| {
            let main_gainer = loss.gained_by.iter().max_by_key(|&(_, count)| count);
            let gained = main_gainer.map(|(next, count)| format!(" ({count} to {next})"));
            format!("{owner} {} of {}{}", loss.lost, loss.exchanges, gained.unwrap_or_default())
        });
        let mut first = named.collect::<Vec<_>>().join("; ");
        let (count, name) = (losses.len(), OWNERS[kind].0);
        if count > MAX_NAMED {
            first += &format!(" and {} more", count - MAX_NAMED);
        }
        let reason = format!(
            "{count} {name}{} would lose or change exchanges compared with version {}: {first}; check \
             whether a file is truncated or a column has the same value everywhere",
            if count == 1 { "" } else { "s" },
            older.snapshot.version
        );
        refusals.push(Refusal::new(Gate::Losses, reason));
    }
}

fn exchange(record: &Option<Record>) -> Option<&Exchange> {
    match record {
        Some(Record::Exchange(exchange)) => Some(exchange),
        _ => None,
    }
}
