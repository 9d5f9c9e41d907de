//! A reading: text parsed as a number, and its classification under the rules.

use rlibphonenumber::{PhoneNumber as Parsed, Region, interfaces::AsOriginal};

use super::{
    first_digits,
    metadata::RULES,
    north_america,
    number_type::NumberType,
    text::{digit_count, without_international_prefix},
};

/// The maximum number of leading zeros. The crate's formatter drops some if there are more.
const MAX_LEADING_ZEROS: i32 = 10;

/// A number that the rules can parse, with its classification. It has no formats, since only the best of
/// several readings needs formats.
pub(super) struct Reading {
    pub(super) number: Parsed,
    /// The national (significant) number with leading zeros.
    pub(super) national_number: String,
    /// [`Region::World`] if the calling code does not belong to a country; `None` if no region matches.
    pub(super) region: Option<Region>,
    /// `None` if no pattern matches. libphonenumber's own validity check agrees for every number in the corpus,
    /// but would match all patterns again.
    pub(super) number_type: Option<NumberType>,
    /// True if it has a valid length.
    pub(super) is_possible: bool,
}

/// A number found in text, and a second one if the text contains two.
pub(super) struct FoundNumber {
    pub(super) reading: Reading,
    /// The second number in E.164, with `;ext=` before any extension.
    pub(super) other: Option<String>,
    pub(super) dialing_code: Option<String>,
}

impl From<Reading> for FoundNumber {
    fn from(reading: Reading) -> Self {
        Self { reading, other: None, dialing_code: None }
    }
}

impl FoundNumber {
    /// The first number, and the next different one; `None` if the text contains no number.
    pub(super) fn from_numbers(numbers: Vec<Reading>) -> Option<Self> {
        let mut numbers = numbers.into_iter();
        let reading = numbers.next()?;
        let first = reading.e164_with_extension();
        let other = numbers.map(|other| other.e164_with_extension()).find(|other| *other != first);
        Some(Self { reading, other, dialing_code: None })
    }
}

impl Reading {
    /// Parses text by the rules, with the dialing prefixes of `default_region`.
    pub(super) fn parse(text: &str, default_region: Region) -> Option<Self> {
        Self::from_parsed(text, RULES.parse(text, Some(default_region)).ok()?)
    }

    /// Classifies a number parsed from `text`; `None` if Google's rules would not accept it.
    pub(super) fn from_parsed(text: &str, number: Parsed) -> Option<Self> {
        if !is_plausible(text, &number) {
            return None;
        }
        let number = with_ascii_extension(number);
        let national_number = rlibphonenumber::get_national_significant_number_owned(&number);
        let (region, number_type) = region_and_type(number.country_code, &national_number);
        let is_possible = RULES.is_possible_number(&number);
        Some(Self { number, national_number, region, number_type, is_possible })
    }

    pub(super) fn is_valid(&self) -> bool {
        self.number_type.is_some()
    }

    pub(super) fn digit_count(&self) -> usize {
        digit_count(&self.e164_with_extension())
    }

    /// The number in E.164, with `;ext=` before any extension.
    pub(super) fn e164_with_extension(&self) -> String {
        let extension = self.number.extension.iter().flat_map(|digits| [";ext=", digits]);
        let number = format!("+{}{}", self.number.country_code, self.national_number);
        number + &extension.collect::<String>()
    }
}

/// Parses a number that may start with an international prefix.
pub(super) fn read_with_prefixes(text: &str, region: Region) -> Option<Reading> {
    let as_typed = Reading::parse(text, region);
    if as_typed.as_ref().is_some_and(Reading::is_valid) {
        return as_typed;
    }
    let Some(rewritten) = without_international_prefix(text) else { return as_typed };
    // Letters after the prefix must not be read as keypad digits.
    let uses_only_digits = |reading: &Reading| reading.digit_count() <= digit_count(&rewritten);
    match (Reading::parse(&rewritten, region).filter(uses_only_digits), as_typed) {
        (Some(international), _) if international.is_valid() => Some(international),
        (_, Some(as_typed)) if as_typed.is_possible => Some(as_typed),
        (international, as_typed) => international.or(as_typed),
    }
}

/// Returns `true` if Google's rules also accept a number that `rlibphonenumber` accepted.
fn is_plausible(text: &str, number: &Parsed) -> bool {
    number.number_of_leading_zeros.unwrap_or_default() <= MAX_LEADING_ZEROS
        && (number.extension.is_none() || starts_with_three_digits(text))
}

/// Returns `true` if only punctuation separates the first three digits.
fn starts_with_three_digits(text: &str) -> bool {
    let number = text.trim_start_matches(|c: char| !c.is_numeric());
    let digits = number.chars().filter(|&c| !is_punctuation(c));
    digits.take(3).filter(|c| c.is_numeric()).count() == 3
}

/// Returns `true` if Google's rules allow the character between digits.
fn is_punctuation(c: char) -> bool {
    matches!(c, '-' | 'x' | '*' | '.' | '/' | '~' | ' ' | '(' | ')' | '[' | ']' | '\u{a0}' | '\u{ad}'
        | '\u{200b}' | '\u{2010}'..='\u{2015}' | '\u{2053}' | '\u{2060}' | '\u{2212}' | '\u{223c}' | '\u{3000}' | '\u{30fc}'
        | '\u{ff08}' | '\u{ff09}' | '\u{ff0d}'..='\u{ff0f}' | '\u{ff3b}' | '\u{ff3d}' | '\u{ff5e}')
}

