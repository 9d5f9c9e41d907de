//! The gates for a country's ranges, which compare them with the current ones and look at their content.

use jiff::civil::Date;
use numbering::ranges::{CountryRanges, NationalNumber, Range, RangeFacts, RangeUse};
use store::ImportedReport;

use super::rows::Rows;
use crate::{
    gates::{Gate, Refusal},
    quality::percent,
};

/// The maximum percentage of assigned numbers that an import may remove.
const MAX_LOST_PERCENT: f64 = 5.0;
/// The maximum percentage of assigned numbers whose holder may change.
const MAX_CHANGED_PERCENT: f64 = 20.0;
/// The maximum percentage of rows with an unknown value in a column.
const MAX_UNKNOWN_PERCENT: f64 = 5.0;
/// The minimum percentage of assigned numbers that have a holder.
const MIN_HELD_PERCENT: f64 = 50.0;

/// Runs every gate. `current` is what the country has now, if that can be read.
pub(super) fn run_gates(
    current: Option<(&CountryRanges, &ImportedReport)>,
    next: &CountryRanges,
    rows: &Rows,
    date: Option<Date>,
    is_strict: bool,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    refuse_unknown_values(rows, is_strict, &mut refusals);
    refuse_without_holders(next, &mut refusals);
    if let Some((current, imported)) = current {
        if date < imported.date {
            let dates = [date, imported.date]
                .map(|date| date.map_or("none".to_owned(), |it| it.to_string()));
            let [date, current] = dates;
            let reason = format!(
                "the newest entry is dated {date}, older than the current data ({current})"
            );
            refusals.push(Refusal::new(Gate::Dates, reason));
        }
        refuse_changes(current, next, &mut refusals);
    }
    refusals
}

fn refuse_unknown_values(rows: &Rows, is_strict: bool, refusals: &mut Vec<Refusal>) {
    for (column, &count) in &rows.unknown_values {
        let share = percent(count, rows.count);
        if share > MAX_UNKNOWN_PERCENT || is_strict {
            let reason = format!(
                "column {column}: {count} of {} rows ({share:.1}%) have an unknown value",
                rows.count
            );
            refusals.push(Refusal::new(Gate::Suspect, reason));
        }
    }
    if is_strict {
        let unknown = rows
            .warnings
            .keys()
            .filter(|kind| kind.ends_with("a column is unknown and is ignored"));
        refusals.extend(unknown.map(|kind| Refusal::new(Gate::Suspect, kind.clone())));
    }
}

fn refuse_without_holders(next: &CountryRanges, refusals: &mut Vec<Refusal>) {
    let assigned = count(next.iter(), |facts| facts.range_use == RangeUse::Assigned);
    let held =
        count(next.iter(), |facts| facts.range_use == RangeUse::Assigned && facts.holder.is_some());
    let share = share(held, assigned);
    if share < MIN_HELD_PERCENT {
        let reason =
            format!("{share:.1}% of assigned numbers have a holder, less than {MIN_HELD_PERCENT}%");
        refusals.push(Refusal::new(Gate::Suspect, reason));
    }
}

/// Refuses the loss of many assigned numbers, and many changes of their holders.
fn refuse_changes(current: &CountryRanges, next: &CountryRanges, refusals: &mut Vec<Refusal>) {
    let (mut assigned, mut lost, mut changed) = (0, 0, 0);
    for (before, after, numbers) in common_parts(current, next) {
        let is_assigned = |facts: &Option<&RangeFacts>| {
            facts.is_some_and(|it| it.range_use == RangeUse::Assigned)
        };
        if !is_assigned(&before) {
            continue;
        }
        assigned += numbers;
        if !is_assigned(&after) {
            lost += numbers;
        } else if before.map(|it| &it.holder) != after.map(|it| &it.holder) {
            changed += numbers;
        }
    }
    for (numbers, max, gate, what) in [
        (lost, MAX_LOST_PERCENT, Gate::Losses, "are no longer assigned"),
        (changed, MAX_CHANGED_PERCENT, Gate::Changes, "have another holder"),
    ] {
        let share = share(numbers, assigned);
        if share > max {
            let reason = format!("{share:.1}% of the assigned numbers {what}, more than {max}%");
            refusals.push(Refusal::new(gate, reason));
        }
    }
}

type Part<'a> = (Option<&'a RangeFacts>, Option<&'a RangeFacts>, u64);

/// Splits the current ranges where the next ones start or end.
fn common_parts<'a>(current: &'a CountryRanges, next: &'a CountryRanges) -> Vec<Part<'a>> {
    let mut starts: Vec<NationalNumber> = next.iter().map(|range| range.from).collect();
    starts.extend(next.iter().filter_map(|range| range.to.next()));
    starts.sort_unstable();
    let mut parts = Vec::new();
    for Range { from, to, facts } in current.iter() {
        let inside = starts.partition_point(|start| *start <= from)
            ..starts.partition_point(|start| *start <= to);
        let mut first = from;
        for last in starts[inside].iter().map(|start| start.previous()).chain([Some(to)]).flatten()
        {
            if first <= last {
                parts.push((
                    Some(facts),
                    next.find(first).map(|range| range.facts),
                    first.count_to(last),
                ));
                first = last.next().unwrap_or(last);
            }
        }
    }
    parts
}

fn count<'a>(
    ranges: impl Iterator<Item = Range<&'a RangeFacts>>,
    filter: impl Fn(&RangeFacts) -> bool,
) -> u64 {
    ranges.filter(|range| filter(range.facts)).map(|range| range.from.count_to(range.to)).sum()
}

fn share(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { 100.0 * part as f64 / total as f64 }
}

/// The percentage of published numbers with each use.
pub(super) fn shares(ranges: &CountryRanges) -> impl Iterator<Item = (String, f64)> {
    let total = count(ranges.iter(), |_| true);
    let uses = [RangeUse::Assigned, RangeUse::Unassigned, RangeUse::Reserved];
    uses.into_iter().map(move |range_use| {
        let numbers = count(ranges.iter(), |facts| facts.range_use == range_use);
        (range_use.to_string().to_lowercase(), (share(numbers, total) * 100.0).round() / 100.0)
    })
}
