//! The regions in the North American Numbering Plan that have their own area codes.

use std::{collections::HashMap, sync::LazyLock};

use rlibphonenumber::Region;

/// The country calling code of the North American Numbering Plan.
pub(super) const NANP: i32 = 1;

/// The only region that uses this number's area code. `None` for US area codes, which the rules check first,
/// and for codes that several regions share or that are unused.
///
/// Without this, the rules would match the patterns of up to 25 regions.
pub(super) fn only_region(calling_code: i32, national_number: &str) -> Option<Region> {
    (calling_code == NANP).then(|| REGIONS.get(national_number.get(..3)?).copied())?
}

/// The regions other than the United States, by area code.
static REGIONS: LazyLock<HashMap<&str, Region>> = LazyLock::new(|| {
    let lines = include_str!("area_codes.txt").lines();
    let regions = lines.filter_map(|line| {
        let (region, area_codes) = line.split_once(' ')?;
        Some((Region::try_from(region).ok()?, area_codes))
    });
    let codes = |(region, codes): (_, &'static str)| codes.split(' ').map(move |it| (it, region));
    regions.flat_map(codes).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::Reading;

    /// The tests in `reading` compare the table's regions with `rlibphonenumber`.
    #[test]
    fn the_table_has_every_area_code_with_a_single_region() {
        for area_code in 0..1000 {
            let text = format!("+1{area_code:03}2345678");
            let Some(reading) = Reading::parse(&text, Region::US) else { continue };
            let is_only = only_region(NANP, &reading.national_number).is_some();
            let is_us = [None, Some(Region::US)].contains(&reading.region);
            assert!(is_only || is_us || !reading.is_valid(), "{text}");
        }
        assert_eq!(only_region(NANP, "87"), None);
        assert_eq!(only_region(44, "8762345678"), None);
    }
}
