//! Makes published ranges disjoint: where they overlap, the narrower range wins.

use std::collections::BTreeMap;

use numbering::ranges::{NationalNumber, Range};

use super::rows::{PublishedRange, Rows};

/// Returns the ranges without overlaps, and warns about each overlap. Of two ranges with equally many numbers, the one
/// with the lower precedence value wins, then the first.
pub(super) fn resolve(rows: &mut Rows) -> Vec<Range> {
    let mut published = std::mem::take(&mut rows.ranges);
    published.sort_by_key(|PublishedRange { range, precedence }| {
        (range.from.count_to(range.to), *precedence)
    });
    let mut resolved: BTreeMap<NationalNumber, Range> = BTreeMap::new();
    for PublishedRange { range, .. } in published {
        let gaps = gaps(&resolved, &range);
        if gaps != [(range.from, range.to)] {
            let example = format!("{}-{}", range.from, range.to);
            rows.warn("a range overlaps a narrower one, which wins", example);
        }
        for (from, to) in gaps {
            resolved.insert(from, Range { from, to, facts: range.facts.clone() });
        }
    }
    resolved.into_values().collect()
}

/// The parts of a range that no resolved range contains.
fn gaps(
    resolved: &BTreeMap<NationalNumber, Range>,
    range: &Range,
) -> Vec<(NationalNumber, NationalNumber)> {
    let mut gaps = Vec::new();
    let mut next = Some(range.from);
    let before = resolved.range(..range.from).next_back();
    let inside = resolved.range(range.from..=range.to);
    for taken in before.into_iter().chain(inside).map(|(_, taken)| taken) {
        let Some(from) = next.filter(|from| taken.to >= *from) else { continue };
        gaps.extend(taken.from.previous().filter(|to| from <= *to).map(|to| (from, to)));
        next = taken.to.next().filter(|next| *next <= range.to);
        if next.is_none() {
            break;
        }
    }
    gaps.extend(next.map(|from| (from, range.to)));
    gaps
}

#[cfg(test)]
mod tests {
    use numbering::ranges::{CountryRanges, RangeFacts};
    use proptest::prelude::*;

    use super::*;

    /// A range of four-digit numbers whose holder is its position in the file.
    fn published() -> impl Strategy<Value = (u64, u64, usize)> {
        (0..100_u64, 0..40_u64, 0..2_usize)
            .prop_map(|(from, size, precedence)| (from, from + size, precedence))
    }

    proptest! {
        #[test]
        fn the_narrowest_range_wins_then_precedence_then_the_first(
            published in proptest::collection::vec(published(), 1..12),
        ) {
            let number = |value: u64| format!("{value:04}").parse::<NationalNumber>().unwrap();
            let mut rows = Rows::default();
            for (index, &(from, to, precedence)) in published.iter().enumerate() {
                let facts = RangeFacts { holder: Some(index.to_string()), ..RangeFacts::default() };
                let range = Range { from: number(from), to: number(to), facts };
                rows.ranges.push(PublishedRange { range, precedence });
            }
            let ranges = CountryRanges::new(Vec::new(), resolve(&mut rows));
            for value in 0..150 {
                let containing = published.iter().enumerate().filter(|(_, it)| it.0 <= value && value <= it.1);
                let winner = containing.min_by_key(|(index, it)| (it.1 - it.0, it.2, *index));
                let found = ranges.find(number(value)).and_then(|range| range.facts.holder.clone());
                prop_assert_eq!(found, winner.map(|(index, _)| index.to_string()));
            }
            let is_overlapping = |it: &(u64, u64, usize)| {
                published.iter().filter(|other| other.0 <= it.1 && it.0 <= other.1).count() > 1
            };
            prop_assert_eq!(rows.warnings.is_empty(), !published.iter().any(is_overlapping));
        }
    }
}
