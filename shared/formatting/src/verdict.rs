//! The verdict on text that should be a single valid phone number, and the reason if it is not.

use std::sync::LazyLock;

use rlibphonenumber::{NumberLengthType, ParseError, PhoneNumber as Parsed, ValidationError};
use serde::Serialize;
use strum::IntoStaticStr;
use utoipa::ToSchema;

use super::{
    country::DefaultCountry,
    masks::has_mask,
    metadata::RULES,
    number::{PhoneNumber, catch_panic},
    text::{MAX_INPUT_LENGTH, is_parseable},
};

/// The reason why text is not a single valid phone number, worded as the end of a sentence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, thiserror::Error,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    #[error("is empty")]
    Empty,
    #[error("has more than {MAX_INPUT_LENGTH} characters")]
    TextTooLong,
    #[error("has masked digits")]
    Masked,
    #[error("was rounded by a spreadsheet")]
    Rounded,
    #[error("is not a phone number")]
    NotANumber,
    #[error("has a country calling code that does not exist")]
    InvalidCountryCode,
    #[error("is missing an area code")]
    MissingAreaCode,
    #[error("has too few digits")]
    TooShort,
    #[error("has too many digits")]
    TooLong,
    #[error("has the wrong number of digits for its country")]
    InvalidLength,
    #[error("is in a range that its country does not use")]
    NoSuchRange,
    /// The first number is valid and becomes the result.
    #[error("contains a second number")]
    TwoNumbers,
}

impl Reason {
    /// Finds the reason why `text`, which [`PhoneNumber::parse`] parsed as `number`, is not a single
    /// valid number; `None` if it is.
    pub fn find(text: &str, country: DefaultCountry, number: Option<&PhoneNumber>) -> Option<Self> {
        match number {
            Some(PhoneNumber { valid: true, other, .. }) => {
                other.is_some().then_some(Self::TwoNumbers)
            }
            Some(number) => Some(Self::from_invalid_number(number)),
            None => Some(Self::from_unparseable_text(text, country)),
        }
    }

    /// The machine-readable code, such as `TOO_SHORT`.
    pub fn code(self) -> &'static str {
        self.into()
    }

    fn from_unparseable_text(text: &str, country: DefaultCountry) -> Self {
        if text.trim().is_empty() {
            return Self::Empty;
        }
        if text.chars().nth(MAX_INPUT_LENGTH).is_some() {
            return Self::TextTooLong;
        }
        if has_mask(text) {
            return Self::Masked;
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
        let reason = catch_panic(|| {
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

/// Parses text by Google's rules alone; `None` if the text makes them panic or is too long.
fn parse_by_rules(text: &str, country: DefaultCountry) -> Option<Result<Parsed, ParseError>> {
    if !is_parseable(text) {
        return None;
    }
    LazyLock::force(&RULES);
    catch_panic(|| Some(RULES.parse(text, Some(country.region()))))
}

/// Returns `true` if a spreadsheet wrote the number like `5.55E+09`, which drops its last digits.
fn is_in_scientific_notation(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit();
    let text = text.to_ascii_uppercase();
    let parts: Vec<&str> = text.split("E+").collect();
    parts.windows(2).any(|pair| pair[0].ends_with(is_digit) && pair[1].starts_with(is_digit))
}

/// The verdict on text that should be one phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = NumberVerdict)]
pub enum Verdict {
    /// Google's rules alone parse the text as this number.
    Valid,
    /// A valid number, but Google's rules alone parse the text differently.
    Repaired,
    Rejected,
    Empty,
}

impl Verdict {
    /// Creates the verdict on `text`, which [`PhoneNumber::parse`] parsed as `number` for this country, and for which
    /// [`Reason::find`] found `reason`.
    pub fn new(
        text: &str,
        country: DefaultCountry,
        number: Option<&PhoneNumber>,
        reason: Option<Reason>,
    ) -> Self {
        match (number, reason) {
            (Some(number), None | Some(Reason::TwoNumbers)) => {
                let is_plain = is_read_by_rules_alone(text, country, number);
                if is_plain { Self::Valid } else { Self::Repaired }
            }
            (_, Some(Reason::Empty)) => Self::Empty,
            _ => Self::Rejected,
        }
    }
}

fn is_read_by_rules_alone(text: &str, country: DefaultCountry, number: &PhoneNumber) -> bool {
    // A shortcut for clean lists, since parsing costs as much as everything else here.
    if text == number.formats.e164 {
        return true;
    }
    let Some(Ok(read)) = parse_by_rules(text, country) else { return false };
    read.country_code == number.country_calling_code
        && rlibphonenumber::get_national_significant_number_owned(&read) == number.national_number
}
