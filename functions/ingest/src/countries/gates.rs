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
        refuse_missing_files(current, next, &mut refusals);
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

/// Refuses data without a file that the current data has.
fn refuse_missing_files(
    current: &CountryRanges,
    next: &CountryRanges,
    refusals: &mut Vec<Refusal>,
) {
    let missing = current.covered().iter().filter(|digits| !next.covers(digits));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if !missing.is_empty() {
        let digits = missing.join(", ");
        let reason = format!(
            "no file covers numbers that start with {digits}, which the current data covers"
        );
        refusals.push(Refusal::new(Gate::Losses, reason));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{AllowedGates, GateResult};

    /// Numbers of a plan with 100 numbers: the first are held by one company, the next by another, the rest are free.
    fn ranges([first, second]: [u64; 2]) -> CountryRanges {
        let number = |value: u64| format!("{value:02}").parse().unwrap();
        let range = |from: u64, to: u64, holder: Option<&str>| Range {
            from: number(from),
            to: number(to - 1),
            facts: RangeFacts {
                range_use: holder.map_or(RangeUse::Unassigned, |_| RangeUse::Assigned),
                holder: holder.filter(|holder| !holder.is_empty()).map(str::to_owned),
                ..RangeFacts::default()
            },
        };
        let ranges = [
            range(0, first, Some("a")),
            range(first, first + second, Some("")),
            range(first + second, 100, None),
        ];
        let is_empty = |range: &Range| range.to.next() == Some(range.from) || range.to < range.from;
        CountryRanges::new(vec![], ranges.into_iter().filter(|it| !is_empty(it)).collect())
    }

    fn rows(unknown: u32) -> Rows {
        let values = (unknown > 0).then(|| ("Status".to_owned(), unknown));
        let unknown_values = values.into_iter().collect();
        Rows { count: 100, unknown_values, ..Rows::default() }
    }

    #[test]
    fn each_gate_refuses_values_beyond_its_bound() {
        let gates = |[current, next]: [[u64; 2]; 2], unknown, dates: [&str; 2], is_strict| {
            let [current_date, date] = dates.map(|date| date.parse().ok());
            let imported = ImportedReport { date: current_date, ..ImportedReport::default() };
            let (current, next, rows) = (ranges(current), ranges(next), rows(unknown));
            let refusals = run_gates(Some((&current, &imported)), &next, &rows, date, is_strict);
            let refused = GateResult::new(refusals, AllowedGates::default());
            let gates = refused.allowed_by.into_iter().flatten().map(|gate| gate.to_string());
            gates.collect::<Vec<_>>().join(" ")
        };
        let same = ["2026-01-02", "2026-01-02"];
        for (ranges, unknown, dates, is_strict, expected) in [
            ([[99, 0], [99, 0]], 0, same, true, ""),
            // Of 60 numbers, 3 are 5% and 12 are 20%.
            ([[60, 0], [57, 0]], 0, same, false, ""),
            ([[60, 0], [56, 0]], 0, same, false, "losses"),
            ([[60, 0], [48, 12]], 0, same, false, ""),
            ([[60, 0], [47, 13]], 0, same, false, "changes"),
            ([[60, 0], [99, 0]], 0, same, false, ""),
            ([[49, 50], [49, 50]], 0, same, false, "suspect"),
            ([[48, 48], [48, 48]], 0, same, false, ""),
            ([[99, 0], [99, 0]], 5, same, false, ""),
            ([[99, 0], [99, 0]], 6, same, false, "suspect"),
            ([[99, 0], [99, 0]], 1, same, true, "suspect"),
            ([[99, 0], [99, 0]], 0, ["2026-01-02", "2026-01-03"], false, ""),
            ([[99, 0], [99, 0]], 0, ["2026-01-02", "2026-01-01"], false, "dates"),
            ([[99, 0], [99, 0]], 0, ["2026-01-02", ""], false, "dates"),
            ([[99, 0], [99, 0]], 0, ["", "2026-01-02"], false, ""),
        ] {
            let found = gates(ranges, unknown, dates, is_strict);
            assert_eq!(found, expected, "{ranges:?} {unknown} {dates:?} {is_strict}");
        }
    }

    #[test]
    fn missing_files_are_refused() {
        let data = |covered: &[&str]| {
            CountryRanges::new(covered.iter().map(|it| (*it).to_owned()).collect(), vec![])
        };
        let reason = "no file covers numbers that start with 3, 5, which the current data covers";
        for (current, next, expected) in [
            (["3", "7"].as_slice(), ["7", "3"].as_slice(), None),
            (&["70", "71"], &["7"], None),
            (&["3", "5", "7"], &["7"], Some(Refusal::new(Gate::Losses, reason.to_owned()))),
        ] {
            let mut refusals = Vec::new();
            refuse_missing_files(&data(current), &data(next), &mut refusals);
            assert_eq!(refusals, expected.as_slice());
        }
    }

    #[test]
    fn unknown_columns_are_refused_on_request() {
        let mut rows = rows(0);
        rows.warn("s1.csv: a column is unknown and is ignored", "'Notes'");
        for (is_strict, count) in [(false, 0), (true, 1)] {
            let refusals = run_gates(None, &ranges([99, 0]), &rows, None, is_strict);
            assert_eq!(refusals.len(), count);
        }
    }
}
