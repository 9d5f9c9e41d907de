//! Delimited text as rows with named columns.
//!
//! Columns are found by header name, because reports have added, moved and renamed columns over the years.

mod cells;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt::Display, str::FromStr};

use jiff::civil::Date;
use store::ReportName;

use self::cells::{Line, Lines, decode_cell};
use crate::{error::ReportError, notes::Notes};

pub(crate) use cells::{check_cell, date, excerpt, non_empty};

pub(crate) struct Format {
    pub name: ReportName,
    /// The report's name in messages.
    pub file: &'static str,
    /// The cell separator. If it is a tab, cells are padded, and quotes are inside the padding, where a CSV reader
    /// would not remove them.
    pub delimiter: u8,
    /// The columns to read, as a header line. `Company|Company Name` lists a column's names over the years. Only
    /// letters and digits are compared. A `?` marks a column that some years lack; its cells are then empty.
    pub columns: &'static str,
    /// The other columns in published reports.
    pub unused: &'static str,
    /// The maximum number of rows. Real reports have fewer.
    pub max_rows: u32,
}

/// The earliest valid year in a report's date. NANPA and CNAC started to publish files in the nineties.
const FIRST_YEAR: i16 = 1990;
/// The maximum number of bytes in a cell of a known column. The longest company name has about 100.
pub(crate) const MAX_CELL_LENGTH: usize = 256;
const MAX_EXCERPT_LENGTH: usize = 40;
const MAX_HEADER_EXCERPT_LENGTH: usize = 120;
/// The maximum number of lines to search for the header row. A date may come before it.
const HEADER_SEARCH_LINES: usize = 5;
/// The label of the file's date, which is in a header cell of its own or, since 2020, in the `In Service` cell.
const FILE_UPDATED: &str = "File Updated";

