//! Describes the numbers in a row.

use std::{borrow::Cow, sync::Arc};

use format::{
    FormatResult,
    extras::{Extras, Include, ReasonInfo, Subject},
};
use formatting::{DefaultCountry, Languages, PhoneNumber, Reason as NumberReason, Verdict};
use jiff::Timestamp;
use number_lists::{Columns, Row};
use numbering::{dataset::Dataset, time::date_of};

use super::decoding::decode_cell;

/// The outcome for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Valid,
    Repaired,
    Rejected,
    /// The cell or line is blank.
    Empty,
}

/// The reason a row does not have exactly one valid number. Displays as the end of a sentence about the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub(super) enum Reason {
    #[error(transparent)]
    Number(NumberReason),
    #[error("has more cells than the header row, so its cells may be shifted")]
    ShiftedCells,
    #[error("has a country that is not an ISO 3166-1 alpha-2 code")]
    UnknownCountry,
}

pub(super) struct DescribedNumber {
    pub outcome: Outcome,
    /// Present unless the text is a single valid number.
    pub reason: Option<Reason>,
    pub result: FormatResult,
    /// Present if the number is valid.
    pub key: Option<NumberKey>,
}

pub(super) struct DescribedRow<'a> {
    pub line: u64,
    pub cells: Vec<Cow<'a, str>>,
    /// `true` if any cell is in Windows-1252.
    pub has_windows_1252: bool,
    pub numbers: Vec<DescribedNumber>,
}

/// Describes rows with these rules and data.
pub(super) struct Describer<'a> {
    pub columns: &'a Columns,
    pub include: Include,
    pub default_country: DefaultCountry,
    pub languages: Languages,
    pub dataset: Option<Arc<Dataset>>,
    pub now: Timestamp,
}

impl Describer<'_> {
    /// Describes a row's numbers, in column order.
    pub fn describe_row<'r>(&self, row: &'r Row) -> DescribedRow<'r> {
        let cells: Vec<Cow<'_, str>> = row.cells.iter().map(decode_cell).collect();
        let columns = self.columns.numbers.iter();
        let numbers = columns.map(|&column| self.describe_cell(&cells, column)).collect();
        // Only those are copied.
        let has_windows_1252 = cells.iter().any(|cell| matches!(cell, Cow::Owned(_)));
        DescribedRow { line: row.line, cells, has_windows_1252, numbers }
    }

    fn describe_cell(&self, cells: &[Cow<'_, str>], column: usize) -> DescribedNumber {
        match self.number_and_country(cells, column) {
            Ok((text, country)) => self.describe_text(text, country),
            Err(reason) => {
                let message = format!("The row {reason}");
                let info = Some(ReasonInfo { code: reason.code(), message, other: None });
                let subject = Subject { text: "", country: self.default_country, number: None };
                let extras = Extras { reason: Some(info), ..self.extras(subject) };
                let result = FormatResult::in_memory("", None, extras, None, date_of(self.now));
                let (outcome, reason) = (Outcome::Rejected, Some(reason));
                DescribedNumber { outcome, reason, result, key: None }
            }
        }
    }

    fn describe_text(&self, text: &str, country: DefaultCountry) -> DescribedNumber {
        let number = PhoneNumber::parse(text, country);
        let has_other = number.as_ref().is_some_and(|number| number.other.is_some());
        let two_numbers = has_other.then_some(NumberReason::TwoNumbers);
        let (outcome, reason) = match Verdict::new(text, country, number.as_ref()) {
            Verdict::Valid => (Outcome::Valid, two_numbers),
            Verdict::Repaired => (Outcome::Repaired, two_numbers),
            Verdict::Rejected(NumberReason::Empty) => (Outcome::Empty, Some(NumberReason::Empty)),
            Verdict::Rejected(reason) => (Outcome::Rejected, Some(reason)),
        };
        let info = reason.and_then(|_| ReasonInfo::find(text, country, number.as_ref()));
        let key = number.as_ref().filter(|number| number.valid).and_then(NumberKey::new);
        let dataset = self.dataset.as_deref();
        let subject = Subject { text, country, number: number.as_ref() };
        let extras = Extras { reason: Some(info), ..self.extras(subject) };
        let result = FormatResult::in_memory(text, number, extras, dataset, date_of(self.now));
        let result = result.without_invalid_formats();
        DescribedNumber { outcome, reason: reason.map(Reason::Number), result, key }
    }

    /// The optional fields except for the reason, which depends on the row.
    fn extras(&self, subject: Subject<'_>) -> Extras {
        let dataset = self.dataset.as_deref();
        Extras::find(&self.include, subject, &self.languages, dataset, self.now)
    }

    fn number_and_country<'c>(
        &self,
        cells: &'c [Cow<'_, str>],
        column: usize,
    ) -> Result<(&'c str, DefaultCountry), Reason> {
        let surplus = cells.get(self.columns.names.len()..).unwrap_or_default();
        // Some programs end every row with delimiters.
        if surplus.iter().any(|cell| !cell.is_empty()) {
            return Err(Reason::ShiftedCells);
        }
        let cell = |column: usize| cells.get(column).map_or("", AsRef::as_ref);
        let text = cell(column);
        match self.columns.country.map_or("", cell).trim() {
            code if code.is_empty() || text.trim().is_empty() => Ok((text, self.default_country)),
            code => Ok((text, code.parse().map_err(|_| Reason::UnknownCountry)?)),
        }
    }
}

/// A valid number and its extension as base-11 digits, which take less memory than text. Two halves,
/// because a `u128` would be padded for alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NumberKey(u64, u64);

impl NumberKey {
    /// The key of a valid number; `None` if its extension is too long.
    pub fn new(number: &PhoneNumber) -> Option<Self> {
        let e164 = number.formats.e164.bytes().filter(u8::is_ascii_digit);
        let extension = number.extension.iter().flat_map(|digits| digits.bytes());
        let separator = number.extension.as_ref().map(|_| 10);
        let digit = |byte: u8| u128::from(byte.wrapping_sub(b'0'));
        let mut digits = e164.map(digit).chain(separator).chain(extension.map(digit));
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
            Self::Empty => "empty",
        }
    }
}

impl Reason {
    /// The code for programs, such as `TOO_SHORT`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Number(reason) => reason.code(),
            Self::ShiftedCells => "SHIFTED_CELLS",
            Self::UnknownCountry => "UNKNOWN_COUNTRY",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Option<NumberKey> {
        NumberKey::new(&PhoneNumber::parse(text, DefaultCountry::default()).unwrap())
    }

    #[test]
    fn numbers_are_duplicates_if_e164_and_extension_match() {
        assert_eq!(key("(415) 234-1234"), key("+1 415.234.1234"));
        assert_eq!(key("415 234 1234 x12"), key("+14152341234 ext. 12"));
        let others = ["415 234 1234", "415 234 1234 x12", "415 234 1234 x012", "415 234 1235"];
        let keys: std::collections::HashSet<_> = others.map(key).into();
        assert_eq!(keys.len(), others.len());
    }
}
