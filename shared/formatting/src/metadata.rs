//! The rules, built from the metadata of `rlibphonenumber` with each `\d` written as `[0-9]`.
//!
//! `examples/rewrite_phone_metadata.rs` writes the file and explains why.

use std::sync::LazyLock;

use prost::Message;
use rlibphonenumber::{PhoneMetadataCollection, PhoneNumberUtil};

const METADATA: &[u8] = include_bytes!("phone_metadata.bin");

/// The rules, built once for each process.
pub(super) static RULES: LazyLock<PhoneNumberUtil> = LazyLock::new(|| {
    let collection = PhoneMetadataCollection::decode(METADATA)
        .expect("the metadata is part of the program, and a test decodes it");
    PhoneNumberUtil::new_for_metadata(collection)
        .expect("the metadata is part of the program, and a test builds the rules from it")
});

/// Builds the rules now instead of with the first number.
///
/// A program calls this when it starts, so that it does not start at all with broken metadata.
///
/// # Panics
/// Panics if the metadata that was compiled into the program is broken.
pub fn load_rules() {
    LazyLock::force(&RULES);
}

#[cfg(test)]
pub(crate) mod tests {
    use rlibphonenumber::{PhoneNumber, PhoneNumberFormat, PhoneNumberType};

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

    /// Every example number that the metadata contains.
    pub(crate) fn example_numbers(rules: &PhoneNumberUtil) -> Vec<PhoneNumber> {
        let of_regions = rules.get_supported_regions().flat_map(|region| {
            TYPES.map(|number_type| {
                rules.get_example_number_for_type_and_region(region, number_type).ok()
            })
        });
        let of_the_world = rules
            .get_supported_global_network_calling_codes()
            .map(|code| rules.get_example_number_for_non_geo_entity(code).ok());
        let mut examples: Vec<_> = of_regions.chain(of_the_world).flatten().collect();
        examples.sort_by_key(|number| (number.country_code, number.national_number));
        examples
    }

    /// Fails after an update of the crate until the file is written again.
    #[test]
    fn the_metadata_is_that_of_the_crate_except_for_the_digits() {
        let (ours, theirs) = (&*RULES, PhoneNumberUtil::new().unwrap());
        assert!(!METADATA.windows(2).any(|bytes| bytes == br"\d"));
        let numbers = example_numbers(&theirs);
        assert_eq!(example_numbers(ours), numbers);
        assert!(numbers.len() > 1000, "{}", numbers.len());
        for number in &numbers {
            assert_eq!(ours.get_number_type(number), theirs.get_number_type(number), "{number:?}");
            for format in [PhoneNumberFormat::International, PhoneNumberFormat::National] {
                assert_eq!(
                    ours.format(number, format),
                    theirs.format(number, format),
                    "{number:?}"
                );
            }
        }
    }
}
