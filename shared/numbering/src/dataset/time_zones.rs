//! The time zones of area codes.

use std::collections::BTreeSet;

use super::Dataset;
use crate::records::Npa;

type Zones = BTreeSet<&'static str>;

impl Dataset {
    /// The time zones of an area code. `zones_of` looks codes up in a map, which lags behind new codes and has wrong zones
    /// for a few. So if the report says that the area spans several zones, all zones of the overlay count; if the oldest code
    /// does not have all of a code's zones, its own count; and a code that is in no map gets the zones of its states.
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
        let area_codes = [
            ("407", 1988, "FL", &["407", "689"][..]),
            // Wrong in the map
            ("689", 2005, "FL", &["407", "689"]),
            ("709", 1962, "NL", &["709", "879"]),
            // Partly wrong in the map
            ("879", 2024, "NL", &["709", "879"]),
            // With fewer zones in the map than the oldest code
            ("418", 1947, "QC", &["418", "581"]),
            ("581", 2008, "QC", &["418", "581"]),
            // With an oldest code that is not in the map
            ("998", 1947, "TX", &["998", "997"]),
            ("997", 2008, "TX", &["998", "997"]),
            // In several zones
            ("270", 1999, "KY", &["270", "364"]),
            ("364", 2014, "KY", &["270", "364"]),
            // Not in the map
            ("761", 2026, "KY", &[]),
            ("565", 2026, "GA", &[]),
        ];
        let area_codes = area_codes.map(|(npa, year, state, overlay)| {
            let states = [state.parse().unwrap()].into();
            let mut area_code = AreaCode { states, ..AreaCode::sample(npa) };
            area_code.plan.overlay = overlay.iter().map(|npa| npa.parse().unwrap()).collect();
            area_code.plan.in_service_on = Some(Date::constant(year, 1, 1));
            area_code.plan.has_several_time_zones = overlay.contains(&"270");
            area_code
        });
        let dataset = Dataset::new(Vec::new(), area_codes.to_vec(), Vec::new());
        let map = |npa: Npa| match npa.to_string().as_str() {
            "407" | "364" => vec!["New_York"],
            "689" | "997" => vec!["Chicago"],
            "709" | "418" => vec!["Halifax", "St_Johns"],
            "879" => vec!["Puerto_Rico", "St_Johns"],
            "581" => vec!["Halifax"],
            "270" => vec!["Chicago", "New_York"],
            "999" => vec!["Denver"],
            _ => vec![],
        };
        let zones_of = |codes: Vec<Npa>| codes.into_iter().flat_map(map).collect();
        for (npa, expected) in [
            ("407", &["New_York"][..]),
            ("689", &["New_York"]),
            ("879", &["Halifax", "St_Johns"]),
            ("581", &["Halifax"]),
            ("997", &["Chicago"]),
            ("270", &["Chicago", "New_York"]),
            ("364", &["Chicago", "New_York"]),
            ("761", &["Chicago", "New_York"]),
            ("565", &[]),
            ("999", &["Denver"]),
        ] {
            let zones = dataset.time_zones(npa.parse().unwrap(), zones_of);
            let expected: Zones = expected.iter().copied().collect();
            assert_eq!(zones, expected, "{npa}");
        }
    }
}
