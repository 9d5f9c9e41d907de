//! Delimited text as rows with named columns.
//!
//! Columns are found by header name, since the reports have added, moved and renamed columns over the years. Text is
//! UTF-8, or else Windows-1252, where any bytes are valid.

mod cells;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, fmt::Display, io::Read, str::FromStr};

use csv::{ByteRecord, Reader, ReaderBuilder};
use jiff::civil::Date;
use logging::with_causes;

use self::cells::{decode_cell, excerpt, invisible};
use crate::{error::ReportError, outcome::Notes};

pub(crate) use cells::{date, non_empty};

/// A report: the columns to read, and how to parse its rows.
pub(crate) struct Report<const N: usize, T> {
    /// Its name in messages.
    pub file: &'static str,
    /// The cell separator: a comma, or a tab with padded cells and quotes inside the padding, where a CSV reader
    /// ignores them.
    pub delimiter: u8,
    pub columns: [Column; N],
    /// Maximum rows, more than the report can have.
    pub most_rows: u64,
    /// Parses a row's value; `None` if the row is skipped.
    pub parse_row: fn(&Row<'_, N>, &mut Notes) -> Result<Option<T>, ReportError>,
    /// `true` if these values can be imported.
    pub is_usable: fn(&[T]) -> bool,
}

/// A report's rows and date.
pub(crate) type Dated<T> = (Vec<T>, Option<Date>);

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

/// Prefix of the header cell with the file's date. That cell has no column below it. Since 2020 the date is appended to
/// the `In Service` cell instead.
const FILE_UPDATED: &str = "File Updated";

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

    /// The positions of the header cells with one of its names.
    fn places(&self, header: &ByteRecord) -> Vec<usize> {
        let is_named = |cell: &[u8]| {
            let cell = decode_cell(cell);
            self.names.iter().any(|name| letters_and_digits(name).eq(letters_and_digits(&cell)))
        };
        (0..).zip(header).filter(|(_, cell)| is_named(cell)).map(|(place, _)| place).collect()
    }
}

fn letters_and_digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// The positions of the wanted columns.
struct Header<const N: usize> {
    /// Each column's position in a row; `None` if missing.
    places: [Option<usize>; N],
    /// The number of cells in a row.
    cells: usize,
    /// The date of the file, if stated in the header or before it.
    date: Option<Date>,
}

/// A non-empty line in a report.
struct Line {
    record: ByteRecord,
    number: u64,
}

/// The content of a line below the header.
enum Content {
    /// No cells.
    Blank,
    /// Only the file's date.
    Date(Date),
    Cells,
}

