//! A phone number, parsed and described.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rlibphonenumber::{PhoneNumber as Parsed, PhoneNumberFormat, PhoneNumberUtil, Region};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    country::DefaultCountry,
    metadata::RULES,
    normalize::{is_parseable, without_international_prefix},
    number_type::NumberType,
    tolerant,
};

/// The country calling code of the North American Numbering Plan.
const NANP: i32 = 1;

/// The most leading zeros of a number. The formats of the crate lose some of them if there are
/// more.
const MOST_LEADING_ZEROS: i32 = 10;

/// A number in four notations (spec 2.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Formats {
    /// ITU-T E.164: plus and digits.
    #[schema(pattern = r"^\+[1-9][0-9]{1,19}$", example = "+13052345678")]
    pub e164: String,
    /// Plus, country calling code and space-separated groups.
    #[schema(pattern = r"^\+[1-9]", example = "+1 305 234 5678")]
    pub international: String,
    /// As it is dialed within its country.
    #[schema(example = "(305) 234-5678")]
    pub national: String,
    /// URI of RFC 3966.
    #[schema(pattern = r"^tel:\+", example = "tel:+1-305-234-5678")]
    pub rfc3966: String,
}

/// A number that the rules could parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhoneNumber {
    /// Whether it matches the pattern of a number that exists.
    pub valid: bool,
    /// Whether it has the length of a valid number.
    pub possible: bool,
    /// The country calling code without the plus sign.
    pub country_calling_code: i32,
    /// ISO 3166-1 alpha-2 code; `None` if the calling code belongs to no country, or no country
    /// fits.
    pub country: Option<String>,
    /// The national (significant) number with its leading zeros.
    pub national_number: String,
    /// The digits of the extension.
    pub extension: Option<String>,
    /// The number in each notation.
    pub formats: Formats,
    /// `None` if no pattern fits.
    pub number_type: Option<NumberType>,
    /// Whether it belongs to no place, as toll-free numbers do.
    pub is_non_geographic: bool,
}

impl PhoneNumber {
    /// Reads a number in any common notation (spec 4.4); `None` if it cannot be parsed.
    ///
    /// A leading `011` or `00` is an international prefix, unless the number as typed is valid in
    /// `default_country`. If no valid number follows it, the prefixes of the default country apply;
    /// Australia, for instance, dials `0011`. If no reading is valid, the number as typed stands if
    /// it is possible.
    ///
    /// If Google's rules cannot read the text, it is read again without any punctuation, and then
    /// part by part.
    pub fn parse(text: &str, default_country: DefaultCountry) -> Option<Self> {
        if !is_parseable(text) {
            return None;
        }
        let region = default_country.region();
        parse_with_prefixes(text, region).or_else(|| {
            let candidates = tolerant::candidates(text);
            let parsed = candidates.iter().filter_map(|text| parse_with_prefixes(text, region));
            first_of_the_best(parsed)
        })
    }

    fn is_valid_in(&self, region: Region) -> bool {
        self.valid && self.country.as_deref() == Some(region.to_string().as_str())
    }

    /// Whether it is a number of the North American Numbering Plan, with area code and exchange.
    pub fn is_nanp(&self) -> bool {
        self.country_calling_code == NANP && self.national_number.len() == 10
    }
}

/// Parses a number that may begin with an international prefix.
pub(super) fn parse_with_prefixes(text: &str, region: Region) -> Option<PhoneNumber> {
    let typed = parse(text, region);
    if typed.as_ref().is_some_and(|typed| typed.is_valid_in(region)) {
        return typed;
    }
    let Some(rewritten) = without_international_prefix(text) else { return typed };
    match (parse(&rewritten, region), typed) {
        (Some(international), _) if international.valid => Some(international),
        (_, Some(typed)) if typed.valid || typed.possible => Some(typed),
        (international, typed) => international.or(typed),
    }
}

/// The first valid number, or else the first possible one, or else the first.
fn first_of_the_best(numbers: impl Iterator<Item = PhoneNumber>) -> Option<PhoneNumber> {
    let mut best: Option<PhoneNumber> = None;
    for number in numbers {
        if number.valid {
            return Some(number);
        }
        if best.as_ref().is_none_or(|best| number.possible && !best.possible) {
            best = Some(number);
        }
    }
    best
}

/// Parses a number by the rules. A panic in them makes this number unparseable and does not end the
/// process.
fn parse(text: &str, region: Region) -> Option<PhoneNumber> {
    let rules = &*RULES;
    let described = catch_unwind(AssertUnwindSafe(|| {
        let parsed = rules.parse(text, Some(region)).ok()?;
        if !is_plausible(text, &parsed) {
            return None;
        }
        Some(describe(rules, &parsed))
    }));
    described.unwrap_or_else(|_| {
        tracing::error!("the phone number rules panicked; the number is answered as unparseable");
        None
    })
}

