//! Delimited text as rows with named columns.
//!
//! Columns are found by their header names, since reports have added, moved and renamed columns over the years.

mod cells;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt::Display, io::Read, str::FromStr};

use csv::{ByteRecord, Reader, ReaderBuilder};
use jiff::civil::Date;
use logging::with_causes;

use self::cells::{decode_cell, excerpt, invisible_kind};
use crate::{error::ReportError, outcome::Notes};

pub(crate) use cells::{date, non_empty};

pub(crate) struct Report<const N: usize, T> {
    pub file: &'static str,
    /// The cell separator. With tabs, cells are padded, and quotes are inside the padding, where a CSV reader would not
    /// remove them.
    pub delimiter: u8,
    pub columns: [Column; N],
    /// The other columns in published reports.
    pub unused: &'static [&'static str],
    /// Maximum rows; real reports have fewer.
    pub max_rows: u64,
    /// Parses a row; `None` if it is skipped.
    pub parse_row: fn(&Row<'_, N>, &mut Notes) -> Result<Option<T>, ReportError>,
    pub is_usable: fn(&[T]) -> bool,
}

pub(crate) type Dated<T> = (Vec<T>, Option<Date>);

/// A column, found by any of its names. Only letters and digits are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    names: &'static [&'static str],
    is_required: bool,
}

/// The earliest valid year in a report's date: NANPA and CNAC began publishing files in the nineties.
const FIRST_YEAR: i16 = 1990;

/// Maximum bytes in a cell of a known column; the longest company name is about 100.
const MAX_CELL_LENGTH: usize = 256;

const MAX_EXCERPT_LENGTH: usize = 40;

const MAX_HEADER_EXCERPT_LENGTH: usize = 120;

/// Maximum lines searched for the header row; a date may come before it.
const HEADER_SEARCH_LINES: usize = 5;

/// The text before the file's date, which is in a header cell of its own or, since 2020, in the `In Service` cell.
const FILE_UPDATED: &str = "File Updated";

impl Column {
    pub const fn required(names: &'static [&'static str]) -> Self {
        Self { names, is_required: true }
    }

    /// A column that is missing in some years. Its cells are then empty.
    pub const fn optional(names: &'static [&'static str]) -> Self {
        Self { names, is_required: false }
    }

    fn name(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns the positions of the header cells with one of its names.
    fn positions(&self, header: &ByteRecord) -> Vec<usize> {
        let is_named = |cell: &[u8]| is_one_of(&decode_cell(cell), self.names);
        (0..).zip(header).filter(|(_, cell)| is_named(cell)).map(|(position, _)| position).collect()
    }
}

/// Returns `true` for one of the names of a column.
fn is_one_of(cell: &str, names: &[&str]) -> bool {
    names.iter().any(|name| letters_and_digits(name).eq(letters_and_digits(cell)))
}

fn letters_and_digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

struct Header<const N: usize> {
    /// Each known column's position; `None` if missing.
    positions: [Option<usize>; N],
    cells: usize,
    /// The file's date, if it is in the header row or before it.
    date: Option<Date>,
}

struct Line {
    record: ByteRecord,
    number: u64,
}

struct Lines<R> {
    file: &'static str,
    reader: Reader<R>,
    last_number: u64,
    empty_lines: u64,
}

impl<R: Read> Lines<R> {
    fn new(file: &'static str, delimiter: u8, reader: R) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        builder.delimiter(delimiter).quoting(delimiter != b'\t');
        Self { file, reader: builder.from_reader(reader), last_number: 0, empty_lines: 0 }
    }

    /// Returns the next non-empty line; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Line>, ReportError> {
        let file = self.file;
        let mut record = ByteRecord::new();
        let is_read = self.reader.read_byte_record(&mut record).map_err(|error| {
            let message = format!("{file} cannot be split into rows");
            ReportError::with_quote(format!("{message}: {}", with_causes(&error)), message)
        })?;
        if !is_read {
            return Ok(None);
        }
        // The reader skips empty lines, and its position is the line after the record.
        let number = self.reader.position().line().saturating_sub(1);
        self.empty_lines += number.saturating_sub(self.last_number + 1);
        self.last_number = number;
        if record.iter().any(|cell| cell.contains(&b'\n')) {
            return Err(ReportError::new(format!(
                "{file}, line {number}: an earlier row has an unclosed quote, or a cell contains a line \
                 break"
            )));
        }
        Ok(Some(Line { record, number }))
    }
}

