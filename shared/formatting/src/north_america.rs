//! The regions in the North American Numbering Plan with their own area codes.

use rlibphonenumber::Region;

/// The country calling code of the North American Numbering Plan.
pub(super) const NANP: i32 = 1;

/// The only region that uses this number's area code. `None` for area codes of the United States, which the
/// rules check first, and for area codes shared by several regions or used by none.
///
/// Without this, the rules would match the patterns of up to 25 regions.
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
    use rlibphonenumber::PhoneNumberType;

    use super::*;
    use crate::{metadata::RULES, reading::Reading};

    #[test]
    fn region_and_type_match_the_crate_for_every_area_code() {
        for area_code in 0..1000 {
            for subscriber in ["2345678", "5550123", "9110000", "0112345", "1234567", "8762345"] {
                let text = format!("+1{area_code:03}{subscriber}");
                let Some(reading) = Reading::parse(&text, Region::US) else { continue };
                let region = RULES.get_region_for_number(&reading.number);
                assert_eq!(reading.region, region, "{text}");
                let number_type = RULES.get_number_type(&reading.number);
                assert_eq!(reading.is_valid(), number_type != PhoneNumberType::Unknown, "{text}");
                // The table has every area code that only one region uses.
                let is_only = only_region(NANP, &reading.national_number).is_some();
                let is_of_us = [None, Some(Region::US)].contains(&region);
                assert!(is_only || is_of_us || !reading.is_valid(), "{text}");
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
