//! Delimited text as rows of named columns.
//!
//! Columns are found by their header name, since the reports have gained, moved and renamed columns
//! over the years; a cell is trimmed, then unquoted. Text is UTF-8, or else Windows-1252, in which
//! any bytes are text.

mod cells;
mod header;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, io::Read, str::FromStr};

use csv::{ByteRecord, ReaderBuilder};
use jiff::civil::Date;

use self::cells::{Lone, clean, lone_cell, shown};
use self::header::Header;
use crate::{IngestError, report::Notes};

pub(crate) use cells::{date, filled};

/// How cells are set apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// Tab-delimited and padded, with quotes inside the padding, so that they mean nothing to a
    /// CSV reader.
    Tabs,
    Commas,
}

/// A report's form: what to call it, and the columns that are wanted of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form<const N: usize> {
    pub file: &'static str,
    pub layout: Layout,
    pub columns: [Column; N],
    /// More rows than the report can have.
    pub most_rows: u64,
}

/// The first year a report can be of: NANPA and CNAC began to publish files in the nineties.
const FIRST_YEAR: i16 = 1990;

/// Most bytes a wanted cell may have; the longest company name has some 100.
const LONGEST_CELL: usize = 256;

/// A column by its names, compared by their letters and digits alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    names: &'static [&'static str],
    needed: bool,
}

impl Column {
    /// A column without which the report is refused.
    pub const fn needed(names: &'static [&'static str]) -> Self {
        Self { names, needed: true }
    }

    /// A column that some years of the report lack; its cells are empty then.
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

/// A header stands within the first lines; a date may come before it.
const HEADER_WITHIN: usize = 5;

/// One row: its cells in the order of the form's columns.
pub(crate) struct Row<'a, const N: usize> {
    form: &'a Form<N>,
    line: u64,
    pub cells: [Cow<'a, str>; N],
}

