//! Reads one row of a country's file as ranges.

use std::collections::HashMap;

use csv::StringRecord;
use jiff::civil::Date;
use numbering::ranges::{NationalNumber, Range, RangeFacts, RangeUse};

use super::{
    description::Layout,
    rows::{PublishedRange, Rows},
};
use crate::{
    error::ReportError,
    table::{check_cell, excerpt, non_empty},
};

pub(super) const MAX_EXCERPT_LENGTH: usize = 40;
/// The precedence of rows with an unknown status: any other row wins.
const LAST: usize = usize::MAX;

/// A file's table.
pub(super) struct Table<'a> {
    pub file: &'a str,
    pub layout: &'a Layout,
    /// The use and precedence of each status in lowercase.
    pub meanings: HashMap<String, (RangeUse, usize)>,
    /// Holders by code; `None` if the holder column has names.
    pub names: Option<&'a HashMap<String, String>>,
}

/// The position of each column that the layout names.
pub(super) type Columns<'a> = HashMap<&'a str, usize>;

/// The first and the last number of a range.
type Bounds = (NationalNumber, NationalNumber);

/// A row, with its line for messages.
pub(super) struct Row<'a> {
    pub table: &'a Table<'a>,
    pub columns: &'a Columns<'a>,
    pub record: &'a StringRecord,
    pub line: u64,
}

