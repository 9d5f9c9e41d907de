//! Delimited text as rows with named columns.
//!
//! Columns are found by header name, since the reports have added, moved and renamed columns over the years. Text is
//! UTF-8, or else Windows-1252, where any bytes are valid.

mod cells;
mod header;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt::Display, io::Read, str::FromStr};

use csv::{ByteRecord, Reader, ReaderBuilder};
use jiff::civil::Date;
use logging::with_causes;

use self::cells::{RowContent, decode_cell, excerpt, invisible, row_content};
use self::header::Header;
use crate::{error::ReportError, outcome::Notes};

pub(crate) use cells::{date, non_empty};

/// A report's schema: its name in messages, and the columns to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportSchema<const N: usize> {
    pub file: &'static str,
    pub dialect: Dialect,
    pub columns: [Column; N],
    /// Maximum rows, more than the report can have.
    pub most_rows: u64,
}

/// A report: its schema, and how to parse its rows.
pub(crate) struct Report<const N: usize, T> {
    pub schema: ReportSchema<N>,
    /// Parses a row's value; `None` if the row is skipped.
    pub parse_row: fn(&Row<'_, N>, &mut Notes) -> Result<Option<T>, ReportError>,
    /// `true` if these values can be imported.
    pub is_usable: fn(&[T]) -> bool,
}

impl<const N: usize, T> Report<N, T> {
    /// Reads each row's value, and the file's date.
    pub fn read(&self, reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<T>, ReportError> {
        let mut values = Vec::new();
        let date = self.schema.for_each_row(reader, notes, |row, notes| {
            values.extend((self.parse_row)(row, notes)?);
            Ok(())
        })?;
        if !(self.is_usable)(&values) {
            let message = format!("{} holds no row that can be imported", self.schema.file);
            return Err(ReportError::new(message));
        }
        Ok((values, date))
    }
}

/// A report's rows and date.
pub(crate) type Dated<T> = (Vec<T>, Option<Date>);

/// The cell separator.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Dialect {
    /// Tabs. Cells are padded, with quotes inside the padding, where a CSV reader ignores them.
    Tabs,
    /// Commas.
    Commas,
}

/// A column, found by any of its names; only letters and digits are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    names: &'static [&'static str],
    needed: bool,
}

/// The earliest year for a report: NANPA and CNAC began publishing files in the nineties.
const FIRST_YEAR: i16 = 1990;

/// Maximum bytes in a wanted cell; the longest company name has about 100.
const MAX_CELL_LENGTH: usize = 256;

/// Maximum characters of a cell in a message.
const MAX_EXCERPT_LENGTH: usize = 40;

/// Maximum characters of a header in a message.
const MAX_HEADER_EXCERPT_LENGTH: usize = 120;

/// Maximum lines searched for the header; a date may come before it.
const HEADER_SEARCH_LINES: usize = 5;

impl Column {
    /// A required column: without it the report is refused.
    pub const fn needed(names: &'static [&'static str]) -> Self {
        Self { names, needed: true }
    }

    /// A column missing in some years' reports; its cells are then empty.
    pub const fn optional(names: &'static [&'static str]) -> Self {
        Self { names, needed: false }
    }

    fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    fn is_named(&self, header_cell: &str) -> bool {
        self.names.iter().any(|name| letters_and_digits(name).eq(letters_and_digits(header_cell)))
    }
}

fn letters_and_digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// A non-empty line in a report.
struct Line {
    record: ByteRecord,
    number: u64,
}

/// A report's lines with their numbers.
struct Lines<R> {
    file: &'static str,
    reader: Reader<R>,
    last_number: u64,
    /// Skipped empty lines.
    empty_lines: u64,
}

