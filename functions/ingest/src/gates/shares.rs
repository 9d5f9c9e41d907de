//! The coverage of each column, by country and by area code: it should hardly move.

use numbering::records::Npa;

use super::{
    Refusal,
    counts::first_of,
    thresholds::{FEWEST, Thresholds},
};
use crate::quality::{Column, Coverage, Quality, is_comparable};

/// A column's coverage in both versions, in percent.
struct Movement {
    before: f64,
    after: f64,
    /// The movement as a number of records of the smaller version.
    records: f64,
}

impl Movement {
    fn new(column: Column, before: &Coverage, after: &Coverage) -> Self {
        let (percent_before, percent_after) = (before.percent(column), after.percent(column));
        let points = (percent_after - percent_before).abs();
        let fewer_records = f64::from(before.records.min(after.records));
        let records = points / 100.0 * fewer_records;
        Self { before: percent_before, after: percent_after, records }
    }

    fn points(&self) -> f64 {
        (self.after - self.before).abs()
    }

    fn exceeds(&self, most_points: f64) -> bool {
        self.points() > most_points && self.records >= f64::from(FEWEST)
    }
}

pub(super) fn refuse_moved(
    before: &Quality,
    after: &Quality,
    thresholds: &Thresholds,
    refusals: &mut Vec<Refusal>,
) {
    for (country, coverage_before) in &before.by_country {
        let Some(coverage_after) = after.by_country.get(country) else { continue };
        if !is_comparable(coverage_before.records, coverage_after.records) {
            continue;
        }
        for column in Column::ALL {
            let movement = Movement::new(column, coverage_before, coverage_after);
            if movement.exceeds(thresholds.country_points) {
                refusals.push(Refusal::CountryMoved {
                    what: format!("the {country} exchanges {}", column.described()),
                    before: movement.before,
                    after: movement.after,
                    most_points: thresholds.country_points,
                });
            }
        }
    }
    for column in Column::ALL {
        let moved = moved_area_codes(column, before, after, thresholds.area_code_points);
        if moved.is_empty() {
            continue;
        }
        let first = moved.iter().map(|(npa, Movement { before, after, .. })| {
            format!("{npa} from {before:.1} % to {after:.1} %")
        });
        refusals.push(Refusal::AreaCodesMoved {
            what: column.described(),
            count: moved.len(),
            first: first_of(first),
            most_points: thresholds.area_code_points,
        });
    }
}

/// The area codes whose coverage moves too far, those that move farthest first.
fn moved_area_codes(
    column: Column,
    before: &Quality,
    after: &Quality,
    most_points: f64,
) -> Vec<(Npa, Movement)> {
    let mut moved = Vec::new();
    for (npa, coverage_before) in &before.by_area_code {
        let Some(coverage_after) = after.by_area_code.get(npa) else { continue };
        let movement = Movement::new(column, coverage_before, coverage_after);
        let is_compared = is_comparable(coverage_before.records, coverage_after.records);
        if is_compared && movement.exceeds(most_points) {
            moved.push((*npa, movement));
        }
    }
    moved.sort_by(|(_, a), (_, b)| b.points().total_cmp(&a.points()));
    moved
}