impl Row<'_> {
    pub fn parse(&self, rows: &mut Rows) -> Result<(), ReportError> {
        let layout = self.table.layout;
        // Without a status, a row is assigned.
        let (status, continuation, (range_use, precedence)) = match &layout.status {
            None => (None, "", (RangeUse::Assigned, 0)),
            Some(column) => {
                let (word, continuation) = self.status(column)?;
                let known = self.table.meanings.get(&word.to_lowercase()).copied();
                let meaning = known.unwrap_or_else(|| {
                    self.warn(rows, column, word, "is unknown; such ranges are reserved");
                    (RangeUse::Reserved, LAST)
                });
                (Some(word), continuation, meaning)
            }
        };
        let holder = self.holder(rows)?;
        let effective_from = self.date(rows)?;
        let place = layout.place.as_ref().map(|column| self.text(column)).transpose()?.flatten();
        let [status, place] = [status, place].map(|text| text.map(str::to_owned));
        let facts = RangeFacts { range_use, status, holder, effective_from, place };
        let Some(ranges) = self.ranges(continuation)? else {
            rows.skip("short numbers");
            return Ok(());
        };
        let is_valid = |range: &Option<Bounds>| {
            range.is_some_and(|(from, to)| from <= to && from.has_same_length_as(to))
        };
        if ranges.is_empty() || !ranges.iter().all(is_valid) {
            rows.skip("rows without a valid range");
            rows.warn(
                format!("{}: a range is invalid and is skipped", self.table.file),
                format!("line {}", self.line),
            );
            return Ok(());
        }
        for (from, to) in ranges.into_iter().flatten() {
            let range = Range { from, to, facts: facts.clone() };
            rows.ranges.push(PublishedRange { range, precedence });
        }
        Ok(())
    }

    /// A row's ranges, with `None` for an invalid one; `None` if the row is for short numbers.
    fn ranges(&self, continuation: &str) -> Result<Option<Vec<Option<Bounds>>>, ReportError> {
        let layout = self.table.layout;
        let national = |digits| str::strip_prefix(digits, &layout.trunk_prefix);
        if layout.block.is_empty() {
            let [from, to] = self.bounds()?;
            let (Some(from), Some(to)) = (national(&from), national(&to)) else { return Ok(None) };
            let has_length = layout.lengths.is_empty() || layout.lengths.contains(&from.len());
            return Ok(has_length.then(|| vec![from.parse().ok().zip(to.parse().ok())]));
        }
        let digits = self.digits(&layout.block)? + continuation;
        let Some(prefix) = national(&digits) else { return Ok(None) };
        // An empty prefix would match every number.
        if prefix.is_empty() {
            return Ok(Some(vec![None]));
        }
        let lengths = match &layout.length {
            None => layout.lengths.clone(),
            Some(column) => lengths(self.cell(column)?),
        };
        let block = |&length: &usize| NationalNumber::block(prefix, length);
        Ok(Some(lengths.iter().map(block).collect()))
    }

    /// The text of a cell. Applies the same checks as for the other reports.
    fn cell(&self, column: &str) -> Result<&str, ReportError> {
        let position = self.columns[column];
        let cell = self.record.get(position).unwrap_or_default().trim();
        check_cell(cell).map_err(|rule| {
            let (file, line, number) = (self.table.file, self.line, position + 1);
            ReportError::new(format!("{file}, line {line}, cell {number}: {rule}"))
        })?;
        Ok(cell)
    }

    /// The text of a cell, unless it is a placeholder such as `-`.
    fn text(&self, column: &str) -> Result<Option<&str>, ReportError> {
        Ok(Some(self.cell(column)?).filter(|text| text.contains(char::is_alphanumeric)))
    }

    /// The text of the given columns, joined, without whitespace or hyphens.
    fn digits(&self, columns: &[String]) -> Result<String, ReportError> {
        let cells = columns.iter().map(|column| self.cell(column));
        let text = cells.collect::<Result<String, _>>()?;
        Ok(text.split(|it: char| it.is_whitespace() || it == '-').collect())
    }

    /// The first and the last number, which may share a cell. A cell without the separator has a single number.
    fn bounds(&self) -> Result<[String; 2], ReportError> {
        let layout = self.table.layout;
        let [from, to] = [self.digits(&layout.from)?, self.digits(&layout.to)?];
        let separator = layout.separator.as_deref();
        let split = separator.and_then(|separator| from.split_once(separator));
        Ok(split.map_or([from.clone(), to], |(from, to)| [from, to].map(str::to_owned)))
    }

    /// The status, and the digits after it if they continue the block.
    fn status(&self, column: &str) -> Result<(&str, &str), ReportError> {
        let cell = self.cell(column)?;
        let continues_block = self.table.layout.status_continues_block;
        let is_digit = |character: char| continues_block && character.is_ascii_digit();
        let word = cell.trim_end_matches(is_digit);
        Ok((word.trim(), &cell[word.len()..]))
    }

    fn holder(&self, rows: &mut Rows) -> Result<Option<String>, ReportError> {
        let column = &self.table.layout.holder;
        let Some(holder) = self.text(column)? else { return Ok(None) };
        let Some(names) = self.table.names else { return Ok(Some(holder.to_owned())) };
        let name = names.get(holder);
        if name.is_none() {
            self.warn(rows, column, holder, "has no name; the code is used");
        }
        Ok(Some(name.cloned().unwrap_or_else(|| holder.to_owned())))
    }

    fn date(&self, rows: &mut Rows) -> Result<Option<Date>, ReportError> {
        let layout = self.table.layout;
        let Some(column) = &layout.date else { return Ok(None) };
        let cell = self.cell(column)?;
        // A time of day may follow the date.
        let Some(day) = cell.split([' ', 'T']).next().and_then(non_empty) else { return Ok(None) };
        let mut formats = layout.date_format.split('|');
        let date = formats.find_map(|format| Date::strptime(format, day).ok());
        if date.is_none() {
            self.warn(rows, column, cell, "is not a date and is ignored");
        }
        Ok(date)
    }

    /// Warns about an unknown value. `consequence` says how it is treated.
    fn warn(&self, rows: &mut Rows, column: &str, value: &str, consequence: &str) {
        let column = column.split('|').next().unwrap_or_default();
        let (value, line) = (excerpt(value, MAX_EXCERPT_LENGTH), self.line);
        *rows.unknown_values.entry(column.to_owned()).or_default() += 1;
        rows.warn(
            format!("{}: {column} {consequence}", self.table.file),
            format!("'{value}' on line {line}"),
        );
    }
}

/// The numbers of digits in text such as `10 digit numbers`, `2+8` (area code and local number) or
/// `Mixed 4+5 & 4+6`.
fn lengths(text: &str) -> Vec<usize> {
    let sum = |plan: &str| -> usize {
        let parts = plan.split(|it: char| !it.is_ascii_digit());
        parts.filter_map(|it| it.parse::<u8>().ok()).map(usize::from).sum()
    };
    text.split('&').map(sum).filter(|&length| length > 0).collect()
}