impl<R: Read> Lines<R> {
    fn new(file: &'static str, dialect: Dialect, reader: R) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        if let Dialect::Tabs = dialect {
            builder.delimiter(b'\t').quoting(false);
        }
        Self { file, reader: builder.from_reader(reader), last_number: 0, empty_lines: 0 }
    }

    /// The next non-empty line; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Line>, ReportError> {
        let file = self.file;
        let mut record = ByteRecord::new();
        let is_there = self.reader.read_byte_record(&mut record).map_err(|error| {
            let message = format!("{file} cannot be read as rows");
            ReportError::quoting(format!("{message}: {}", with_causes(&error)), message)
        })?;
        if !is_there {
            return Ok(None);
        }
        // The reader skips empty lines, and returns the number of the line after the record.
        let number = self.reader.position().line().saturating_sub(1);
        self.empty_lines += number.saturating_sub(self.last_number + 1);
        self.last_number = number;
        if record.iter().any(|cell| cell.contains(&b'\n')) {
            return Err(ReportError::new(format!(
                "{file}, line {number}: a quote is not closed in the rows before it, or a cell has a \
                 line break"
            )));
        }
        Ok(Some(Line { record, number }))
    }
}

/// One row: its cells in schema order.
pub(crate) struct Row<'a, const N: usize> {
    schema: &'a ReportSchema<N>,
    line: u64,
    pub cells: [Cow<'a, str>; N],
}

impl<const N: usize> ReportSchema<N> {
    /// Passes each row to `take_row`, and returns the file's date, if any.
    ///
    /// Rows without text are skipped and counted.
    fn for_each_row(
        &self,
        reader: &mut dyn Read,
        notes: &mut Notes,
        mut take_row: impl FnMut(&Row<'_, N>, &mut Notes) -> Result<(), ReportError>,
    ) -> Result<Option<Date>, ReportError> {
        let file = self.file;
        let mut lines = Lines::new(file, self.dialect, reader);
        let (header, date_before_rows) = self.read_header(&mut lines)?;
        let mut date = date_before_rows;
        let mut rows: u64 = 0;
        while let Some(line) = lines.next()? {
            match row_content(&line.record) {
                RowContent::Blank => notes.skip(format!("{file}: blank rows")),
                RowContent::LoneCell(cell) if self::date(&cell).is_some() => {
                    date = date.or(self::date(&cell));
                }
                RowContent::LoneCell(_) | RowContent::Cells => {
                    let row = header.row(self, &line)?;
                    row.refuse_unfit_cells()?;
                    take_row(&row, notes)?;
                    rows += 1;
                    if rows > self.most_rows {
                        return Err(ReportError::new(format!(
                            "{file} must have at most {} rows, and has more",
                            self.most_rows
                        )));
                    }
                }
            }
        }
        for _ in 0..lines.empty_lines {
            notes.skip(format!("{file}: blank rows"));
        }
        notes.count_rows(file, rows);
        match (rows, date) {
            (0, _) => Err(ReportError::new(format!("{file} holds no rows"))),
            (_, Some(date)) if date.year() < FIRST_YEAR => Err(ReportError::new(format!(
                "{file} is dated {date}; the date of a report must be in {FIRST_YEAR} or later"
            ))),
            _ => Ok(date),
        }
    }

    /// Reads up to the header, and returns the date stated there or before it.
    fn read_header<R: Read>(
        &self,
        lines: &mut Lines<R>,
    ) -> Result<(Header<N>, Option<Date>), ReportError> {
        let mut lines_before: Vec<Line> = Vec::new();
        while lines_before.len() < HEADER_SEARCH_LINES
            && let Some(line) = lines.next()?
        {
            if let Some(header) = Header::find(self, &line)? {
                let mut cells_before = lines_before.iter().flat_map(|line| &line.record);
                let date = cells_before.find_map(|cell| self::date(&decode_cell(cell)));
                let date_of_file = date.or(header.date);
                return Ok((header, date_of_file));
            }
            lines_before.push(line);
        }
        Err(self.without_header(&lines_before))
    }

    /// Names the needed columns missing from the likeliest of these lines.
    fn without_header(&self, lines: &[Line]) -> ReportError {
        let file = self.file;
        let missing = |Line { record, .. }: &Line| -> Vec<&str> {
            let is_there =
                |column: &Column| record.iter().any(|cell| column.is_named(&decode_cell(cell)));
            let missing = self.columns.iter().filter(|column| column.needed && !is_there(column));
            missing.map(Column::name).collect()
        };
        let Some(likeliest) = lines.iter().min_by_key(|line| missing(line).len()) else {
            return ReportError::new(format!(
                "{file} does not look like the expected report: it is empty"
            ));
        };
        let found = likeliest.record.iter().map(decode_cell).collect::<Vec<_>>().join(", ");
        let without_contents = format!(
            "{file} does not look like the expected report: no header row contains the column(s) {}",
            missing(likeliest).join(", ")
        );
        let found = excerpt(&found, MAX_HEADER_EXCERPT_LENGTH);
        let message = format!("{without_contents}; line {} has '{found}'", likeliest.number);
        ReportError::quoting(message, without_contents)
    }
}

impl<const N: usize> Row<'_, N> {
    /// Refuses cells that are too long or have invisible characters, which are meaningless in a name or code. Some
    /// would control a terminal; others hide text from people that programs and agents read.
    fn refuse_unfit_cells(&self) -> Result<(), ReportError> {
        for (place, cell) in self.cells.iter().enumerate() {
            if cell.len() > MAX_CELL_LENGTH {
                let rule = format!("must have at most {MAX_CELL_LENGTH} bytes");
                return Err(self.refusal(place, rule));
            }
            let found = cell.chars().find_map(|character| Some((character, invisible(character)?)));
            if let Some((character, kind)) = found {
                let rule = format!("has the {kind} character U+{:04X}", u32::from(character));
                return Err(self.refusal(place, rule));
            }
        }
        Ok(())
    }

