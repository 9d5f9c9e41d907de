//! A phone number, parsed and described.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use rlibphonenumber::Region;

use super::{
    country::DefaultCountry,
    formats::Formats,
    metadata::RULES,
    north_america::NANP,
    number_type::NumberType,
    reading::{FoundNumber, Reading, read_with_prefixes},
    text::is_parseable,
    tolerant,
};

/// A number that the rules can parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneNumber {
    /// True if it matches the pattern of an existing number.
    pub valid: bool,
    /// True if it has a valid length.
    pub possible: bool,
    /// The country calling code without the plus sign.
    pub country_calling_code: i32,
    /// ISO 3166-1 alpha-2 code; `None` if the calling code belongs to no country, or no country matches.
    pub country: Option<String>,
    /// The national (significant) number with leading zeros.
    pub national_number: String,
    /// The extension's digits.
    pub extension: Option<String>,
    /// The number in each notation.
    pub formats: Formats,
    /// `None` if no pattern matches.
    pub number_type: Option<NumberType>,
    /// True if it does not belong to a place, such as a toll-free number.
    pub is_non_geographic: bool,
    /// A second number in the same text, in E.164, with `;ext=` before its extension. The first number is the
    /// result.
    pub other: Option<String>,
}

impl PhoneNumber {
    /// Parses a number in any common notation; `None` if that fails.
    ///
    /// If Google's rules read a valid number from the text as typed, with the prefixes of `default_country`,
    /// that reading is used. Next, a leading `011` or `00` is tried as an international prefix. If neither is
    /// valid, the text is parsed without its words and punctuation. If that fails too, Google's reading is the
    /// result.
    pub fn parse(text: &str, default_country: DefaultCountry) -> Option<Self> {
        if !is_parseable(text) {
            return None;
        }
        // Outside the panic guard: broken metadata must not silently make every number unparseable.
        LazyLock::force(&RULES);
        without_panic(|| describe(find(text, default_country.region())?))
    }

    /// Returns `true` for a North American number, which has an area code and an exchange.
    pub fn is_nanp(&self) -> bool {
        self.country_calling_code == NANP && self.national_number.len() == 10
    }
}

/// Runs the rules. If they panic, the number is unparseable, and the process continues.
pub(super) fn without_panic<T>(answer: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(answer)).unwrap_or_else(|_| {
        tracing::error!("the phone number rules panicked; the number is answered as unparseable");
        None
    })
}

fn find(text: &str, region: Region) -> Option<FoundNumber> {
    let reading = read_with_prefixes(text, region);
    match &reading {
        Some(valid) if valid.is_valid() && !tolerant::hides_second_number(text, valid, region) => {}
        _ => {
            let found = tolerant::read(text, region);
            if found.is_some() {
                return found;
            }
        }
    }
    reading.map(FoundNumber::from)
}

fn describe(FoundNumber { reading, other }: FoundNumber) -> Option<PhoneNumber> {
    let formats = Formats::from_reading(&reading)?;
    let valid = reading.is_valid();
    let Reading { number, national_number, region, number_type, is_possible } = reading;
    let country = region.filter(|&region| region != Region::World);
    Some(PhoneNumber {
        valid,
        possible: is_possible,
        country_calling_code: number.country_code,
        country: country.map(|region| region.to_string()),
        extension: number.extension,
        formats,
        number_type,
        is_non_geographic: region == Some(Region::World)
            || number_type.is_some_and(NumberType::is_service)
            || (number.country_code == NANP && is_non_geographic_npa(&national_number)),
        national_number,
        other,
    })
}