impl<const N: usize> Form<N> {
    /// Hands each row to `each`, and gives the date the file states for itself, if it does.
    ///
    /// A row without any text is skipped and counted.
    ///
    /// # Errors
    /// Returns an error if no header has all the needed columns, a row has more or fewer cells than
    /// it or a control character, there is no row at all, the date cannot be right, or `each`
    /// refuses a row.
    pub fn read(
        &self,
        reader: &mut dyn Read,
        notes: &mut Notes,
        mut each: impl FnMut(&Row<'_, N>, &mut Notes) -> Result<(), IngestError>,
    ) -> Result<Option<Date>, IngestError> {
        let file = self.file;
        let foreign = |detail: String| IngestError::Foreign { file, detail };
        let mut builder = ReaderBuilder::new();
        builder.has_headers(false).flexible(true);
        if let Layout::Tabs = self.layout {
            builder.delimiter(b'\t').quoting(false);
        }
        let mut records = builder.from_reader(reader);
        let (mut last_line, mut blank_lines) = (0, 0);
        let mut next = || {
            let mut record = ByteRecord::new();
            let is_there = records.read_byte_record(&mut record);
            if !is_there.map_err(|error| foreign(error.to_string()))? {
                return Ok(None);
            }
            // the reader passes over empty lines, and counts from where it began to
            let line = records.position().line().saturating_sub(1);
            blank_lines += line.saturating_sub(last_line + 1);
            last_line = line;
            match record.iter().any(|cell| cell.contains(&b'\n')) {
                true => Err(IngestError::OpenQuote { file, line }),
                false => Ok(Some(Line { record, line })),
            }
        };

        let mut head: Vec<Line> = Vec::new();
        let header = loop {
            match next()?.filter(|_| head.len() < HEADER_WITHIN) {
                None => return Err(self.without_header(&head)),
                Some(line) => match Header::of(self, &line)? {
                    Some(header) => break header,
                    None => head.push(line),
                },
            }
        };
        let mut date =
            head.iter().flat_map(|line| &line.record).find_map(|cell| self::date(&clean(cell)));
        date = date.or(header.date);
        let mut rows: u64 = 0;
        while let Some(line) = next()? {
            match lone_cell(&line.record) {
                Lone::Blank => notes.skip(format!("{file}: blank rows")),
                Lone::Cell(cell) if self::date(&cell).is_some() => {
                    date = date.or(self::date(&cell))
                }
                Lone::Cell(_) | Lone::No => {
                    let row = header.row(self, &line)?;
                    row.refuse_control_characters()?;
                    each(&row, notes)?;
                    rows += 1;
                    if rows > self.most_rows {
                        return Err(IngestError::TooLong { file, most: self.most_rows });
                    }
                }
            }
        }
        for _ in 0..blank_lines {
            notes.skip(format!("{file}: blank rows"));
        }
        notes.count_rows(file, rows);
        match (rows, date) {
            (0, _) => Err(IngestError::Empty { file }),
            (_, Some(date)) if date.year() < FIRST_YEAR => {
                Err(IngestError::ImplausibleDate { file, date })
            }
            _ => Ok(date),
        }
    }

    /// Makes of each row what `each` does, but for those it passes over, and gives the file's date.
    ///
    /// # Errors
    /// Returns an error if [`Form::read`] does, or if nothing is left.
    pub fn collect<T>(
        &self,
        reader: &mut dyn Read,
        notes: &mut Notes,
        each: impl Fn(&Row<'_, N>, &mut Notes) -> Result<Option<T>, IngestError>,
    ) -> Result<(Vec<T>, Option<Date>), IngestError> {
        let mut all = Vec::new();
        let date = self.read(reader, notes, |row, notes| {
            all.extend(each(row, notes)?);
            Ok(())
        })?;
        match all.is_empty() {
            true => Err(IngestError::Unusable { file: self.file }),
            false => Ok((all, date)),
        }
    }

    /// Says which columns the likeliest header lacks.
    fn without_header(&self, head: &[Line]) -> IngestError {
        let file = self.file;
        let lacking = |Line { record, .. }: &Line| -> Vec<&str> {
            let is_there =
                |column: &Column| record.iter().any(|cell| column.is_named(&clean(cell)));
            let needed = self.columns.iter().filter(|column| column.needed && !is_there(column));
            needed.map(Column::name).collect()
        };
        let Some(likeliest) = head.iter().min_by_key(|line| lacking(line).len()) else {
            return IngestError::Foreign { file, detail: "it is empty".to_owned() };
        };
        let has = likeliest.record.iter().map(clean).collect::<Vec<_>>().join(", ");
        IngestError::NoHeader {
            file,
            lacking: lacking(likeliest).join(", "),
            line: likeliest.line,
            found: shown(&has, 120),
        }
    }
}

/// Whether a terminal would obey the character or a page turn what follows around.
fn is_control(character: char) -> bool {
    let turns_text_around = matches!(
        character,
        '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || turns_text_around
}

/// A record with its line.
struct Line {
    record: ByteRecord,
    line: u64,
}

impl<const N: usize> Row<'_, N> {
    /// Control characters mean nothing in a name or code, and a terminal would obey them.
    fn refuse_control_characters(&self) -> Result<(), IngestError> {
        for (column, cell) in self.form.columns.iter().zip(&self.cells) {
            if let Some(character) = cell.chars().find(|&character| is_control(character)) {
                return Err(IngestError::Cell {
                    file: self.form.file,
                    line: self.line,
                    column: column.name(),
                    value: shown(cell, 40),
                    rule: format!("has the control character U+{:04X}", u32::from(character)),
                });
            }
        }
        Ok(())
    }

    /// A cell that has to be a `T`.
    ///
    /// # Errors
    /// Returns an error if it is not, with file, line, column, value and rule.
    pub fn parsed<T: FromStr<Err: std::fmt::Display>>(
        &self,
        column: usize,
    ) -> Result<T, IngestError> {
        let value = &self.cells[column];
        value.parse().map_err(|rule: T::Err| IngestError::Cell {
            file: self.form.file,
            line: self.line,
            column: self.form.columns[column].name(),
            value: shown(value, 40),
            rule: rule.to_string(),
        })
    }

    /// A cell that should be a `T` and is left out with a warning where it is not; an empty one is
    /// left out without.
    pub fn known<T: FromStr>(&self, column: usize, notes: &mut Notes) -> Option<T> {
        let value = filled(&self.cells[column])?;
        let known = value.parse().ok();
        if known.is_none() {
            self.warn(notes, column, "is not known and left out");
        }
        known
    }

    /// Notes that the word in a cell is not known, and how it was read.
    pub fn warn(&self, notes: &mut Notes, column: usize, what: &str) {
        let (name, value) = (self.form.columns[column].name(), shown(&self.cells[column], 40));
        let example = format!("'{value}' in line {}", self.line);
        notes.warn_unknown(self.form.file, name, what, example);
    }

    /// Notes that the row is left out for the value of a cell.
    pub fn leave_out(&self, notes: &mut Notes, column: usize, why: &str) {
        self.warn(notes, column, &format!("{why}; the row is left out"));
        let name = self.form.columns[column].name();
        notes.skip(format!("{}: rows whose {name} {why}", self.form.file));
    }
}
