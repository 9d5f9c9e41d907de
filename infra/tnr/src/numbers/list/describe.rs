//! Describes the numbers in a row, and detects those that repeat an earlier one.

use std::{
    borrow::Cow,
    collections::{HashMap, hash_map::Entry},
};

use format::{Assembler, FormatResult, extras::ReasonInfo};
use formatting::{DefaultCountry, PhoneNumber, Reason as NumberReason, Verdict};
use number_lists::{Columns, Row};
use numbering::dataset::Dataset;

use super::decoding::decode_cell;

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
    pub column: usize,
    pub outcome: Verdict,
    /// Set unless the text is a single valid number.
    pub reason: Option<Reason>,
    pub result: FormatResult,
    /// The number and its extension, for detecting duplicates. Set if the number is valid.
    pub key: Option<Box<str>>,
    /// The line of the number that this one repeats, once `key` has been compared with earlier numbers.
    pub repeated_line: Option<u64>,
}

pub(super) struct DescribedRow {
    pub row: Row,
    pub has_windows_1252: bool,
    pub numbers: Vec<DescribedNumber>,
}

impl DescribedNumber {
    pub fn is_valid(&self) -> bool {
        matches!(self.outcome, Verdict::Valid | Verdict::Repaired)
    }
}

impl DescribedRow {
    pub fn cells(&self) -> Vec<Cow<'_, str>> {
        self.row.cells.iter().map(decode_cell).collect()
    }
}

pub(super) struct Describer<'a> {
    pub columns: &'a Columns,
    pub assembler: Assembler<'a>,
    pub default_country: DefaultCountry,
    pub dataset: Option<&'a Dataset>,
    pub has_keys: bool,
}

impl Describer<'_> {
    pub fn describe_row(&self, row: Row) -> DescribedRow {
        let cells: Vec<Cow<'_, str>> = row.cells.iter().map(decode_cell).collect();
        let columns = self.columns.numbers.iter();
        let numbers = columns.map(|&column| self.describe_cell(&cells, column)).collect();
        // Copies only these cells.
        let has_windows_1252 = cells.iter().any(|cell| matches!(cell, Cow::Owned(_)));
        DescribedRow { row, has_windows_1252, numbers }
    }

    fn describe_cell(&self, cells: &[Cow<'_, str>], column: usize) -> DescribedNumber {
        match self.number_and_country(cells, column) {
            Ok((text, country)) => self.describe_text(column, text, country),
            Err(reason) => {
                let message = format!("The row {reason}");
                let info = ReasonInfo { code: reason.code(), message, other: None };
                let result = self.assembler.describe("", self.default_country, None, None);
                let (outcome, reason) = (Verdict::Rejected, Some(reason));
                let result = result.with_reason(info).with_verdict(outcome);
                DescribedNumber { column, outcome, reason, result, key: None, repeated_line: None }
            }
        }
    }

    fn describe_text(&self, column: usize, text: &str, country: DefaultCountry) -> DescribedNumber {
        let number = PhoneNumber::parse(text, country);
        let reason = NumberReason::find(text, country, number.as_ref());
        let outcome = Verdict::new(text, country, number.as_ref(), reason);
        let key = number.as_ref().filter(|number| self.has_keys && number.valid).map(key);
        let result = self.assembler.describe(text, country, number, self.dataset);
        let result = result.without_invalid_formats().with_verdict(outcome);
        let reason = reason.map(Reason::Number);
        DescribedNumber { column, outcome, reason, result, key, repeated_line: None }
    }

    fn number_and_country<'c>(
        &self,
        cells: &'c [Cow<'_, str>],
        column: usize,
    ) -> Result<(&'c str, DefaultCountry), Reason> {
        let surplus = cells.get(self.columns.names.len()..).unwrap_or_default();
        // Some programs end every row with extra delimiters.
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

fn key(number: &PhoneNumber) -> Box<str> {
    let extension = number.extension.as_deref().unwrap_or_default();
    [&number.formats.e164, "x", extension].concat().into()
}

impl Reason {
    pub fn code(self) -> &'static str {
        match self {
            Self::Number(reason) => reason.code(),
            Self::ShiftedCells => "SHIFTED_CELLS",
            Self::UnknownCountry => "UNKNOWN_COUNTRY",
        }
    }
}

/// The line of each number's first occurrence.
#[derive(Default)]
pub(super) struct FirstLines(HashMap<Box<str>, u64>);

impl FirstLines {
    /// Marks the numbers in the next rows. Returns how many repeat an earlier one.
    pub fn mark(&mut self, rows: &mut [DescribedRow]) -> u64 {
        let Self(lines) = self;
        let mut repeated = 0;
        for DescribedRow { row, numbers, .. } in rows {
            for number in numbers {
                let Some(key) = number.key.take() else { continue };
                match lines.entry(key) {
                    Entry::Occupied(first) => {
                        number.repeated_line = Some(*first.get());
                        repeated += 1;
                    }
                    Entry::Vacant(new) => _ = new.insert(row.line),
                }
            }
        }
        repeated
    }
}

/// Returns `true` if there are valid numbers, and all of them repeat earlier ones.
pub(super) fn all_are_duplicates(numbers: &[DescribedNumber]) -> bool {
    let mut valid = numbers.iter().filter(|number| number.is_valid()).peekable();
    valid.peek().is_some() && valid.all(|number| number.repeated_line.is_some())
}
