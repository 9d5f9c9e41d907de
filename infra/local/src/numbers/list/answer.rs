//! The answer to a number, and a row with its answers.

use std::borrow::Cow;

use format::FormatResult;
use formatting::{PhoneNumber, Reason as NumberReason};

/// The outcome of parsing a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Valid,
    Repaired,
    Rejected,
}

/// The reason a row has no valid number, or several. Displays as the end of a sentence about the
/// row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum Reason {
    #[error(transparent)]
    Number(NumberReason),
    #[error("has no cell in the column of numbers")]
    NoCell,
    #[error("has more cells than the header, so that they may be shifted")]
    ShiftedCells,
    #[error("names a country that is not an ISO 3166-1 alpha-2 code")]
    UnknownCountry,
}

/// The answer to one number.
pub(super) struct Answer {
    pub outcome: Outcome,
    /// Present if the number was rejected or is not the only one.
    pub reason: Option<Reason>,
    pub result: FormatResult,
    /// Present if the number is valid.
    pub key: Option<NumberKey>,
}

/// A row with its answers.
pub(super) struct AnsweredRow<'a> {
    pub line: u64,
    pub cells: Vec<Cow<'a, str>>,
    pub answers: Vec<Answer>,
}

/// A valid number and its extension as base-11 digits, which takes less memory than text. Split in
/// halves, because a single integer would be padded for alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NumberKey(u64, u64);

impl NumberKey {
    /// The key of a valid number; `None` if its extension is too long.
    pub fn new(number: &PhoneNumber) -> Option<Self> {
        let e164 = number.formats.e164.bytes().filter(u8::is_ascii_digit);
        let extension = number.extension.iter().flat_map(|digits| digits.bytes());
        let mark = number.extension.as_ref().map(|_| 10);
        let digit = |byte: u8| u128::from(byte.wrapping_sub(b'0'));
        let mut digits = e164.map(digit).chain(mark).chain(extension.map(digit));
        let key = digits.try_fold(0u128, |key, digit| key.checked_mul(11)?.checked_add(digit))?;
        Some(Self((key >> 64) as u64, key as u64))
    }
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Repaired => "repaired",
            Self::Rejected => "rejected",
        }
    }
}

impl Reason {
    /// The code for programs, such as `TOO_SHORT`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Number(reason) => reason.code(),
            Self::NoCell => "EMPTY_CELL",
            Self::ShiftedCells => "SHIFTED_CELLS",
            Self::UnknownCountry => "UNKNOWN_COUNTRY",
        }
    }
}

#[cfg(test)]
mod tests {
    use formatting::DefaultCountry;

    use super::*;

    fn key(text: &str) -> Option<NumberKey> {
        NumberKey::new(&PhoneNumber::parse(text, DefaultCountry::default()).unwrap())
    }

    #[test]
    fn numbers_are_the_same_if_e_164_and_extension_match() {
        assert_eq!(key("(415) 234-1234"), key("+1 415.234.1234"));
        assert_eq!(key("415 234 1234 x12"), key("+14152341234 ext. 12"));
        let others = ["415 234 1234", "415 234 1234 x12", "415 234 1234 x012", "415 234 1235"];
        let keys: std::collections::HashSet<_> = others.map(key).into();
        assert_eq!(keys.len(), others.len());
    }
}