impl<const N: usize, T> Report<N, T> {
    /// Reads the rows and the file's date. Blank rows are skipped and counted.
    pub fn read(&self, reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<T>, ReportError> {
        let file = self.file;
        let mut lines = Lines::new(file, self.delimiter, reader);
        let header = self.read_header(&mut lines, notes)?;
        let mut date = header.date;
        let mut values = Vec::new();
        let mut rows: u64 = 0;
        while let Some(line) = lines.next()? {
            let cells = (0..).zip(line.record.iter().map(decode_cell));
            let filled: Vec<(usize, _)> =
                cells.filter(|(_, cell)| !cell.is_empty()).take(2).collect();
            // A row with only its first cell is truncated, even if that is a date.
            match &filled[..] {
                [] => notes.skip(file, "blank rows"),
                [(1.., cell)] if self::date(cell).is_some() => date = date.or(self::date(cell)),
                _ => {
                    let row = self.row(&header, &line)?;
                    values.extend((self.parse_row)(&row, notes)?);
                    rows += 1;
                }
            }
            if rows > self.max_rows {
                let message = format!("{file} must have at most {} rows", self.max_rows);
                return Err(ReportError::new(message));
            }
        }
        for _ in 0..lines.empty_lines {
            notes.skip(file, "blank rows");
        }
        notes.count_rows(file, rows);
        let reject = |reason: String| Err(ReportError::new(format!("{file} {reason}")));
        match date {
            _ if rows == 0 => reject("has no rows".to_owned()),
            Some(date) if date.year() < FIRST_YEAR => {
                reject(format!("is dated {date}; a report's date must be in {FIRST_YEAR} or later"))
            }
            _ if !(self.is_usable)(&values) => reject("has no usable rows".to_owned()),
            _ => Ok((values, date)),
        }
    }

    /// Splits a line below the header into a row's cells.
    fn row<'a>(&'a self, header: &Header<N>, line: &'a Line) -> Result<Row<'a, N>, ReportError> {
        let (file, Line { record, number }) = (self.file, line);
        let (found, expected) = (record.len(), header.cells);
        if found != expected {
            return Err(ReportError::new(format!(
                "{file}, line {number}: the row must have {expected} cells, like the header, got {found}; \
                 check whether the file is truncated or a cell is not quoted"
            )));
        }
        let cell = |position: Option<usize>| record.get(position?).map(decode_cell);
        let cells = header.positions.map(|position| cell(position).unwrap_or_default());
        let row = Row { file, columns: &self.columns, line: *number, cells };
        row.validate_cells()?;
        Ok(row)
    }

    /// Reads up to the header row: the first line with all required columns.
    fn read_header<R: Read>(
        &self,
        lines: &mut Lines<R>,
        notes: &mut Notes,
    ) -> Result<Header<N>, ReportError> {
        let mut date = None;
        let mut candidates: Vec<(Vec<&str>, Line)> = Vec::new();
        while candidates.len() < HEADER_SEARCH_LINES
            && let Some(line) = lines.next()?
        {
            let positions = self.columns.map(|column| column.positions(&line.record));
            let missing = self.columns.iter().zip(&positions);
            let missing =
                missing.filter(|(column, positions)| column.is_required && positions.is_empty());
            let missing: Vec<&str> = missing.map(|(column, _)| column.name()).collect();
            if missing.is_empty() {
                let header = self.header(&line, positions, date)?;
                self.note_columns(&line, &header, notes);
                return Ok(header);
            }
            date =
                date.or_else(|| line.record.iter().find_map(|cell| self::date(&decode_cell(cell))));
            candidates.push((missing, line));
        }
        let file = self.file;
        let unexpected = format!("{file} does not look like the expected report");
        let best_match = candidates.iter().min_by_key(|(missing, _)| missing.len());
        let Some((missing, Line { record, number })) = best_match else {
            return Err(ReportError::new(format!("{unexpected}: it is empty")));
        };
        let missing = missing.join(", ");
        let without_contents = format!("{unexpected}: no header row has the column(s) {missing}");
        let found = record.iter().map(decode_cell).collect::<Vec<_>>().join(", ");
        let found = excerpt(&found, MAX_HEADER_EXCERPT_LENGTH);
        let message = format!("{without_contents}; line {number} has '{found}'");
        Err(ReportError::with_quote(message, without_contents))
    }

    /// Notes columns that are unknown or missing.
    fn note_columns(&self, line: &Line, header: &Header<N>, notes: &mut Notes) {
        for (column, position) in self.columns.iter().zip(header.positions) {
            if position.is_none() {
                notes.note_missing_column(self.file, column.name());
            }
        }
        let cells = (0..).zip(&line.record).take(header.cells);
        for (_, cell) in cells.filter(|(position, _)| !header.positions.contains(&Some(*position)))
        {
            let cell = decode_cell(cell);
            // The file's date, in a cell of its own or after a column's name.
            let name = match cell.split_once(FILE_UPDATED) {
                Some((name, date)) if self::date(date.trim()).is_some() => name,
                _ => &cell,
            };
            let name = name.trim();
            if !name.is_empty() && !is_one_of(name, self.unused) {
                notes.warn_unknown_column(self.file, excerpt(name, MAX_EXCERPT_LENGTH));
            }
        }
    }

    fn header(
        &self,
        Line { record, number }: &Line,
        positions: [Vec<usize>; N],
        date_before: Option<Date>,
    ) -> Result<Header<N>, ReportError> {
        for (column, positions) in self.columns.iter().zip(&positions) {
            if let [first, second, ..] = positions[..] {
                return Err(ReportError::new(format!(
                    "{}, line {number}: the header has the column {} twice, in cells {} and {}; \
                     remove the wrong one",
                    self.file,
                    column.name(),
                    first + 1,
                    second + 1
                )));
            }
        }
        let last_cell = record.iter().next_back().map(decode_cell).unwrap_or_default();
        let around_label = last_cell.split_once(FILE_UPDATED);
        let is_only_date = around_label.is_some_and(|(before, _)| before.trim().is_empty());
        Ok(Header {
            positions: positions.map(|positions| positions.first().copied()),
            cells: record.len() - usize::from(is_only_date),
            date: date_before.or_else(|| date(around_label?.1.trim())),
        })
    }
}

/// A row, with its cells in the order of the report's columns.
pub(crate) struct Row<'a, const N: usize> {
    file: &'static str,
    columns: &'a [Column; N],
    line: u64,
    pub cells: [Cow<'a, str>; N],
}

impl<const N: usize> Row<'_, N> {
    /// Rejects cells that are too long or contain invisible characters, which can control terminals or hide text.
    fn validate_cells(&self) -> Result<(), ReportError> {
        for (column, cell) in self.cells.iter().enumerate() {
            if cell.len() > MAX_CELL_LENGTH {
                let rule = format!("must have at most {MAX_CELL_LENGTH} bytes");
                return Err(self.error(column, rule));
            }
            let mut invisible = cell.chars().filter_map(|c| Some((c, invisible_kind(c)?)));
            if let Some((character, kind)) = invisible.next() {
                let rule = format!("contains the {kind} character U+{:04X}", u32::from(character));
                return Err(self.error(column, rule));
            }
        }
        Ok(())
    }

