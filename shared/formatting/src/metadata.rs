//! The rules, built from the metadata of `rlibphonenumber` with each `\d` written as `[0-9]`.
//!
//! `examples/rewrite_phone_metadata.rs` writes the file and explains why.

use std::sync::LazyLock;

use prost::Message;
use rlibphonenumber::{PhoneMetadataCollection, PhoneNumberUtil};

use super::{country::DefaultCountry, number::PhoneNumber};

const METADATA: &[u8] = include_bytes!("phone_metadata.bin");

/// The rules, built once for each process.
pub(super) static RULES: LazyLock<PhoneNumberUtil> = LazyLock::new(|| {
    let collection = PhoneMetadataCollection::decode(METADATA)
        .expect("the metadata is part of the program, and a test decodes it");
    PhoneNumberUtil::new_for_metadata(collection)
        .expect("the metadata is part of the program, and a test builds the rules from it")
});

/// Most requests ask for such a number. Its type is the last that the rules try, so that reading it
/// compiles the patterns of all types; it also has an extension and needs no international prefix.
const USUAL_NUMBER: &str = "(212) 234-5678 ext. 9";

/// Builds the rules now instead of with the first number, and compiles the patterns of North
/// American numbers. The patterns of other countries are compiled with their first number.
///
/// A program calls this when it starts, so that it does not start at all with broken metadata. It
/// blocks for some milliseconds and touches nothing else, so it can run beside other preparations.
///
/// # Panics
/// Panics if the metadata that was compiled into the program is broken.
pub fn load_rules() {
    LazyLock::force(&RULES);
    PhoneNumber::parse(USUAL_NUMBER, DefaultCountry::default());
}

#[cfg(test)]
pub(crate) mod tests {
    use rlibphonenumber::{PhoneNumber as Parsed, PhoneNumberFormat, PhoneNumberType};

    use super::{super::number_type::NumberType, *};

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
    pub(crate) fn example_numbers(rules: &PhoneNumberUtil) -> Vec<Parsed> {
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

    #[test]
    fn the_usual_number_has_the_type_that_is_tried_last() {
        let number = PhoneNumber::parse(USUAL_NUMBER, DefaultCountry::default()).unwrap();
        assert_eq!(number.number_type, Some(NumberType::FixedLineOrMobile));
        assert_eq!(number.extension.as_deref(), Some("9"));
    }
}
