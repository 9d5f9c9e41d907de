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
    table::{MAX_CELL_LENGTH, excerpt, is_invisible, non_empty},
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

/// The positions of the columns that the layout names.
pub(super) struct Columns {
    pub block: Vec<usize>,
    pub from: Vec<usize>,
    pub to: Vec<usize>,
    pub holder: usize,
    pub status: Option<usize>,
    pub date: Option<usize>,
    pub place: Option<usize>,
    pub length: Option<usize>,
}

/// The first and the last number of a range.
type Bounds = (NationalNumber, NationalNumber);

/// A row, with its line for messages.
pub(super) struct Row<'a> {
    pub table: &'a Table<'a>,
    pub record: &'a StringRecord,
    pub line: u64,
}

impl Row<'_> {
    pub fn parse(&self, columns: &Columns, rows: &mut Rows) -> Result<(), ReportError> {
        let layout = self.table.layout;
        let (status, continuation) = match columns.status {
            None => (None, ""),
            Some(column) => self.status(column)?,
        };
        let (range_use, precedence) = match status {
            None => (RangeUse::Assigned, 0),
            Some(word) => {
                let known = self.table.meanings.get(&word.to_lowercase()).copied();
                known.unwrap_or_else(|| {
                    self.warn(
                        rows,
                        layout.status.as_deref(),
                        word,
                        "is unknown; such ranges are reserved",
                    );
                    (RangeUse::Reserved, LAST)
                })
            }
        };
        let facts = RangeFacts {
            range_use,
            status: status.map(str::to_owned),
            holder: self.holder(columns.holder, rows)?,
            effective_from: self.date(columns.date, rows)?,
            place: columns
                .place
                .map(|column| self.text(column))
                .transpose()?
                .flatten()
                .map(str::to_owned),
        };
        let Some(ranges) = self.ranges(columns, continuation)? else {
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
    fn ranges(
        &self,
        columns: &Columns,
        continuation: &str,
    ) -> Result<Option<Vec<Option<Bounds>>>, ReportError> {
        let layout = self.table.layout;
        let national = |digits| str::strip_prefix(digits, &layout.trunk_prefix);
        if layout.block.is_empty() {
            let [from, to] = self.bounds(columns)?;
            let (Some(from), Some(to)) = (national(&from), national(&to)) else { return Ok(None) };
            let has_length = layout.lengths.is_empty() || layout.lengths.contains(&from.len());
            return Ok(has_length.then(|| vec![from.parse().ok().zip(to.parse().ok())]));
        }
        let digits = self.digits(&columns.block)? + continuation;
        let Some(prefix) = national(&digits) else { return Ok(None) };
        // An empty prefix would match every number.
        if prefix.is_empty() {
            return Ok(Some(vec![None]));
        }
        let lengths = match columns.length {
            None => layout.lengths.clone(),
            Some(column) => lengths(self.cell(column)?),
        };
        let block = |&length: &usize| NationalNumber::block(prefix, length);
        Ok(Some(lengths.iter().map(block).collect()))
    }

    /// The text of a cell. Rejects what cannot be a name, as in the other reports.
    fn cell(&self, column: usize) -> Result<&str, ReportError> {
        let cell = self.record.get(column).unwrap_or_default().trim();
        let rule = if cell.len() > MAX_CELL_LENGTH {
            format!("must have at most {MAX_CELL_LENGTH} bytes")
        } else if let Some(invisible) = cell.chars().find(|&character| is_invisible(character)) {
            format!("contains the invisible character U+{:04X}", u32::from(invisible))
        } else {
            return Ok(cell);
        };
        Err(ReportError::new(format!(
            "{}, line {}, cell {}: {rule}",
            self.table.file,
            self.line,
            column + 1
        )))
    }

    /// The text of a cell, unless it is a placeholder such as `-`.
    fn text(&self, column: usize) -> Result<Option<&str>, ReportError> {
        Ok(Some(self.cell(column)?).filter(|text| text.contains(char::is_alphanumeric)))
    }

    /// The cells of some columns without blanks and hyphens.
    fn digits(&self, columns: &[usize]) -> Result<String, ReportError> {
        let cells = columns.iter().map(|&column| self.cell(column));
        let text = cells.collect::<Result<String, _>>()?;
        Ok(text.split(|it: char| it.is_whitespace() || it == '-').collect())
    }

    /// The first and the last number, which may share a cell. A cell without the separator has a single number.
    fn bounds(&self, columns: &Columns) -> Result<[String; 2], ReportError> {
        let [from, to] = [self.digits(&columns.from)?, self.digits(&columns.to)?];
        let separator = self.table.layout.separator.as_deref();
        let split = separator.and_then(|separator| from.split_once(separator));
        Ok(split.map_or([from.clone(), to], |(from, to)| [from, to].map(str::to_owned)))
    }

    /// The status, and the digits after it if they continue the block. Without a status, a row is assigned.
    fn status(&self, column: usize) -> Result<(Option<&str>, &str), ReportError> {
        let cell = self.cell(column)?;
        let continues_block = self.table.layout.status_continues_block;
        let is_digit = |character: char| continues_block && character.is_ascii_digit();
        let word = cell.trim_end_matches(is_digit);
        Ok((Some(word.trim()), &cell[word.len()..]))
    }

    fn holder(&self, column: usize, rows: &mut Rows) -> Result<Option<String>, ReportError> {
        let Some(holder) = self.text(column)? else { return Ok(None) };
        let Some(names) = self.table.names else { return Ok(Some(holder.to_owned())) };
        let name = names.get(holder);
        if name.is_none() {
            self.warn(
                rows,
                Some(&self.table.layout.holder),
                holder,
                "has no name; the code is used",
            );
        }
        Ok(Some(name.cloned().unwrap_or_else(|| holder.to_owned())))
    }

    fn date(&self, column: Option<usize>, rows: &mut Rows) -> Result<Option<Date>, ReportError> {
        let Some(column) = column else { return Ok(None) };
        let cell = self.cell(column)?;
        // A time of day may follow the date.
        let Some(day) = cell.split([' ', 'T']).next().and_then(non_empty) else { return Ok(None) };
        let layout = self.table.layout;
        let mut formats = layout.date_format.split('|');
        let date = formats.find_map(|format| Date::strptime(format, day).ok());
        if date.is_none() {
            self.warn(rows, layout.date.as_deref(), cell, "is not a date and is ignored");
        }
        Ok(date)
    }

    /// Warns about an unknown value. `consequence` says how it is treated.
    fn warn(&self, rows: &mut Rows, column: Option<&str>, value: &str, consequence: &str) {
        let column = column.unwrap_or_default().split('|').next().unwrap_or_default();
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