/// Whether Google's rules accept a number that the crate has accepted.
fn is_plausible(text: &str, parsed: &Parsed) -> bool {
    parsed.number_of_leading_zeros.unwrap_or_default() <= MOST_LEADING_ZEROS
        && (parsed.extension.is_none() || starts_with_three_digits(text))
}

/// Whether the first three digits have nothing but punctuation between them.
fn starts_with_three_digits(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| !c.is_numeric());
    let digits = number.chars().filter(|&c| !is_punctuation(c));
    digits.take(3).filter(|c| c.is_numeric()).count() == 3
}

/// Whether Google's rules allow the character between the digits of a number.
fn is_punctuation(c: char) -> bool {
    matches!(c, '-' | 'x' | '*' | '.' | '/' | '~' | ' ' | '(' | ')' | '[' | ']' | '\u{a0}' | '\u{ad}'
        | '\u{200b}' | '\u{2010}'..='\u{2015}' | '\u{2053}' | '\u{2060}' | '\u{2212}' | '\u{223c}' | '\u{3000}' | '\u{30fc}'
        | '\u{ff08}' | '\u{ff09}' | '\u{ff0d}'..='\u{ff0f}' | '\u{ff3b}' | '\u{ff3d}' | '\u{ff5e}')
}

fn describe(rules: &PhoneNumberUtil, parsed: &Parsed) -> PhoneNumber {
    let parsed = &with_ascii_extension(rules, parsed.clone());
    let format = |format| rules.format(parsed, format).into_owned();
    let number_type = NumberType::of(rules.get_number_type(parsed));
    let region = rules.get_region_for_number(parsed);
    let country = region.filter(|&region| region != Region::World);
    let national_number = rlibphonenumber::get_national_significant_number_owned(parsed);
    PhoneNumber {
        // libphonenumber's own check gave the same result for every number of the corpus, and would
        // match all patterns a second time.
        valid: number_type.is_some(),
        possible: rules.is_possible_number(parsed),
        country_calling_code: parsed.country_code,
        country: country.map(|region| region.to_string()),
        extension: parsed.extension.clone().filter(|extension| !extension.is_empty()),
        formats: Formats {
            e164: format(PhoneNumberFormat::E164),
            international: with_single_spaces(&format(PhoneNumberFormat::International)),
            national: format(PhoneNumberFormat::National),
            rfc3966: format(PhoneNumberFormat::RFC3966),
        },
        number_type,
        is_non_geographic: region == Some(Region::World)
            || number_type.is_some_and(NumberType::is_service)
            || (parsed.country_code == NANP && is_non_geographic_npa(&national_number)),
        national_number,
    }
}

/// The number with the digits of its extension in ASCII. Google's rules leave them as they are
/// written.
fn with_ascii_extension(rules: &PhoneNumberUtil, mut parsed: Parsed) -> Parsed {
    if let Some(extension) = &mut parsed.extension {
        *extension = rules.normalize_digits_only(extension.as_str());
    }
    parsed
}

/// Whether the area code of a North American number belongs to no place. It is an easily
/// recognizable code, whose last two digits are the same (800, 600, 588), or is toll-free or reserved
/// for it (880 to 889), or is another one that is in use as non-geographic in NANPA's database.
fn is_non_geographic_npa(national_number: &str) -> bool {
    match national_number.as_bytes() {
        digits if digits.len() != 10 => false,
        [_, b, c, ..] if b == c => true,
        [b'8', b'8', ..] => true,
        [b'5', b'2', b'1'..=b'9', ..] | [b'5', b'3', b'2' | b'8', ..] => true,
        digits => digits.starts_with(b"710"),
    }
}

