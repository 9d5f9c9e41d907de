//! The time zones of area codes.

use std::collections::BTreeSet;

use super::Dataset;
use crate::records::Npa;

type Zones = BTreeSet<&'static str>;

impl Dataset {
    /// The time zones of an area code. `zones_of` uses a map that lacks new codes and is wrong for a few. If the report
    /// says that the area spans several zones, all zones of the overlay apply. Otherwise, if the oldest code lacks one
    /// of this code's zones, the oldest code's zones apply. Codes not in the map get their states' zones.
    pub fn time_zones(&self, npa: Npa, zones_of: impl Fn(Vec<Npa>) -> Zones) -> Zones {
        let own = zones_of(vec![npa]);
        let Some(area_code) = self.area_code(npa) else { return own };
        let all = &own | &zones_of(area_code.plan.overlay.iter().copied().collect());
        if all.is_empty() && !area_code.states.is_empty() {
            let codes = self.area_codes().filter(|it| !it.states.is_disjoint(&area_code.states));
            zones_of(codes.map(|it| it.npa).collect())
        } else if area_code.plan.has_several_time_zones || own.is_empty() {
            all
        } else {
            let oldest = self.oldest(&area_code.plan.overlay).unwrap_or(npa);
            let oldest = zones_of(vec![oldest]);
            if own.is_subset(&oldest) || oldest.is_empty() { own } else { oldest }
        }
    }

    /// The code that came into service first.
    fn oldest(&self, codes: &BTreeSet<Npa>) -> Option<Npa> {
        let dated = codes.iter().filter_map(|&npa| {
            let date = self.area_code(npa)?.plan.in_service_on?;
            Some((date, npa))
        });
        dated.min().map(|(_, npa)| npa)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::Date;

    use super::*;
    use crate::records::AreaCode;

    #[test]
    fn overlays_and_states_correct_the_map() {
        let lines = include_str!("time_zones.txt").lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<Vec<&'static str>> = lines.map(|line| line.split(' ').collect()).collect();
        let list = |cell: &'static str| cell.split(',').filter(|item| *item != "-");
        let npa = |row: &[&str]| row[0].trim_end_matches('*').parse::<Npa>().unwrap();
        let area_codes = rows.iter().map(|row| {
            let states = [row[2].parse().unwrap()].into();
            let mut area_code = AreaCode { states, ..AreaCode::sample(&npa(row).to_string()) };
            area_code.plan.overlay = list(row[3]).map(|npa| npa.parse().unwrap()).collect();
            area_code.plan.in_service_on = Some(Date::constant(row[1].parse().unwrap(), 1, 1));
            area_code.plan.has_several_time_zones = row[0].ends_with('*');
            area_code
        });
        let dataset = Dataset::new(Vec::new(), area_codes.collect(), Vec::new());
        let zones_of = |codes: Vec<Npa>| {
            let known = rows.iter().filter(|row| codes.contains(&npa(row)));
            known.flat_map(|row| list(row[4])).collect()
        };
        for row in &rows {
            let expected: Zones = list(row[5]).collect();
            assert_eq!(dataset.time_zones(npa(row), zones_of), expected, "{row:?}");
        }
        let unassigned = "999".parse().unwrap();
        assert_eq!(dataset.time_zones(unassigned, |_| ["Denver"].into()), ["Denver"].into());
    }
}
