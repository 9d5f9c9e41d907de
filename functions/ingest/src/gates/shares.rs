//! The coverage of each column, by country and by area code: it should hardly move.

use itertools::Itertools;
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
    /// As many records as the movement is of the smaller version.
    records: f64,
}

impl Movement {
    fn of(column: Column, before: &Coverage, after: &Coverage) -> Self {
        let (old, new) = (before.percent(column), after.percent(column));
        let fewer = f64::from(before.records.min(after.records));
        Self { before: old, after: new, records: (new - old).abs() / 100.0 * fewer }
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
    for (country, old) in &before.by_country {
        let Some(new) = after.by_country.get(country) else { continue };
        if !is_comparable(old.records, new.records) {
            continue;
        }
        for column in Column::ALL {
            let movement = Movement::of(column, old, new);
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
    let both = before.by_area_code.iter();
    let both = both.filter_map(|(npa, old)| Some((*npa, old, after.by_area_code.get(npa)?)));
    let comparable = both.filter(|(_, old, new)| is_comparable(old.records, new.records));
    let movements = comparable.map(|(npa, old, new)| (npa, Movement::of(column, old, new)));
    movements
        .filter(|(_, movement)| movement.exceeds(most_points))
        .sorted_by(|(_, a), (_, b)| b.points().total_cmp(&a.points()))
        .collect()
}
