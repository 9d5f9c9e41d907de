//! Counts that should not fall: of records, carriers, area codes, and of the different values of a
//! column.

use std::collections::BTreeMap;

use itertools::Itertools;
use numbering::records::{Country, Npa};

use super::{
    Counted, Refusal,
    thresholds::{FEWEST, Thresholds},
};
use crate::quality::{Coverage, Quality, is_comparable, percent};

/// A count of both versions.
struct Count {
    what: String,
    before: u32,
    after: u32,
}

impl Count {
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
    current: &Counted<'_>,
    next: &Counted<'_>,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for count in totals(current, next) {
        if count.fell_by_more_than(thresholds.shrink) {
            refusals.push(count.refusal(thresholds.shrink));
        }
    }
    for count in parts(current.quality, next.quality) {
        if count.lost() >= FEWEST && count.fell_by_more_than(thresholds.shrink) {
            refusals.push(count.refusal(thresholds.shrink));
        }
    }
    for count in distinct(current.quality, next.quality) {
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

/// Counts of which hardly any may go, however few there are.
fn totals(current: &Counted<'_>, next: &Counted<'_>) -> Vec<Count> {
    let records = Country::ALL.map(|country| {
        let of = |quality: &Quality| quality.by_country.get(&country).map_or(0, |of| of.records);
        (format!("the records of {country}"), of(current.quality), of(next.quality))
    });
    let (before, after) = (&current.quality.carriers, &next.quality.carriers);
    let (old_codes, new_codes) = (&current.quality.area_codes, &next.quality.area_codes);
    let blocks = |counted: &Counted<'_>| counted.dataset.block_count() as u32;
    let others = [
        ("the carriers", before.total, after.total),
        ("the carriers of known type", before.with_type, after.with_type),
        ("the area codes", old_codes.total, new_codes.total),
        ("the thousands blocks", blocks(current), blocks(next)),
    ];
    let others = others.map(|(what, before, after)| (what.to_owned(), before, after));
    let all = records.into_iter().chain(others);
    all.map(|(what, before, after)| Count { what, before, after }).collect()
}

/// Counts of which a few may go. The overlay keeps the number of all carriers up whatever the
/// reports lose, so those that hold exchanges are counted by themselves.
fn parts(before: &Quality, after: &Quality) -> Vec<Count> {
    let counts = [
        (
            "the carriers that hold exchanges",
            before.carriers.with_exchanges,
            after.carriers.with_exchanges,
        ),
        ("the carriers with a state", before.carriers.with_state, after.carriers.with_state),
        (
            "the carriers with a common name",
            before.carriers.with_common_name,
            after.carriers.with_common_name,
        ),
        ("the area codes with a state", before.area_codes.with_state, after.area_codes.with_state),
    ];
    let count = |(what, before, after)| Count { what: String::from(what), before, after };
    counts.into_iter().map(count).collect()
}

/// How many different values each column has.
fn distinct(before: &Quality, after: &Quality) -> Vec<Count> {
    let mut counts = Vec::new();
    for (country, coverage) in &before.by_country {
        let nothing = Coverage::default();
        let next = after.by_country.get(country).unwrap_or(&nothing);
        for ((what, old), (_, new)) in coverage.values().into_iter().zip(next.values()) {
            let what = format!("the different {what} of {country}");
            counts.push(Count { what, before: old.distinct, after: new.distinct });
        }
    }
    counts
}

/// An area code is not taken out of service, and hardly ever loses exchanges: where it does, the file
/// was likely cut off between two rows.
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
        let first = shrunk
            .iter()
            .map(|Count { what, before, after }| format!("{what} from {before} to {after}"));
        refusals.push(Refusal::AreaCodesShrunk {
            count: shrunk.len(),
            first: first_of(first),
            most_percent: thresholds.area_code_shrink,
        });
    }
}

fn shrunk_area_codes(
    before: &BTreeMap<Npa, Coverage>,
    after: &BTreeMap<Npa, Coverage>,
    thresholds: &Thresholds,
) -> Vec<Count> {
    let both = before.iter().filter_map(|(npa, old)| Some((npa, old, after.get(npa)?)));
    let counts = both.map(|(npa, old, new)| Count {
        what: npa.to_string(),
        before: old.records,
        after: new.records,
    });
    let shrunk = counts.filter(|count| {
        count.lost() >= FEWEST && count.fell_by_more_than(thresholds.area_code_shrink)
    });
    shrunk.sorted_by_key(|count| std::cmp::Reverse(count.lost())).collect()
}

/// Most area codes a refusal names; the quality report has all of them.
const MOST_NAMED: usize = 5;

/// The first of them in a list, and how many more there are.
pub(super) fn first_of(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MOST_NAMED);
    let named = all.take(MOST_NAMED).join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}
