//! A phone number, parsed and described.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::LazyLock,
};

use rlibphonenumber::Region;

use super::{
    country::DefaultCountry,
    formats::Formats,
    masks,
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
    /// ISO 3166-1 alpha-2 code; `None` if the calling code does not belong to a country, or no country matches.
    pub country: Option<String>,
    /// The national (significant) number with leading zeros.
    pub national_number: String,
    /// The extension's digits.
    pub extension: Option<String>,
    pub formats: Formats,
    /// `None` if no pattern matches.
    pub number_type: Option<NumberType>,
    /// True if it is not tied to a place, such as a toll-free number.
    pub is_non_geographic: bool,
    /// A second number in the same text, in E.164 with `;ext=` before any extension.
    pub other: Option<String>,
    /// A caller ID code or trunk access digit before the number, such as `*67` or `9,`.
    pub dialing_code: Option<String>,
}

impl PhoneNumber {
    /// Parses a number in any common notation; `None` if the text has no number.
    ///
    /// In a channel name, link or similar notation, the digits that it marks as the number are used.
    /// Otherwise, if Google's rules read a valid number from the text as typed, with `default_country`'s prefixes, that
    /// reading is used. Next, a leading `011` or `00` is tried as an international prefix. If neither is
    /// valid, the text is parsed without its words and punctuation. If that fails as well, Google's reading is used.
    /// Text with masked digits, such as `305-234-XXXX`, is not parsed.
    pub fn parse(text: &str, default_country: DefaultCountry) -> Option<Self> {
        if !is_parseable(text) {
            return None;
        }
        // Not inside `catch_panic`: broken metadata must not make every number silently unparseable.
        LazyLock::force(&RULES);
        catch_panic(|| describe(find(text, default_country.region())?))
    }

    /// The number in E.164, preceded by its dialing code if it has one.
    pub fn dialed(&self) -> String {
        [self.dialing_code.as_deref().unwrap_or_default(), &self.formats.e164].concat()
    }

    /// Returns `true` for a North American number, which has an area code and an exchange.
    pub fn is_nanp(&self) -> bool {
        self.country_calling_code == NANP && self.national_number.len() == 10
    }
}

/// Runs the rules. If they panic, the number counts as unparseable.
pub(super) fn catch_panic<T>(parse: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(parse)).unwrap_or_else(|_| {
        tracing::error!("the phone number rules panicked; the number counts as unparseable");
        None
    })
}

fn find(text: &str, region: Region) -> Option<FoundNumber> {
    if let Some(found) = tolerant::read_certain(text, region) {
        return Some(found);
    }
    let reading = read_with_prefixes(text, region);
    let are_notation = |reading: &Reading| masks::are_notation(text, reading, region);
    if masks::has_mask(text) && !reading.as_ref().is_some_and(are_notation) {
        return None;
    }
    let is_settled = reading.as_ref().is_some_and(|reading| {
        reading.is_valid() && !tolerant::hides_second_number(text, reading, region)
    });
    let tolerant = if is_settled { None } else { tolerant::read(text, region) };
    tolerant.or_else(|| reading.map(FoundNumber::from))
}

pub(super) fn describe(found: FoundNumber) -> Option<PhoneNumber> {
    let FoundNumber { reading, other, dialing_code } = found;
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
        dialing_code,
    })
}

/// Returns `true` if a North American number's area code is non-geographic: easily recognizable codes, whose
/// last two digits are the same (800, 600, 588), codes that are toll-free or reserved for toll-free use (880 to 889),
/// and others that NANPA's database lists as non-geographic.
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
    use super::*;
    use crate::{Reason, Verdict};

    fn parse(text: &str, country: &str) -> PhoneNumber {
        PhoneNumber::parse(text, country.parse().unwrap()).unwrap()
    }

    /// The list row for an input in JSON.
    fn row(country: &str, json: &str) -> String {
        let default: DefaultCountry = country.parse().unwrap();
        let text: String = serde_json::from_str(json).unwrap();
        let found = PhoneNumber::parse(&text, default);
        let reason = Reason::find(&text, default, found.as_ref());
        let verdict = match Verdict::new(&text, default, found.as_ref(), reason) {
            Verdict::Valid => "VALID",
            Verdict::Repaired => "REPAIRED",
            Verdict::Rejected | Verdict::Empty => reason.unwrap().code(),
        };
        let e164 = found.as_ref().map(|PhoneNumber { formats, extension, .. }| {
            let extension = extension.iter().flat_map(|digits| [";ext=", digits]);
            formats.e164.clone() + &extension.collect::<String>()
        });
        let other = found.and_then(|found| found.other);
        let [e164, other] = [&e164, &other].map(|number| number.as_deref().unwrap_or("-"));
        format!("{country} {verdict} {e164} {other} {json}")
    }

    #[test]
    fn examples_are_parsed_as_listed() {
        let rows = include_str!("readings.txt").lines();
        let rows = rows.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let different: Vec<_> = rows
            .map(|expected| {
                let columns: Vec<&str> = expected.splitn(5, ' ').collect();
                (expected, row(columns[0], columns[4]))
            })
            .filter(|(expected, found)| expected != found)
            .collect();
        assert!(different.is_empty(), "{different:#?}");
    }

    #[test]
    fn numbers_without_a_place_are_non_geographic() {
        let toll_free = parse("+80012345678", "US");
        assert_eq!((toll_free.country, toll_free.is_non_geographic), (None, true));
        assert_eq!(toll_free.number_type, Some(NumberType::TollFree));
        // Every area code in use that NANPA's 2026-01-05 database lists as non-geographic, and toll-free
        // codes that are not in use yet.
        let non_geographic = "500 521 522 523 524 525 526 527 528 529 532 533 538 544 566 577 588 600 \
                              622 633 700 710 800 833 844 855 866 877 888 900 \
                              880 881 882 883 884 885 886 887 889";
        let geographic = "201 305 520 530 531 416 876 671 712";
        for (npas, expected) in [(non_geographic, true), (geographic, false)] {
            for npa in npas.split_whitespace() {
                let number = parse(&format!("+1{npa}2345678"), "US");
                assert_eq!(number.is_non_geographic, expected, "{npa}");
            }
        }
    }
}
