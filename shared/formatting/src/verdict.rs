//! What became of a text that should be a phone number, for whoever cleans a list of them.

use std::sync::LazyLock;

use rlibphonenumber::{NumberLengthType, ParseError, PhoneNumber as Parsed, ValidationError};

use super::{
    country::DefaultCountry,
    metadata::RULES,
    normalize::{LONGEST_INPUT, is_parseable},
    number::{PhoneNumber, without_panic},
    tolerant::is_in_scientific_notation,
};

/// What became of a text that should be a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Google's rules read a valid number.
    Valid,
    /// A valid number in a text that Google's rules alone refuse, or read as another number.
    Repaired,
    Rejected(Refusal),
}

/// Why a text is no valid phone number, as the end of a sentence about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Refusal {
    #[error("is empty")]
    Empty,
    #[error("has more than {LONGEST_INPUT} characters")]
    LongText,
    #[error("was rounded by a spreadsheet")]
    Rounded,
    #[error("is no phone number")]
    NoNumber,
    #[error("has a country calling code that does not exist")]
    UnknownCallingCode,
    #[error("lacks an area code")]
    LocalOnly,
    #[error("has too few digits")]
    TooShort,
    #[error("has too many digits")]
    TooLong,
    #[error("has a count of digits that no number of its country has")]
    WrongLength,
    #[error("fits no pattern of the numbers of its country")]
    NoPattern,
}

impl Verdict {
    /// The verdict on `text`, which [`PhoneNumber::parse`] has read as `number` in this country.
    pub fn of(text: &str, country: DefaultCountry, number: Option<&PhoneNumber>) -> Self {
        match number {
            Some(number) if !number.valid => Self::Rejected(Refusal::of_number(number)),
            Some(number) if is_read_by_the_rules_alone(text, country, number) => Self::Valid,
            Some(_) => Self::Repaired,
            None => Self::Rejected(Refusal::of_text(text, country)),
        }
    }
}

/// What Google's rules alone read.
fn read(text: &str, country: DefaultCountry) -> Option<Result<Parsed, ParseError>> {
    if !is_parseable(text) {
        return None;
    }
    LazyLock::force(&RULES);
    without_panic(|| Some(RULES.parse(text, Some(country.region()))))
}

fn is_read_by_the_rules_alone(text: &str, country: DefaultCountry, number: &PhoneNumber) -> bool {
    // Most lists have been cleaned once, and reading costs as much as all else here.
    if text == number.formats.e164 {
        return true;
    }
    let Some(Ok(read)) = read(text, country) else { return false };
    read.country_code == number.country_calling_code
        && rlibphonenumber::get_national_significant_number_owned(&read) == number.national_number
}

impl Refusal {
    fn of_text(text: &str, country: DefaultCountry) -> Self {
        if text.trim().is_empty() {
            return Self::Empty;
        }
        if text.chars().nth(LONGEST_INPUT).is_some() {
            return Self::LongText;
        }
        if is_in_scientific_notation(text) {
            return Self::Rounded;
        }
        match read(text, country) {
            Some(Err(ParseError::InvalidCountryCode)) => Self::UnknownCallingCode,
            Some(Err(ParseError::TooLongNsn)) => Self::TooLong,
            Some(Err(ParseError::TooShortNsn | ParseError::TooShortAfterIdd)) => Self::TooShort,
            _ => Self::NoNumber,
        }
    }

    /// Why a number that is not valid is not.
    fn of_number(number: &PhoneNumber) -> Self {
        let reason = without_panic(|| {
            let read = RULES.parse(&number.formats.e164, None).ok()?;
            Some(RULES.is_possible_number_with_reason(&read))
        });
        match reason {
            Some(Ok(NumberLengthType::IsPossibleLocalOnly)) => Self::LocalOnly,
            Some(Err(ValidationError::TooShort)) => Self::TooShort,
            Some(Err(ValidationError::TooLong)) => Self::TooLong,
            Some(Err(ValidationError::InvalidLength)) => Self::WrongLength,
            Some(Err(ValidationError::InvalidCountryCode)) => Self::UnknownCallingCode,
            Some(Ok(NumberLengthType::IsPossible)) | None => Self::NoPattern,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn verdict(text: &str, country: &str) -> Verdict {
        let country = country.parse().unwrap();
        Verdict::of(text, country, PhoneNumber::parse(text, country).as_ref())
    }

    #[test]
    fn what_the_rules_read_is_valid_in_any_notation() {
        for text in [
            "+13052345678",
            "(305) 234-5678",
            "305.234.5678 ext. 42",
            "011 44 20 7946 0958",
            "tel:+1-305-234-5678",
            "1-800-FLOWERS",
        ] {
            assert_eq!(verdict(text, "US"), Verdict::Valid, "{text}");
        }
        assert_eq!(verdict("020 7946 0958", "GB"), Verdict::Valid);
    }

    #[test]
    fn what_only_the_tolerant_reader_reads_is_repaired() {
        for text in ["305_234_5678", "305;234;5678", "00 44 20 7946 0958", "305·234·5678"] {
            assert_eq!(verdict(text, "US"), Verdict::Repaired, "{text}");
        }
    }

    #[test]
    fn a_text_without_a_valid_number_says_why() {
        for (text, country, refusal) in [
            ("", "US", Refusal::Empty),
            (" \t", "US", Refusal::Empty),
            ("n/a", "US", Refusal::NoNumber),
            ("5.55E+09", "US", Refusal::Rounded),
            ("234-5678", "US", Refusal::LocalOnly),
            ("305-234-567", "US", Refusal::TooShort),
            ("305-234-56789", "US", Refusal::TooLong),
            ("305-023-5678", "US", Refusal::NoPattern),
            ("+999 305 234 5678", "US", Refusal::UnknownCallingCode),
            (&"1".repeat(251), "US", Refusal::LongText),
            (&"1".repeat(40), "US", Refusal::TooLong),
        ] {
            assert_eq!(verdict(text, country), Verdict::Rejected(refusal), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_verdict_agrees_with_the_number(text in any::<String>(), digits in "[+0-9 ()x;_·-]{0,30}") {
            let country = DefaultCountry::default();
            for text in [text, digits] {
                let number = PhoneNumber::parse(&text, country);
                let is_valid = number.as_ref().is_some_and(|number| number.valid);
                let rejected = matches!(Verdict::of(&text, country, number.as_ref()), Verdict::Rejected(_));
                prop_assert_eq!(is_valid, !rejected);
            }
        }
    }
}