    fn error(&self, column: usize, rule: String) -> ReportError {
        let name = self.columns[column].name();
        let place = format!("{}, line {}, column {name}:", self.file, self.line);
        let value = excerpt(&self.cells[column], MAX_EXCERPT_LENGTH);
        ReportError::with_quote(
            format!("{place} '{value}' {rule}"),
            format!("{place} the cell {rule}"),
        )
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
        parse(&self.cells[column]).map_err(|rule| self.error(column, rule.to_string()))
    }

    /// Parses a cell that should be a `T`. Ignores any other value, with a warning unless the cell is empty.
    pub fn parse_if_known<T: FromStr>(&self, column: usize, notes: &mut Notes) -> Option<T> {
        let parsed = non_empty(&self.cells[column])?.parse().ok();
        if parsed.is_none() {
            self.warn(notes, column, "is unknown and is ignored");
        }
        parsed
    }

    pub fn text(&self, column: usize) -> Option<String> {
        let text = self.cells[column].as_ref();
        text.contains(char::is_alphanumeric).then(|| text.to_owned())
    }

    /// Notes an unknown value in a cell. `consequence` says how it is treated.
    pub fn warn(&self, notes: &mut Notes, column: usize, consequence: &str) {
        let name = self.columns[column].name();
        notes.warn_unknown_value(self.file, name, consequence, self.example(column));
    }

    /// Notes an unknown value in a cell that only adds details. However many there are, the import may go on.
    pub fn warn_detail(&self, notes: &mut Notes, column: usize) {
        notes.warn_unknown_detail(self.file, self.columns[column].name(), self.example(column));
    }

    fn example(&self, column: usize) -> String {
        format!("'{}' on line {}", excerpt(&self.cells[column], MAX_EXCERPT_LENGTH), self.line)
    }

    pub fn skip(&self, notes: &mut Notes, column: usize, reason: &str) {
        self.warn(notes, column, &format!("{reason}; the row is skipped"));
        let name = self.columns[column].name();
        notes.skip(self.file, format!("rows whose {name} {reason}"));
    }
}