/// Returns `true` if a North American number's area code is non-geographic. It is an easily recognizable code,
/// whose last two digits are the same (800, 600, 588), or toll-free or reserved for it (880 to 889), or in use
/// as non-geographic in NANPA's database.
fn is_non_geographic_npa(national_number: &str) -> bool {
    match national_number.as_bytes() {
        digits if digits.len() != 10 => false,
        [_, b, c, ..] if b == c => true,
        [b'8', b'8', ..] => true,
        [b'5', b'2', b'1'..=b'9', ..] | [b'5', b'3', b'2' | b'8', ..] => true,
        digits => digits.starts_with(b"710"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str, country: &str) -> PhoneNumber {
        PhoneNumber::parse(text, country.parse().unwrap()).unwrap()
    }

    #[test]
    fn north_american_numbers_are_parsed_in_every_notation() {
        let expected = parsed("+13052345678", "US");
        assert_eq!(expected.formats.international, "+1 305 234 5678");
        assert_eq!(expected.formats.national, "(305) 234-5678");
        assert_eq!(expected.formats.rfc3966, "tel:+1-305-234-5678");
        assert!(expected.valid && expected.possible && expected.is_nanp());
        for (text, country) in [
            ("(305) 234-5678", "US"),
            ("305.234.5678", "US"),
            ("1-305-234-5678", "US"),
            ("tel:+1-305-234-5678", "US"),
            ("００1 305 2345678", "US"),
            ("011 1 305 234 5678", "GB"),
        ] {
            assert_eq!(parsed(text, country), expected, "{text}");
        }
    }

    #[test]
    fn international_prefixes_work_with_any_default_country() {
        for text in ["011442079460958", "00442079460958", "+442079460958"] {
            for country in ["US", "GB", "DE", "JP", "CO", "AU"] {
                assert_eq!(parsed(text, country).formats.e164, "+442079460958", "{text} {country}");
            }
        }
    }

    #[test]
    fn valid_readings_of_the_rules_precede_a_leading_00_or_011() {
        for (text, country, expected) in [
            ("0011 65 6223 4567", "AU", "+6562234567"),
            ("009 1 212 736 4412", "NG", "+12127364412"),
            ("00 44 20 7946 0958", "AU", "+442079460958"),
            ("tel:0044 20 7946 0958", "DE", "+442079460958"),
            ("Tel. 0044 20 7946 0958", "DE", "+442079460958"),
            ("tel:01144 20 7946 0958", "DE", "+442079460958"),
            ("0117 496 0123", "GB", "+441174960123"),
        ] {
            assert_eq!(parsed(text, country).formats.e164, expected, "{text} {country}");
        }
    }

    #[test]
    fn possible_numbers_as_typed_precede_invalid_international_ones() {
        for (text, country, expected) in
            [("01154960993", "GB", "+441154960993"), ("0117 777-412", "BG", "+359117777412")]
        {
            let number = parsed(text, country);
            assert_eq!((number.formats.e164.as_str(), number.valid), (expected, false), "{text}");
            assert!(number.possible, "{text}");
        }
        assert_eq!(parsed("011 44 20 7946 09581", "US").formats.e164, "+4420794609581");
    }

    #[test]
    fn numbers_without_a_place_are_non_geographic() {
        let toll_free = parsed("+80012345678", "US");
        assert_eq!((toll_free.country, toll_free.is_non_geographic), (None, true));
        assert_eq!(toll_free.number_type, Some(NumberType::TollFree));
        // Every area code in use that NANPA's database of 2026-01-05 marks as non-geographic, and toll-free
        // codes that are not in use yet.
        let non_geographic = "500 521 522 523 524 525 526 527 528 529 532 533 538 544 566 577 588 600 \
                              622 633 700 710 800 833 844 855 866 877 888 900 \
                              880 881 882 883 884 885 886 887 889";
        let geographic = "201 305 520 530 531 416 876 671 712";
        for (npas, expected) in [(non_geographic, true), (geographic, false)] {
            for npa in npas.split_whitespace() {
                let number = parsed(&format!("+1{npa}2345678"), "US");
                assert_eq!(number.is_non_geographic, expected, "{npa}");
            }
        }
    }

    #[test]
    fn text_that_only_the_crate_accepts_is_rejected() {
        let padded = format!("011 44 20 7946 0958{}", " ".repeat(232));
        let zeros = format!("+39{}1", "0".repeat(14));
        let ones = "1".repeat(251);
        for text in ["90;phone-context=+1;tel:", &padded, &zeros, &ones, "", " ", "hello", "+", "1"]
        {
            assert_eq!(PhoneNumber::parse(text, DefaultCountry::default()), None, "{text:?}");
        }
        assert_eq!(PhoneNumber::parse("12 int 5584", "SE".parse().unwrap()), None);
    }

    #[test]
    fn extensions_use_ascii_digits_and_are_not_in_e164() {
        for text in ["305-234-5678 ext. 99", "305-234-5678 ext ९९", "305-234-5678 ext ９９"] {
            let number = parsed(text, "US");
            assert_eq!(number.extension.as_deref(), Some("99"), "{text}");
            assert_eq!(number.formats.e164, "+13052345678", "{text}");
            assert_eq!(number.formats.rfc3966, "tel:+1-305-234-5678;ext=99", "{text}");
        }
        let number = parsed("070 5234 5678#99", "TW");
        assert_eq!(number.formats.international, "+886 70 5234 5678#99");
        assert_eq!(parsed(&number.formats.international, "US"), number);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in any::<String>(), digits in "[+0-9 ()x;-]{0,30}") {
            let _ = PhoneNumber::parse(&text, DefaultCountry::default());
            let _ = PhoneNumber::parse(&digits, DefaultCountry::default());
        }
    }
}