    /// The error for a cell that breaks a rule.
    fn refusal(&self, column: usize, rule: String) -> ReportError {
        let name = self.schema.columns[column].name();
        let place = format!("{}, line {}, column {name}:", self.schema.file, self.line);
        let value = excerpt(&self.cells[column], MAX_EXCERPT_LENGTH);
        ReportError::quoting(
            format!("{place} '{value}' {rule}"),
            format!("{place} the cell {rule}"),
        )
    }

    /// Parses a cell that must be a `T`.
    pub fn parsed<T: FromStr<Err: Display>>(&self, column: usize) -> Result<T, ReportError> {
        let parsed = self.cells[column].parse::<T>();
        parsed.map_err(|rule| self.refusal(column, rule.to_string()))
    }

    /// Parses a cell that should be a `T`. Otherwise it is left out, with a warning unless it is empty.
    pub fn parsed_if_known<T: FromStr>(&self, column: usize, notes: &mut Notes) -> Option<T> {
        match non_empty(&self.cells[column])?.parse() {
            Ok(value) => Some(value),
            Err(_) => {
                self.warn(notes, column, "is not known and left out");
                None
            }
        }
    }

    /// Notes an unknown word in a cell; `consequence` says how it was read.
    pub fn warn(&self, notes: &mut Notes, column: usize, consequence: &str) {
        let name = self.schema.columns[column].name();
        let value = excerpt(&self.cells[column], MAX_EXCERPT_LENGTH);
        let example = format!("'{value}' in line {}", self.line);
        notes.warn_unknown_word(self.schema.file, name, consequence, example);
    }

    /// Notes that the row is skipped because of a cell.
    pub fn leave_out(&self, notes: &mut Notes, column: usize, reason: &str) {
        self.warn(notes, column, &format!("{reason}; the row is left out"));
        let name = self.schema.columns[column].name();
        notes.skip(format!("{}: rows whose {name} {reason}", self.schema.file));
    }
}