/// libphonenumber's international format with a single space for each run of punctuation.
fn with_single_spaces(international: &str) -> String {
    let groups = international.split(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#'));
    groups.filter(|group| !group.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str, country: &str) -> PhoneNumber {
        PhoneNumber::parse(text, country.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_north_american_number_in_every_notation() {
        let expected = parsed("+13052345678", "US");
        assert_eq!(expected.formats.international, "+1 305 234 5678");
        assert_eq!(expected.formats.national, "(305) 234-5678");
        assert_eq!(expected.formats.rfc3966, "tel:+1-305-234-5678");
        assert!(expected.valid && expected.possible && expected.is_nanp());
        for text in [
            "(305) 234-5678",
            "305.234.5678",
            "1-305-234-5678",
            "tel:+1-305-234-5678",
            "００1 305 2345678",
        ] {
            assert_eq!(parsed(text, "US"), expected, "{text}");
        }
        assert_eq!(parsed("011 1 305 234 5678", "GB"), expected);
    }

    #[test]
    fn international_prefixes_apply_whatever_the_default_country() {
        for text in ["011442079460958", "00442079460958", "+442079460958"] {
            for country in ["US", "GB", "DE", "JP", "CO", "AU"] {
                assert_eq!(parsed(text, country).formats.e164, "+442079460958", "{text} {country}");
            }
        }
    }

    #[test]
    fn international_prefixes_apply_before_those_of_the_default_country() {
        assert_eq!(parsed("00918123456789", "CO").formats.e164, "+918123456789");
        assert_eq!(parsed("0016497121234", "AU").formats.e164, "+16497121234");
        assert_eq!(parsed("0011 44 20 7946 0958", "AU").formats.e164, "+442079460958");
        for text in ["tel:0044 20 7946 0958", "Tel. 0044 20 7946 0958", "tel:01144 20 7946 0958"] {
            assert_eq!(parsed(text, "DE").formats.e164, "+442079460958", "{text}");
        }
    }

    #[test]
    fn a_number_that_is_valid_as_typed_keeps_its_zeros() {
        assert_eq!(parsed("0117 496 0123", "GB").formats.e164, "+441174960123");
    }

    #[test]
    fn a_possible_number_as_typed_stands_before_an_invalid_international_one() {
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
    fn a_toll_free_number_of_the_world_has_no_country() {
        let toll_free = parsed("+80012345678", "US");
        assert_eq!((toll_free.country, toll_free.is_non_geographic), (None, true));
        assert_eq!(toll_free.number_type, Some(NumberType::TollFree));
    }

    #[test]
    fn an_area_code_of_no_place_is_non_geographic() {
        let non_geographic = |npa: &str| {
            PhoneNumber::parse(&format!("+1{npa}2345678"), DefaultCountry::default())
                .is_some_and(|number| number.is_non_geographic)
        };
        // Every area code in use that NANPA's database of 2026-01-05 marks as non-geographic.
        for npa in [
            "500", "521", "522", "523", "524", "525", "526", "527", "528", "529", "532", "533",
            "538", "544", "566", "577", "588", "600", "622", "633", "700", "710", "800", "833",
            "844", "855", "866", "877", "888", "900",
        ] {
            assert!(non_geographic(npa), "{npa}");
        }
        // Toll-free, or reserved for it, and not in use yet.
        for npa in ["880", "881", "882", "883", "884", "885", "886", "887", "889"] {
            assert!(non_geographic(npa), "{npa}");
        }
        for npa in ["201", "305", "520", "530", "531", "416", "876", "671", "712"] {
            assert!(!non_geographic(npa), "{npa}");
        }
    }

    #[test]
    fn text_that_only_the_crate_accepts_is_refused() {
        let us = DefaultCountry::default();
        assert_eq!(PhoneNumber::parse("90;phone-context=+1;tel:", us), None);
        assert_eq!(PhoneNumber::parse("12 int 5584", "SE".parse().unwrap()), None);
        let padded = format!("011 44 20 7946 0958{}", " ".repeat(232));
        assert_eq!(PhoneNumber::parse(&padded, us), None);
        assert_eq!(PhoneNumber::parse(&format!("+39{}1", "0".repeat(14)), us), None);
        assert_eq!(PhoneNumber::parse(&"1".repeat(251), us), None);
        for text in ["", " ", "hello", "+", "1"] {
            assert_eq!(PhoneNumber::parse(text, us), None, "{text:?}");
        }
    }

    #[test]
    fn an_extension_after_a_hash_keeps_the_hash() {
        let number = parsed("070 5234 5678#99", "TW");
        assert_eq!(number.formats.international, "+886 70 5234 5678#99");
        assert_eq!(parsed(&number.formats.international, "US"), number);
    }

    #[test]
    fn the_digits_of_an_extension_are_ascii_in_every_field() {
        for text in ["305-234-5678 ext 99", "305-234-5678 ext ९९", "305-234-5678 ext ９９"] {
            let number = parsed(text, "US");
            assert_eq!(number.extension.as_deref(), Some("99"), "{text}");
            assert_eq!(number.formats.rfc3966, "tel:+1-305-234-5678;ext=99", "{text}");
        }
    }

    #[test]
    fn an_extension_stays_out_of_e164() {
        let number = parsed("305-234-5678 ext. 123", "US");
        assert_eq!(number.extension.as_deref(), Some("123"));
        assert_eq!(number.formats.e164, "+13052345678");
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in any::<String>(), digits in "[+0-9 ()x;-]{0,30}") {
            let _ = PhoneNumber::parse(&text, DefaultCountry::default());
            let _ = PhoneNumber::parse(&digits, DefaultCountry::default());
        }
    }
}
