//! Answers to the numbers in a row.

use std::{borrow::Cow, sync::Arc};

use format::{FormatResult, ReasonInfo};
use formatting::{DefaultCountry, PhoneNumber, Reason as NumberReason, Verdict};
use jiff::civil::Date;
use number_lists::Row;
use numbering::dataset::Dataset;

use super::{
    answer::{Answer, AnsweredRow, NumberKey, Outcome, Reason},
    decoding::text_of,
    layout::Layout,
};

/// The rules and data for answering numbers.
pub(super) struct Answers<'a> {
    pub layout: &'a Layout,
    pub default_country: DefaultCountry,
    pub dataset: Option<Arc<Dataset>>,
    pub today: Date,
}

impl Answers<'_> {
    /// Answers a row's numbers, in the order of their columns.
    pub fn answer_row<'r>(&self, row: &'r Row) -> AnsweredRow<'r> {
        let cells: Vec<Cow<'_, str>> = row.cells.iter().map(text_of).collect();
        let numbers = self.layout.columns.numbers.iter();
        let answers = numbers.map(|&column| self.answer_cell(&cells, column)).collect();
        AnsweredRow { line: row.line, cells, answers }
    }

    fn answer_cell(&self, cells: &[Cow<'_, str>], column: usize) -> Answer {
        match self.number_and_country(cells, column) {
            Ok((text, country)) => self.answer_text(text, country),
            Err(reason) => {
                let message = format!("The row {reason}");
                let info = Some(ReasonInfo { code: reason.code(), message, other: None });
                let result = FormatResult::in_memory("", None, info, None, self.today);
                let (outcome, reason) = (Outcome::Rejected, Some(reason));
                Answer { outcome, reason, result, key: None }
            }
        }
    }

    fn answer_text(&self, text: &str, country: DefaultCountry) -> Answer {
        let number = PhoneNumber::parse(text, country);
        let two_numbers = number.as_ref().and_then(|number| number.other.as_ref());
        let two_numbers = two_numbers.map(|_| NumberReason::TwoNumbers);
        let (outcome, reason) = match Verdict::new(text, country, number.as_ref()) {
            Verdict::Valid => (Outcome::Valid, two_numbers),
            Verdict::Repaired => (Outcome::Repaired, two_numbers),
            Verdict::Rejected(reason) => (Outcome::Rejected, Some(reason)),
        };
        let info = reason.and_then(|_| ReasonInfo::find(text, country, number.as_ref()));
        let key = number.as_ref().filter(|number| number.valid).and_then(NumberKey::new);
        let dataset = self.dataset.as_deref();
        let result = FormatResult::in_memory(text, number, info, dataset, self.today);
        let result = result.without_invalid_formats();
        Answer { outcome, reason: reason.map(Reason::Number), result, key }
    }

    fn number_and_country<'c>(
        &self,
        cells: &'c [Cow<'_, str>],
        column: usize,
    ) -> Result<(&'c str, DefaultCountry), Reason> {
        let surplus = cells.get(self.layout.columns.names.len()..).unwrap_or_default();
        // Some programs end every row with delimiters.
        if surplus.iter().any(|cell| !cell.is_empty()) {
            return Err(Reason::ShiftedCells);
        }
        let text = cells.get(column).ok_or(Reason::NoCell)?;
        let country = self.layout.columns.country.and_then(|column| cells.get(column));
        match country.map(|cell| cell.trim()).filter(|cell| !cell.is_empty()) {
            None => Ok((text, self.default_country)),
            Some(code) => Ok((text, code.parse().map_err(|_| Reason::UnknownCountry)?)),
        }
    }
}