fn names(column: &'static str) -> impl Iterator<Item = &'static str> {
    column.trim_end_matches('?').split('|')
}

fn first_name(column: &'static str) -> &'static str {
    names(column).next().unwrap_or_default()
}

pub(crate) fn is_same_name(name: &str, other: &str) -> bool {
    let letters_and_digits = |name: &str| {
        let characters = name.chars().filter(|c| c.is_alphanumeric());
        characters.flat_map(char::to_lowercase).collect::<String>()
    };
    letters_and_digits(name) == letters_and_digits(other)
}

/// The text before the label of the file's date, and the date after it.
fn around_date_label(cell: &str) -> Option<(&str, Option<Date>)> {
    let (name, text) = cell.split_once(FILE_UPDATED)?;
    Some((name.trim(), date(text.trim())))
}

struct Header {
    /// Each known column's position; `None` if missing.
    positions: Vec<Option<usize>>,
    cells: usize,
    /// The file's date, if it is in the header row or above it.
    date: Option<Date>,
}

impl Format {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.columns.split(", ")
    }

    /// Passes each row to `read_row`, and returns the file's date. Skips and counts blank rows.
    pub fn read(
        &self,
        text: &[u8],
        notes: &mut Notes,
        mut read_row: impl FnMut(&Row<'_>, &mut Notes) -> Result<(), ReportError>,
    ) -> Result<Option<Date>, ReportError> {
        let mut lines = Lines::new(self.file, self.delimiter, text);
        let header = self.read_header(&mut lines, notes)?;
        let mut date = header.date;
        let mut rows = 0;
        while let Some(line) = lines.next()? {
            let cells = (0..).zip(line.record.iter().map(decode_cell));
            let filled: Vec<(usize, _)> =
                cells.filter(|(_, cell)| !cell.is_empty()).take(2).collect();
            // A row with only a first cell is truncated, even if the cell is a date.
            match &filled[..] {
                [] => notes.skip(self.name, "blank rows"),
                [(1.., cell)] if self::date(cell).is_some() => date = date.or(self::date(cell)),
                _ => {
                    read_row(&self.row(&header, &line)?, notes)?;
                    rows += 1;
                }
            }
            if rows > self.max_rows {
                return Err(self.error(format!("must have at most {} rows", self.max_rows)));
            }
        }
        (0..lines.empty_lines).for_each(|_| notes.skip(self.name, "blank rows"));
        notes.findings_mut(self.name).rows = rows;
        match date {
            _ if rows == 0 => Err(self.error("has no rows")),
            Some(date) if date.year() < FIRST_YEAR => {
                let rule = format!("a report's date must be in {FIRST_YEAR} or later");
                Err(self.error(format!("is dated {date}; {rule}")))
            }
            date => Ok(date),
        }
    }

    pub fn error(&self, reason: impl Display) -> ReportError {
        ReportError::new(format!("{} {reason}", self.file))
    }

    fn row<'a>(&'a self, header: &Header, line: &'a Line) -> Result<Row<'a>, ReportError> {
        let Line { record, number } = line;
        let (found, expected) = (record.len(), header.cells);
        if found != expected {
            return Err(ReportError::new(format!(
                "{}, line {number}: the row must have {expected} cells, like the header, got {found}; \
                 check whether the file is truncated or a cell is not quoted",
                self.file
            )));
        }
        let cell = |position: &Option<usize>| record.get((*position)?).map(decode_cell);
        let cells = header.positions.iter().map(|position| cell(position).unwrap_or_default());
        let row = Row { format: self, line: *number, cells: cells.collect() };
        (0..row.cells.len()).try_for_each(|column| row.parse_with(column, check_cell))?;
        Ok(row)
    }

    /// Reads up to the header row: the first line with all required columns.
    fn read_header(&self, lines: &mut Lines<'_>, notes: &mut Notes) -> Result<Header, ReportError> {
        let mut date = None;
        let mut candidates: Vec<(Vec<&str>, Line)> = Vec::new();
        while candidates.len() < HEADER_SEARCH_LINES
            && let Some(line) = lines.next()?
        {
            let positions: Vec<_> = self.columns().map(|it| positions(it, &line)).collect();
            let missing = self.columns().zip(&positions);
            let missing = missing.filter(|(it, found)| !it.ends_with('?') && found.is_empty());
            let missing: Vec<&str> = missing.map(|(column, _)| first_name(column)).collect();
            if missing.is_empty() {
                return self.header(&line, &positions, date, notes);
            }
            date =
                date.or_else(|| line.record.iter().find_map(|cell| self::date(&decode_cell(cell))));
            candidates.push((missing, line));
        }
        let unexpected = "does not look like the expected report";
        let best_match = candidates.iter().min_by_key(|(missing, _)| missing.len());
        let Some((missing, Line { record, number })) = best_match else {
            return Err(self.error(format!("{unexpected}: it is empty")));
        };
        let missing = missing.join(", ");
        let rule = format!("{} {unexpected}: no header row has the column(s) {missing}", self.file);
        let found = record.iter().map(decode_cell).collect::<Vec<_>>().join(", ");
        let found = excerpt(&found, MAX_HEADER_EXCERPT_LENGTH);
        Err(ReportError::with_quote(format!("{rule}; line {number} has '{found}'"), rule))
    }

    /// Parses the header row. Warns about unknown and missing columns.
    fn header(
        &self,
        line: &Line,
        positions: &[Vec<usize>],
        date_before: Option<Date>,
        notes: &mut Notes,
    ) -> Result<Header, ReportError> {
        for (column, positions) in self.columns().zip(positions) {
            let name = first_name(column);
            match positions[..] {
                [] => notes.findings_mut(self.name).missing_columns.count(format!("'{name}'")),
                [_] => (),
                [first, second, ..] => {
                    return Err(ReportError::new(format!(
                        "{}, line {}: the header has the column {name} twice, in cells {} and {}; \
                         remove the wrong one",
                        self.file,
                        line.number,
                        first + 1,
                        second + 1
                    )));
                }
            }
        }
        let cells: Vec<_> = line.record.iter().map(decode_cell).collect();
        let label = cells.last().and_then(|cell| around_date_label(cell));
        let cell_count = cells.len() - usize::from(label.is_some_and(|(name, _)| name.is_empty()));
        for (position, cell) in cells[..cell_count].iter().enumerate() {
            // The file's date may follow a column name.
            let name = around_date_label(cell).filter(|(_, date)| date.is_some());
            let name = name.map_or(cell.as_ref(), |(name, _)| name);
            let is_known = positions.iter().flatten().any(|&known| known == position)
                || self.unused.split(", ").any(|unused| is_same_name(unused, name));
            if !name.is_empty() && !is_known {
                let name = format!("'{}'", excerpt(name, MAX_EXCERPT_LENGTH));
                notes.findings_mut(self.name).unknown_columns.count(&name);
                notes.warn(format!("{}: a column is unknown and is ignored", self.file), name);
            }
        }
        Ok(Header {
            positions: positions.iter().map(|positions| positions.first().copied()).collect(),
            cells: cell_count,
            date: date_before.or(label.and_then(|(_, date)| date)),
        })
    }
}

fn positions(column: &'static str, line: &Line) -> Vec<usize> {
    let is_named = |cell: &[u8]| names(column).any(|name| is_same_name(name, &decode_cell(cell)));
    let cells = line.record.iter().enumerate().filter(|(_, cell)| is_named(cell));
    cells.map(|(position, _)| position).collect()
}

/// A row, with cells in the format's column order.
pub(crate) struct Row<'a> {
    format: &'a Format,
    line: u64,
    pub cells: Vec<Cow<'a, str>>,
}

impl Row<'_> {
    fn column_name(&self, column: usize) -> &'static str {
        self.format.columns().nth(column).map_or("", first_name)
    }

    fn error(&self, column: usize, rule: impl Display) -> ReportError {
        let (file, name) = (self.format.file, self.column_name(column));
        let place = format!("{file}, line {}, column {name}:", self.line);
        let value = excerpt(&self.cells[column], MAX_EXCERPT_LENGTH);
        let quoting = format!("{place} '{value}' {rule}");
        ReportError::with_quote(quoting, format!("{place} the cell {rule}"))
    }

    pub fn parse<T: FromStr<Err: Display>>(&self, column: usize) -> Result<T, ReportError> {
        self.parse_with(column, str::parse)
    }

    /// Parses a cell with `parse`, whose error states the rule.
    pub fn parse_with<T, E: Display>(
        &self,
        column: usize,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, ReportError> {
        parse(&self.cells[column]).map_err(|rule| self.error(column, rule))
    }

    /// Parses a cell as a `T`. Ignores any other value, with a warning unless the cell is empty.
    pub fn parse_if_known<T: FromStr>(&self, column: usize, notes: &mut Notes) -> Option<T> {
        let parsed = non_empty(&self.cells[column])?.parse().ok();
        if parsed.is_none() {
            self.warn(notes, column, "is unknown and is ignored");
        }
        parsed
    }

    /// The cell's text, unless it is a placeholder such as `-`.
    pub fn text(&self, column: usize) -> Option<String> {
        let text = self.cells[column].as_ref();
        text.contains(char::is_alphanumeric).then(|| text.to_owned())
    }

    /// Warns about an unknown value in a cell. `consequence` says how the value is treated.
    pub fn warn(&self, notes: &mut Notes, column: usize, consequence: &str) {
        let (name, example) = (self.column_name(column), self.example(column));
        let findings = notes.findings_mut(self.format.name);
        findings.unknown_values.entry(name).or_default().count(&example);
        notes.warn(format!("{}: {name} {consequence}", self.format.file), example);
    }

    /// Warns about an unknown value in a cell that only adds details. Such values never stop an import.
    pub fn warn_detail(&self, notes: &mut Notes, column: usize) {
        let (name, example) = (self.column_name(column), self.example(column));
        let findings = notes.findings_mut(self.format.name);
        findings.unknown_details.entry(name).or_default().count(&example);
        notes.warn(format!("{}: {name} is unknown", self.format.file), example);
    }

    fn example(&self, column: usize) -> String {
        format!("'{}' on line {}", excerpt(&self.cells[column], MAX_EXCERPT_LENGTH), self.line)
    }

    /// Counts the row as skipped because of a cell.
    pub fn skip(&self, notes: &mut Notes, column: usize, reason: &str) {
        self.warn(notes, column, &format!("{reason}; the row is skipped"));
        let name = self.column_name(column);
        notes.skip(self.format.name, format!("rows whose {name} {reason}"));
    }
}
