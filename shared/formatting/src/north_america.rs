//! The regions of the North American Numbering Plan that have area codes of their own.

use rlibphonenumber::Region;

/// The country calling code of the North American Numbering Plan.
pub(super) const NANP: i32 = 1;

/// The only region that has numbers with the area code of this one; `None` for the area codes of
/// the United States, whose numbers the rules look for first, and for those that several regions
/// have or none has.
///
/// Without this the rules would match the patterns of up to 25 regions.
pub(super) fn only_region(calling_code: i32, national_number: &str) -> Option<Region> {
    if calling_code != NANP {
        return None;
    }
    let area_code: u16 = national_number.get(..3)?.parse().ok()?;
    Some(match area_code {
        204 | 226 | 236 | 249 | 250 | 257 | 263 | 273 | 289 | 306 | 343 | 354 | 365 | 367 | 368
        | 382 | 403 | 416 | 418 | 428 | 431 | 437 | 438 | 450 | 468 | 474 | 506 | 514 | 519
        | 548 | 579 | 581 | 584 | 587 | 600 | 604 | 613 | 622 | 633 | 639 | 647 | 672 | 683
        | 705 | 709 | 742 | 753 | 778 | 780 | 782 | 807 | 819 | 825 | 867 | 873 | 879 | 902
        | 905 | 942 => Region::CA,
        242 => Region::BS,
        246 => Region::BB,
        264 => Region::AI,
        268 => Region::AG,
        284 => Region::VG,
        340 => Region::VI,
        345 => Region::KY,
        441 => Region::BM,
        473 => Region::GD,
        649 => Region::TC,
        658 | 876 => Region::JM,
        664 => Region::MS,
        670 => Region::MP,
        671 => Region::GU,
        684 => Region::AS,
        721 => Region::SX,
        758 => Region::LC,
        767 => Region::DM,
        784 => Region::VC,
        787 | 939 => Region::PR,
        809 | 829 | 849 => Region::DO,
        868 => Region::TT,
        869 => Region::KN,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use regex_automata::{Anchored, hybrid::dfa::DFA, util::start};
    use rlibphonenumber::{PhoneNumber, PhoneNumberType, interfaces::AsOriginal};

    use super::{super::metadata::RULES, *};

    /// Each with the patterns of which one matches every number of the region: its leading digits,
    /// and each type of numbers.
    fn regions() -> Vec<(Region, Vec<DFA>)> {
        let rules = RULES.as_original();
        let regions = rules.get_regions_for_country_calling_code(NANP).unwrap();
        let with_patterns = regions.map(|region| {
            let metadata = rules.get_metadata_for_region(region).unwrap();
            let types = [
                &metadata.fixed_line,
                &metadata.mobile,
                &metadata.toll_free,
                &metadata.premium_rate,
                &metadata.shared_cost,
                &metadata.personal_number,
                &metadata.voip,
                &metadata.pager,
                &metadata.uan,
                &metadata.voicemail,
            ];
            let of_types = types.map(|of_type| of_type.national_number_pattern().anchor_full());
            let leading_digits = metadata.leading_digits().anchor_start();
            let patterns = of_types.into_iter().chain([leading_digits]);
            let patterns = patterns.filter_map(|pattern| Some(pattern.unwrap()?.as_str()));
            (region, patterns.map(|pattern| DFA::new(pattern).unwrap()).collect())
        });
        with_patterns.collect()
    }

    /// Whether a number that begins with these digits can match the pattern.
    fn can_match(pattern: &DFA, digits: &str) -> bool {
        let mut cache = pattern.create_cache();
        let anchored = start::Config::new().anchored(Anchored::Yes);
        let mut state = pattern.start_state(&mut cache, &anchored).unwrap();
        for &digit in digits.as_bytes() {
            state = pattern.next_state(&mut cache, state, digit).unwrap();
        }
        !state.is_dead()
    }

    #[test]
    fn every_area_code_belongs_to_the_regions_of_the_metadata() {
        let regions = regions();
        assert_eq!(regions.len(), 25);
        for area_code in 0..1000 {
            let area_code = format!("{area_code:03}");
            let has_area_code =
                |patterns: &[DFA]| patterns.iter().any(|pattern| can_match(pattern, &area_code));
            let with_area_code: Vec<Region> = regions
                .iter()
                .filter_map(|(region, patterns)| has_area_code(patterns).then_some(*region))
                .collect();
            match only_region(NANP, &area_code) {
                Some(region) => assert_eq!(with_area_code, [region], "{area_code}"),
                None => {
                    let first = with_area_code.first();
                    assert!(first.is_none_or(|&first| first == Region::US), "{area_code}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_every_area_code_have_the_region_and_type_of_the_crate() {
        for area_code in 0..1000 {
            for subscriber in ["2345678", "5550123", "9110000", "0112345", "1234567"] {
                let text = format!("+1{area_code:03}{subscriber}");
                let Some(reading) = super::super::reading::Reading::of(&text, Region::US) else {
                    continue;
                };
                let number: &PhoneNumber = &reading.number;
                assert_eq!(reading.region, RULES.get_region_for_number(number), "{text}");
                let is_known = RULES.get_number_type(number) != PhoneNumberType::Unknown;
                assert_eq!(reading.is_valid(), is_known, "{text}");
            }
        }
    }

    #[test]
    fn only_numbers_of_the_plan_have_its_area_codes() {
        assert_eq!(only_region(NANP, "8762345678"), Some(Region::JM));
        assert_eq!(only_region(NANP, "87"), None);
        assert_eq!(only_region(44, "8762345678"), None);
    }
}
