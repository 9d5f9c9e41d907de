//! Counts that should not fall: of records, carriers and area codes, and of the different values of a
//! column.

use std::{cmp::Reverse, collections::BTreeMap};

use itertools::Itertools;
use numbering::records::{Country, Npa};

use super::{
    MeasuredVersion, Refusal,
    thresholds::{FEWEST, Thresholds},
};
use crate::quality::{Coverage, Quality, is_comparable, percent};

/// How many of something both versions have.
struct Count {
    what: String,
    before: u32,
    after: u32,
}

impl Count {
    fn new(what: &str, before: u32, after: u32) -> Self {
        Self { what: what.to_owned(), before, after }
    }

    fn lost(&self) -> u32 {
        self.before.saturating_sub(self.after)
    }

    fn fell_by_more_than(&self, most_percent: f64) -> bool {
        percent(self.lost(), self.before) > most_percent
    }

    fn refusal(self, most_percent: f64) -> Refusal {
        let Self { what, before, after } = self;
        Refusal::Shrunk { what, before, after, most_percent }
    }
}

pub(super) fn refuse_shrunk(
    current: &MeasuredVersion<'_>,
    next: &MeasuredVersion<'_>,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for count in whole_counts(current, next) {
        if count.fell_by_more_than(thresholds.shrink) {
            refusals.push(count.refusal(thresholds.shrink));
        }
    }
    for count in partial_counts(current.quality, next.quality) {
        if count.lost() >= FEWEST && count.fell_by_more_than(thresholds.shrink) {
            refusals.push(count.refusal(thresholds.shrink));
        }
    }
    for count in distinct_values(current.quality, next.quality) {
        if count.lost() >= FEWEST && count.fell_by_more_than(thresholds.distinct_shrink) {
            let Count { what, before, after } = count;
            let most_percent = thresholds.distinct_shrink;
            refusals.push(Refusal::FewerValues { what, before, after, most_percent });
        }
    }
    if is_comparable(current.quality.records(), next.quality.records()) {
        refuse_area_codes(current.quality, next.quality, thresholds, refusals);
    }
}

/// Counts that are compared however few they are.
fn whole_counts(current: &MeasuredVersion<'_>, next: &MeasuredVersion<'_>) -> Vec<Count> {
    let mut counts = Vec::new();
    for country in Country::ALL {
        let records = |version: &MeasuredVersion<'_>| {
            version.quality.by_country.get(&country).map_or(0, |coverage| coverage.records)
        };
        let what = format!("the records of {country}");
        counts.push(Count { what, before: records(current), after: records(next) });
    }
    let (before, after) = (&current.quality.carriers, &next.quality.carriers);
    counts.push(Count::new("the carriers", before.total, after.total));
    counts.push(Count::new("the carriers of known type", before.with_type, after.with_type));
    let (before, after) = (&current.quality.area_codes, &next.quality.area_codes);
    counts.push(Count::new("the area codes", before.total, after.total));
    let blocks = |version: &MeasuredVersion<'_>| version.dataset.block_count() as u32;
    counts.push(Count::new("the thousands blocks", blocks(current), blocks(next)));
    counts
}

/// Counts that are compared only if many are lost. The overlay keeps the number of all carriers up,
/// even if the reports lose most of theirs, so carriers that hold exchanges are counted by themselves.
fn partial_counts(before: &Quality, after: &Quality) -> [Count; 4] {
    let (carriers_before, carriers_after) = (&before.carriers, &after.carriers);
    [
        Count::new(
            "the carriers that hold exchanges",
            carriers_before.with_exchanges,
            carriers_after.with_exchanges,
        ),
        Count::new(
            "the carriers with a state",
            carriers_before.with_state,
            carriers_after.with_state,
        ),
        Count::new(
            "the carriers with a common name",
            carriers_before.with_common_name,
            carriers_after.with_common_name,
        ),
        Count::new(
            "the area codes with a state",
            before.area_codes.with_state,
            after.area_codes.with_state,
        ),
    ]
}

/// How many different values each column has.
fn distinct_values(before: &Quality, after: &Quality) -> Vec<Count> {
    let mut counts = Vec::new();
    for (country, coverage) in &before.by_country {
        let no_coverage = Coverage::default();
        let next_coverage = after.by_country.get(country).unwrap_or(&no_coverage);
        let both = coverage.values().into_iter().zip(next_coverage.values());
        for ((column, values_before), (_, values_after)) in both {
            let what = format!("the different {column} of {country}");
            let (before, after) = (values_before.distinct, values_after.distinct);
            counts.push(Count { what, before, after });
        }
    }
    counts
}

/// Refuses area codes that lose all exchanges or many of them. That hardly ever happens: the file was
/// likely cut off between two rows.
fn refuse_area_codes(
    before: &Quality,
    after: &Quality,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    let vanished: Vec<Npa> = before
        .by_area_code
        .keys()
        .filter(|npa| !after.by_area_code.contains_key(npa))
        .copied()
        .collect();
    if !vanished.is_empty() && thresholds.shrink < 100.0 {
        refusals.push(Refusal::AreaCodesVanished {
            count: vanished.len(),
            first: first_of(vanished.iter().map(ToString::to_string)),
        });
    }
    let shrunk = shrunk_area_codes(&before.by_area_code, &after.by_area_code, thresholds);
    if !shrunk.is_empty() {
        let in_words =
            |count: &Count| format!("{} from {} to {}", count.what, count.before, count.after);
        refusals.push(Refusal::AreaCodesShrunk {
            count: shrunk.len(),
            first: first_of(shrunk.iter().map(in_words)),
            most_percent: thresholds.area_code_shrink,
        });
    }
}

/// The area codes that lose too many exchanges, those that lose most first.
fn shrunk_area_codes(
    before: &BTreeMap<Npa, Coverage>,
    after: &BTreeMap<Npa, Coverage>,
    thresholds: &Thresholds,
) -> Vec<Count> {
    let in_both = before.iter().filter_map(|(npa, coverage)| {
        let what = npa.to_string();
        Some(Count { what, before: coverage.records, after: after.get(npa)?.records })
    });
    let shrunk = in_both.filter(|count| {
        count.lost() >= FEWEST && count.fell_by_more_than(thresholds.area_code_shrink)
    });
    shrunk.sorted_by_key(|count| Reverse(count.lost())).collect()
}

/// Most area codes a refusal names; the quality report has all of them.
const MOST_NAMED: usize = 5;

/// The first of some texts in a list, and how many more there are.
pub(super) fn first_of(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MOST_NAMED);
    let named = all.take(MOST_NAMED).join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
