//! The rules, built from the crate's own metadata with each `\d` written `[0-9]`.
//!
//! `examples/rewrite_phone_metadata.rs` makes the file and says why.

use prost::Message;
use rlibphonenumber::{PhoneMetadataCollection, PhoneNumberUtil};

const METADATA: &[u8] = include_bytes!("phone_metadata.bin");

/// The rules; `None` would mean that the committed metadata is broken, which a test rules out.
pub(super) fn rules() -> Option<PhoneNumberUtil> {
    let collection = PhoneMetadataCollection::decode(METADATA).ok()?;
    PhoneNumberUtil::new_for_metadata(collection).ok()
}

#[cfg(test)]
mod tests {
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

    /// Every example number the metadata holds.
    fn examples(rules: &PhoneNumberUtil) -> Vec<PhoneNumber> {
        let of_regions = rules.get_supported_regions().flat_map(|region| {
            TYPES.map(|kind| rules.get_example_number_for_type_and_region(region, kind).ok())
        });
        let of_the_world = rules
            .get_supported_global_network_calling_codes()
            .map(|code| rules.get_example_number_for_non_geo_entity(code).ok());
        let mut examples: Vec<_> = of_regions.chain(of_the_world).flatten().collect();
        examples.sort_by_key(|number| (number.country_code, number.national_number));
        examples
    }

    /// Fails after an update of the crate until the file is made anew.
    #[test]
    fn the_metadata_is_the_crates_but_for_the_digits() {
        let (ours, theirs) = (rules().unwrap(), PhoneNumberUtil::new().unwrap());
        assert!(!METADATA.windows(2).any(|bytes| bytes == br"\d"));
        let numbers = examples(&theirs);
        assert_eq!(examples(&ours), numbers);
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
