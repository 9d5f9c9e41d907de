//! Reasons for which a text is not one valid phone number.

use std::sync::LazyLock;

use rlibphonenumber::{NumberLengthType, ParseError, PhoneNumber as Parsed, ValidationError};
use strum::IntoStaticStr;

use super::{
    country::DefaultCountry,
    metadata::RULES,
    normalize::{LONGEST_INPUT, is_parseable},
    number::{PhoneNumber, without_panic},
};

/// The reason for which a text is not one valid phone number, as the end of a sentence about it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, thiserror::Error,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    #[error("is empty")]
    Empty,
    #[error("has more than {LONGEST_INPUT} characters")]
    TextTooLong,
    #[error("was rounded by a spreadsheet")]
    Rounded,
    #[error("is not a phone number")]
    NotANumber,
    #[error("has a country calling code that does not exist")]
    InvalidCountryCode,
    #[error("lacks an area code")]
    MissingAreaCode,
    #[error("has too few digits")]
    TooShort,
    #[error("has too many digits")]
    TooLong,
    #[error("has the wrong number of digits for its country")]
    InvalidLength,
    #[error("is in a range that its country does not use")]
    NoSuchRange,
    /// The first number is valid and counts.
    #[error("holds a second number")]
    TwoNumbers,
}

impl Reason {
    /// The reason for `text`, which [`PhoneNumber::parse`] has read as `number` in this country; `None`
    /// for one valid number.
    pub fn find(text: &str, country: DefaultCountry, number: Option<&PhoneNumber>) -> Option<Self> {
        match number {
            Some(PhoneNumber { valid: true, other, .. }) => {
                other.is_some().then_some(Self::TwoNumbers)
            }
            Some(number) => Some(Self::from_invalid_number(number)),
            None => Some(Self::from_unparseable_text(text, country)),
        }
    }

    /// The code for programs, such as `TOO_SHORT`.
    pub fn code(self) -> &'static str {
        self.into()
    }

    fn from_unparseable_text(text: &str, country: DefaultCountry) -> Self {
        if text.trim().is_empty() {
            return Self::Empty;
        }
        if text.chars().nth(LONGEST_INPUT).is_some() {
            return Self::TextTooLong;
        }
        if is_in_scientific_notation(text) {
            return Self::Rounded;
        }
        match parse_by_rules(text, country) {
            Some(Err(ParseError::InvalidCountryCode)) => Self::InvalidCountryCode,
            Some(Err(ParseError::TooLongNsn)) => Self::TooLong,
            Some(Err(ParseError::TooShortNsn | ParseError::TooShortAfterIdd)) => Self::TooShort,
            _ => Self::NotANumber,
        }
    }

    fn from_invalid_number(number: &PhoneNumber) -> Self {
        let reason = without_panic(|| {
            let read = RULES.parse(&number.formats.e164, None).ok()?;
            Some(RULES.is_possible_number_with_reason(&read))
        });
        match reason {
            Some(Ok(NumberLengthType::IsPossibleLocalOnly)) => Self::MissingAreaCode,
            Some(Err(ValidationError::TooShort)) => Self::TooShort,
            Some(Err(ValidationError::TooLong)) => Self::TooLong,
            Some(Err(ValidationError::InvalidLength)) => Self::InvalidLength,
            Some(Err(ValidationError::InvalidCountryCode)) => Self::InvalidCountryCode,
            Some(Ok(NumberLengthType::IsPossible)) | None => Self::NoSuchRange,
        }
    }
}

/// The reading of Google's rules alone; `None` if they cannot be asked.
pub(super) fn parse_by_rules(
    text: &str,
    country: DefaultCountry,
) -> Option<Result<Parsed, ParseError>> {
    if !is_parseable(text) {
        return None;
    }
    LazyLock::force(&RULES);
    without_panic(|| Some(RULES.parse(text, Some(country.region()))))
}

/// Whether a spreadsheet has written the number like `5.55E+09`, which has lost its last digits.
fn is_in_scientific_notation(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let text = text.to_ascii_uppercase();
    let parts: Vec<&str> = text.split("E+").collect();
    parts.windows(2).any(|pair| pair[0].ends_with(is_digit) && pair[1].starts_with(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, country: &str) -> Option<Reason> {
        let country = country.parse().unwrap();
        Reason::find(text, country, PhoneNumber::parse(text, country).as_ref())
    }

    #[test]
    fn one_valid_number_has_no_reason_and_two_have_one() {
        assert_eq!(find("305-234-5678", "US"), None);
        assert_eq!(find("305-234-5678 / 212-234-5678", "US"), Some(Reason::TwoNumbers));
        assert_eq!(Reason::TwoNumbers.code(), "TWO_NUMBERS");
    }

    #[test]
    fn text_without_a_valid_number_has_its_reason() {
        for (text, country, reason) in [
            ("", "US", Reason::Empty),
            (" \t", "US", Reason::Empty),
            ("n/a", "US", Reason::NotANumber),
            ("5.55E+09", "US", Reason::Rounded),
            ("234-5678", "US", Reason::MissingAreaCode),
            ("305-234-567", "US", Reason::TooShort),
            ("305-234-56789", "US", Reason::TooLong),
            ("305-023-5678", "US", Reason::NoSuchRange),
            ("+999 305 234 5678", "US", Reason::InvalidCountryCode),
            (&"1".repeat(251), "US", Reason::TextTooLong),
            (&"1".repeat(40), "US", Reason::TooLong),
        ] {
            assert_eq!(find(text, country), Some(reason), "{text}");
        }
    }
}