/// Converts the extension's digits to ASCII, and drops an empty extension. Google's rules do not convert them.
fn with_ascii_extension(mut number: Parsed) -> Parsed {
    let extension = number.extension.take().map(|digits| RULES.normalize_digits_only(&digits));
    number.extension = extension.filter(|digits| !digits.is_empty());
    number
}

/// A number's region, and its type there.
///
/// The crate determines the two separately. Each time, it tries the patterns of all regions with the calling code
/// until one matches.
fn region_and_type(
    calling_code: i32,
    national_number: &str,
) -> (Option<Region>, Option<NumberType>) {
    let match_region = |region| match_region(region, calling_code, national_number);
    let found = match north_america::only_region(calling_code, national_number) {
        Some(region) => match_region(region),
        None => RULES.get_regions_for_country_calling_code(calling_code).and_then(|mut regions| {
            if regions.len() > 1 {
                return regions.find_map(match_region);
            }
            // The only region of a calling code applies even if the number does not exist.
            let region = regions.next()?;
            Some((region, type_in(region, calling_code, national_number)))
        }),
    };
    found.map_or((None, None), |(region, number_type)| (Some(region), number_type))
}

/// The region and type of the number if it belongs to the region: it has a type there, or starts with the region's
/// leading digits.
fn match_region(
    region: Region,
    calling_code: i32,
    national_number: &str,
) -> Option<(Region, Option<NumberType>)> {
    let number_type = type_in(region, calling_code, national_number);
    let belongs = number_type.is_some() || has_leading_digits(region, national_number);
    belongs.then_some((region, number_type))
}

/// The number's type in the region, as in libphonenumber, but without trying types that its first
/// digits rule out.
fn type_in(region: Region, calling_code: i32, national_number: &str) -> Option<NumberType> {
    let rules = RULES.as_original();
    let metadata = rules.get_metadata_for_region_or_calling_code(calling_code, region)?;
    let [services @ .., fixed_line, mobile] = first_digits::for_region(calling_code, region)?.types;
    let matches =
        |pattern| rules.is_number_matching_desc(national_number, pattern).unwrap_or(false);
    if !matches(&metadata.general_desc) {
        return None;
    }
    let service_patterns = [
        (&metadata.premium_rate, NumberType::PremiumRate),
        (&metadata.toll_free, NumberType::TollFree),
        (&metadata.shared_cost, NumberType::SharedCost),
        (&metadata.voip, NumberType::Voip),
        (&metadata.personal_number, NumberType::PersonalNumber),
        (&metadata.pager, NumberType::Pager),
        (&metadata.uan, NumberType::Uan),
        (&metadata.voicemail, NumberType::Voicemail),
    ];
    let mut services = service_patterns.into_iter().zip(services);
    let service = services.find_map(|((pattern, number_type), first_digits)| {
        (first_digits.allow(national_number) && matches(pattern)).then_some(number_type)
    });
    if service.is_some() {
        return service;
    }
    let same_patterns = metadata.original.same_mobile_and_fixed_line_pattern();
    let is_fixed_line = fixed_line.allow(national_number) && matches(&metadata.fixed_line);
    let is_mobile = if same_patterns {
        is_fixed_line
    } else {
        mobile.allow(national_number) && matches(&metadata.mobile)
    };
    match (is_fixed_line, is_mobile) {
        (true, true) => Some(NumberType::FixedLineOrMobile),
        (true, false) => Some(NumberType::FixedLine),
        (false, true) => Some(NumberType::Mobile),
        (false, false) => None,
    }
}

fn has_leading_digits(region: Region, national_number: &str) -> bool {
    let metadata = RULES.as_original().get_metadata_for_region(region);
    let leading_digits =
        metadata.and_then(|metadata| metadata.leading_digits().anchor_start().ok());
    leading_digits.flatten().is_some_and(|pattern| pattern.is_match(national_number))
}

#[cfg(test)]
mod tests {
    use rlibphonenumber::{PhoneNumberFormat, PhoneNumberType};

    use super::*;
    use crate::metadata::tests::example_numbers;

    fn is_same(ours: Option<NumberType>, theirs: PhoneNumberType) -> bool {
        let ours = ours.map_or("Unknown".to_owned(), |ours| format!("{ours:?}"));
        ours.eq_ignore_ascii_case(&format!("{theirs:?}"))
    }

    /// Checks numbers near the examples, which have other types or none, and numbers in every North American
    /// area code.
    #[test]
    fn region_and_type_match_rlibphonenumber() {
        let near_examples = example_numbers(&RULES).into_iter().flat_map(|example| {
            [0, 1, 10, 1_000, 100_000, 10_000_000, 300_000_000].map(|distance| {
                let national_number = example.national_number + distance;
                let number = Parsed { national_number, ..example.clone() };
                RULES.format(&number, PhoneNumberFormat::E164).into_owned()
            })
        });
        let north_american = (0..1000).flat_map(|area_code| {
            ["2345678", "5550123", "9110000", "0112345", "1234567", "8762345"]
                .map(|subscriber| format!("+1{area_code:03}{subscriber}"))
        });
        for e164 in near_examples.chain(north_american) {
            let Some(reading) = Reading::parse(&e164, Region::US) else { continue };
            let number = &reading.number;
            assert_eq!(reading.region, RULES.get_region_for_number(number), "{e164}");
            let number_type = RULES.get_number_type(number);
            assert!(is_same(reading.number_type, number_type), "{e164}: {number_type:?}");
        }
    }
}