fn content(record: &ByteRecord) -> Content {
    let cells = (0..).zip(record).map(|(place, cell)| (place, decode_cell(cell)));
    let mut filled = cells.filter(|(_, cell)| !cell.is_empty());
    match (filled.next(), filled.next()) {
        (None, _) => Content::Blank,
        // A row with text only in its first cell is cut off.
        (Some((1.., cell)), None) => date(&cell).map_or(Content::Cells, Content::Date),
        _ => Content::Cells,
    }
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
    fn new(file: &'static str, delimiter: u8, reader: R) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        builder.delimiter(delimiter).quoting(delimiter != b'\t');
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

impl<const N: usize, T> Report<N, T> {
    /// Reads each row's value, and the file's date. Rows without text are skipped and counted.
    pub fn read(&self, reader: &mut dyn Read, notes: &mut Notes) -> Result<Dated<T>, ReportError> {
        let file = self.file;
        let mut lines = Lines::new(file, self.delimiter, reader);
        let header = self.read_header(&mut lines)?;
        let mut date = header.date;
        let mut values = Vec::new();
        let mut rows: u64 = 0;
        while let Some(line) = lines.next()? {
            match content(&line.record) {
                Content::Blank => notes.skip(format!("{file}: blank rows")),
                Content::Date(stated) => date = date.or(Some(stated)),
                Content::Cells => {
                    let row = self.row(&header, &line)?;
                    values.extend((self.parse_row)(&row, notes)?);
                    rows += 1;
                }
            }
            if rows > self.most_rows {
                let most = self.most_rows;
                let message = format!("{file} must have at most {most} rows, and has more");
                return Err(ReportError::new(message));
            }
        }
        for _ in 0..lines.empty_lines {
            notes.skip(format!("{file}: blank rows"));
        }
        notes.count_rows(file, rows);
        let refused = |reason: String| Err(ReportError::new(format!("{file} {reason}")));
        match date {
            _ if rows == 0 => refused("holds no rows".to_owned()),
            Some(date) if date.year() < FIRST_YEAR => refused(format!(
                "is dated {date}; the date of a report must be in {FIRST_YEAR} or later"
            )),
            _ if !(self.is_usable)(&values) => {
                refused("holds no row that can be imported".to_owned())
            }
            _ => Ok((values, date)),
        }
    }

    /// Parses a line below the header as a row.
    fn row<'a>(&'a self, header: &Header<N>, line: &'a Line) -> Result<Row<'a, N>, ReportError> {
        let (file, Line { record, number }) = (self.file, line);
        let (found, expected) = (record.len(), header.cells);
        if found != expected {
            return Err(ReportError::new(format!(
                "{file}, line {number}: the row has {found} cells and must have {expected}, as the \
                 header; check whether the file is cut off or a cell is not quoted"
            )));
        }
        let cell = |place: Option<usize>| record.get(place?).map(decode_cell);
        let cells = header.places.map(|place| cell(place).unwrap_or_default());
        let row = Row { file, columns: &self.columns, line: *number, cells };
        row.refuse_unfit_cells()?;
        Ok(row)
    }

    /// Reads up to the header: the first line with all needed columns.
    fn read_header<R: Read>(&self, lines: &mut Lines<R>) -> Result<Header<N>, ReportError> {
        let mut date = None;
        let mut candidates: Vec<(Vec<&str>, Line)> = Vec::new();
        while candidates.len() < HEADER_SEARCH_LINES
            && let Some(line) = lines.next()?
        {
            let places = self.columns.map(|column| column.places(&line.record));
            let missing = self.columns.iter().zip(&places);
            let missing = missing.filter(|(column, places)| column.needed && places.is_empty());
            let missing: Vec<&str> = missing.map(|(column, _)| column.name()).collect();
            if missing.is_empty() {
                return self.header(&line, places, date);
            }
            date =
                date.or_else(|| line.record.iter().find_map(|cell| self::date(&decode_cell(cell))));
            candidates.push((missing, line));
        }
        let file = self.file;
        let unexpected = format!("{file} does not look like the expected report");
        let likeliest = candidates.iter().min_by_key(|(missing, _)| missing.len());
        let Some((missing, Line { record, number })) = likeliest else {
            return Err(ReportError::new(format!("{unexpected}: it is empty")));
        };
        let missing = missing.join(", ");
        let without_contents =
            format!("{unexpected}: no header row contains the column(s) {missing}");
        let found = record.iter().map(decode_cell).collect::<Vec<_>>().join(", ");
        let found = excerpt(&found, MAX_HEADER_EXCERPT_LENGTH);
        let message = format!("{without_contents}; line {number} has '{found}'");
        Err(ReportError::quoting(message, without_contents))
    }

    /// The header with the columns at `places`, each of which may occur once.
    fn header(
        &self,
        Line { record, number }: &Line,
        places: [Vec<usize>; N],
        date_before: Option<Date>,
    ) -> Result<Header<N>, ReportError> {
        for (column, places) in self.columns.iter().zip(&places) {
            if let [first, second, ..] = places[..] {
                let (file, column, first, second) =
                    (self.file, column.name(), first + 1, second + 1);
                return Err(ReportError::new(format!(
                    "{file}, line {number}: the header names the column {column} twice, in cells \
                     {first} and {second}; remove the column that is wrong"
                )));
            }
        }
        let last_cell = record.iter().next_back().map(decode_cell).unwrap_or_default();
        let around_label = last_cell.split_once(FILE_UPDATED);
        let is_only_date = around_label.is_some_and(|(before, _)| before.trim().is_empty());
        Ok(Header {
            places: places.map(|places| places.first().copied()),
            cells: record.len() - usize::from(is_only_date),
            date: date_before.or_else(|| date(around_label?.1.trim())),
        })
    }
}

/// One row: its cells in the order of the report's columns.
pub(crate) struct Row<'a, const N: usize> {
    file: &'static str,
    columns: &'a [Column; N],
    line: u64,
    pub cells: [Cow<'a, str>; N],
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
        let name = self.columns[column].name();
        let place = format!("{}, line {}, column {name}:", self.file, self.line);
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
        let parsed = non_empty(&self.cells[column])?.parse().ok();
        if parsed.is_none() {
            self.warn(notes, column, "is not known and left out");
        }
        parsed
    }

    /// A cell's text, if any.
    pub fn text(&self, column: usize) -> Option<String> {
        non_empty(&self.cells[column]).map(str::to_owned)
    }

    /// Notes an unknown word in a cell; `consequence` says how it was read.
    pub fn warn(&self, notes: &mut Notes, column: usize, consequence: &str) {
        let name = self.columns[column].name();
        let value = excerpt(&self.cells[column], MAX_EXCERPT_LENGTH);
        let example = format!("'{value}' in line {}", self.line);
        notes.warn_unknown_word(self.file, name, consequence, example);
    }

    /// Notes that the row is skipped because of a cell.
    pub fn leave_out(&self, notes: &mut Notes, column: usize, reason: &str) {
        self.warn(notes, column, &format!("{reason}; the row is left out"));
        let name = self.columns[column].name();
        notes.skip(format!("{}: rows whose {name} {reason}", self.file));
    }
}
