//! The rules, built from `rlibphonenumber`'s metadata with each `\d` rewritten as `[0-9]`.
//!
//! `examples/rewrite_phone_metadata/main.rs` writes the file and explains why.

use std::sync::LazyLock;

use prost::Message;
use rlibphonenumber::{PhoneMetadataCollection, PhoneNumberUtil, interfaces::AsOriginal};

use super::{country::DefaultCountry, first_digits, north_america::NANP};

const METADATA: &[u8] = include_bytes!("phone_metadata.bin");

/// The rules, built once per process.
pub(super) static RULES: LazyLock<PhoneNumberUtil> = LazyLock::new(|| {
    let collection = PhoneMetadataCollection::decode(METADATA)
        .expect("the metadata is compiled in, and a test decodes it");
    PhoneNumberUtil::new_for_metadata(collection)
        .expect("the metadata is compiled in, and a test builds the rules from it")
});

/// Builds the rules before the first number arrives, and compiles the patterns that most North American numbers need.
/// Other patterns are compiled on first use.
///
/// Call this at startup, so that a program with broken metadata does not start. It blocks for a few
/// milliseconds, and can be called on any thread. It does not run the patterns, because a pattern stays fastest
/// on the thread that runs it first.
///
/// # Panics
/// Panics if the metadata compiled into the program is broken.
pub fn load_rules() {
    assert!(compile_common_patterns().is_some(), "the metadata lacks North American patterns");
}

/// Loads all first digits, and compiles the patterns that parse, classify and format numbers in the default
/// country; `None` if one is missing or broken.
fn compile_common_patterns() -> Option<()> {
    let region = DefaultCountry::default().region();
    first_digits::for_region(NANP, region)?;
    let us = RULES.as_original().get_metadata_for_region(region)?;
    us.national_prefix_for_parsing().anchor_start().ok()??;
    for numbers in [&us.general_desc, &us.fixed_line, &us.toll_free] {
        numbers.national_number_pattern().anchor_full().ok()??;
    }
    for format in us.number_format.iter().chain(&us.intl_number_format) {
        format.pattern().anchor_full().ok()??;
        if let Some(leading_digits) = format.leading_digits_pattern().last() {
            leading_digits.anchor_start().ok()??;
        }
    }
    Some(())
}

#[cfg(test)]
pub(crate) mod tests {
    use rlibphonenumber::{PhoneNumber as Parsed, PhoneNumberType, Region};

    use super::*;

    const TYPES: [PhoneNumberType; 11] = [
        PhoneNumberType::FixedLine,
        PhoneNumberType::Mobile,
        PhoneNumberType::TollFree,
        PhoneNumberType::PremiumRate,
        PhoneNumberType::SharedCost,
        PhoneNumberType::VoIP,
        PhoneNumberType::PersonalNumber,
        PhoneNumberType::Pager,
        PhoneNumberType::UAN,
        PhoneNumberType::VoiceMail,
        PhoneNumberType::Unknown,
    ];

    pub(crate) fn example_numbers(rules: &PhoneNumberUtil) -> Vec<Parsed> {
        let regional = rules.get_supported_regions().flat_map(|region| {
            TYPES.map(|number_type| {
                rules.get_example_number_for_type_and_region(region, number_type).ok()
            })
        });
        let worldwide = rules
            .get_supported_global_network_calling_codes()
            .map(|code| rules.get_example_number_for_non_geo_entity(code).ok());
        let mut examples: Vec<_> = regional.chain(worldwide).flatten().collect();
        examples.sort_by_key(|number| (number.country_code, number.national_number));
        examples
    }

    /// Everything in the metadata, with ASCII digits only.
    fn contents(rules: &PhoneNumberUtil) -> Vec<String> {
        let regions = rules.get_supported_regions();
        let regional = regions.map(|region| rules.as_original().get_metadata_for_region(region));
        let worldwide = rules.get_supported_global_network_calling_codes().map(|code| {
            rules.as_original().get_metadata_for_region_or_calling_code(code, Region::World)
        });
        let metadata = regional.chain(worldwide).map(|metadata| format!("{:?}", metadata.unwrap()));
        let mut contents: Vec<String> = metadata.map(|it| it.replace(r"\\d", "[0-9]")).collect();
        contents.sort();
        contents
    }

    /// Fails after a crate update until the file is regenerated.
    #[test]
    fn metadata_matches_rlibphonenumber_except_for_digit_classes() {
        assert!(!METADATA.windows(2).any(|bytes| bytes == br"\d"));
        let ours = PhoneMetadataCollection::decode(METADATA).unwrap();
        let ours = contents(&PhoneNumberUtil::new_for_metadata(ours).unwrap());
        let theirs = contents(&PhoneNumberUtil::new().unwrap());
        assert!(theirs.len() > 250 && ours.len() == theirs.len(), "{}", theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!(ours == theirs, "{ours}");
        }
    }

    #[test]
    fn loading_the_rules_compiles_north_american_patterns() {
        load_rules();
        let us = RULES.as_original().get_metadata_for_region(Region::US).unwrap();
        assert!(us.fixed_line.national_number_pattern().anchor_full.get().is_some());
        assert!(
            us.intl_number_format
                .iter()
                .all(|format| { format.pattern().anchor_full.get().is_some_and(Result::is_ok) })
        );
    }
}
