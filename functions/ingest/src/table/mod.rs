//! Delimited text as rows of named columns.
//!
//! Columns are found by their header name, since the reports have gained, moved and renamed columns
//! over the years; a cell is trimmed, then unquoted. Text is UTF-8, or else Windows-1252, in which
//! any bytes are text.

mod cells;
mod header;

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
    /// Where no header has all the needed columns, a row has more or fewer cells than it, there is
    /// no row at all, or `each` refuses one.
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
                None => return Err(foreign(self.missing(&head))),
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
                    each(&header.row(self, &line)?, notes)?;
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
        match rows {
            0 => Err(IngestError::Empty { file }),
            _ => Ok(date),
        }
    }

    /// Makes of each row what `each` does, but for those it passes over, and gives the file's date.
    ///
    /// # Errors
    /// As [`Form::read`]; also where nothing is left.
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
            true => Err(IngestError::Empty { file: self.file }),
            false => Ok((all, date)),
        }
    }

    /// Says which columns the likeliest header lacks.
    fn missing(&self, head: &[Line]) -> String {
        let lacking = |Line { record, .. }: &Line| -> Vec<&str> {
            let is_there =
                |column: &Column| record.iter().any(|cell| column.is_named(&clean(cell)));
            let needed = self.columns.iter().filter(|column| column.needed && !is_there(column));
            needed.map(Column::name).collect()
        };
        let Some(likeliest) = head.iter().min_by_key(|line| lacking(line).len()) else {
            return "it is empty".to_owned();
        };
        let lacking = lacking(likeliest).join(", ");
        let has = likeliest.record.iter().map(clean).collect::<Vec<_>>().join(", ");
        format!(
            "no header names the columns {lacking}; line {} has '{}'",
            likeliest.line,
            shown(&has, 120)
        )
    }
}

/// A record with its line.
struct Line {
    record: ByteRecord,
    line: u64,
}

impl<const N: usize> Row<'_, N> {
    /// A cell that has to be a `T`.
    ///
    /// # Errors
    /// Says file, line, column, value and rule where it is not.
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORM: Form<3> = Form {
        file: "a report",
        layout: Layout::Commas,
        columns: [
            Column::needed(&["OCN"]),
            Column::needed(&["Company", "Company Name"]),
            Column::optional(&["RateCenter"]),
        ],
        most_rows: 4,
    };

    type Read3 = (Vec<[String; 3]>, Option<Date>, Notes);

    fn read_as(layout: Layout, text: &[u8]) -> Result<Read3, IngestError> {
        let (mut rows, mut notes) = (Vec::new(), Notes::default());
        let mut reader = text;
        let date = Form { layout, ..FORM }.read(&mut reader, &mut notes, |row, _| {
            rows.push(row.cells.clone().map(Cow::into_owned));
            Ok(())
        })?;
        Ok((rows, date, notes))
    }

    fn rows(text: &str) -> Vec<[String; 3]> {
        read_as(Layout::Commas, text.as_bytes()).unwrap().0
    }

    fn refusal(text: &str) -> String {
        read_as(Layout::Commas, text.as_bytes()).err().unwrap().to_string()
    }

    #[test]
    fn columns_are_found_by_name_wherever_they_stand() {
        let text = "File Date,01/05/2026\nRATE CENTER,company_name, ocn ,x\nR,\"A, B\",0051,\n";
        let (rows, date, _) = read_as(Layout::Commas, text.as_bytes()).unwrap();
        assert_eq!(rows, [["0051", "A, B", "R"]]);
        assert_eq!(date, Some(Date::constant(2026, 1, 5)));
    }

    #[test]
    fn a_column_that_may_be_missing_is_empty_then() {
        assert_eq!(rows("OCN,Company\n0051,A\n"), [["0051", "A", ""]]);
    }

    #[test]
    fn quotes_inside_padding_are_taken_off_and_others_kept() {
        let text = b"OCN \tCompany   \tx\n0051\t\"A \"B\" C\"   \t\n";
        let (rows, _, _) = read_as(Layout::Tabs, text).unwrap();
        assert_eq!(rows, [["0051", "A \"B\" C", ""]]);
    }

    #[test]
    fn the_files_date_is_no_column() {
        for (header, row) in [
            ("OCN\tCompany\tIn Service\tFile Updated 09/04/2026", "0051\tA\tYes"),
            ("OCN\tCompany\tIn Service   File Updated 09/04/2026", "0051\tA\tYes"),
        ] {
            let text = format!("{header}\n{row}\n");
            let (rows, date, _) = read_as(Layout::Tabs, text.as_bytes()).unwrap();
            assert_eq!((rows.len(), date), (1, Some(Date::constant(2026, 9, 4))), "{header}");
        }
    }

    #[test]
    fn a_row_with_only_a_date_is_the_files_and_blank_rows_are_counted() {
        let text = "x,Company,OCN\n,,2025-09-12\n, ,\n,A,1\n\n,,\n";
        let (rows, date, notes) = read_as(Layout::Commas, text.as_bytes()).unwrap();
        assert_eq!((rows.len(), date), (1, Some(Date::constant(2025, 9, 12))));
        assert_eq!(notes.skipped().get("a report: blank rows"), Some(&3));
    }

    #[test]
    fn text_is_utf8_or_windows_1252() {
        let expected = [["1", "Québec – Téléphone", ""]];
        let utf8 = "\u{feff}OCN,Company\n1,Québec – Téléphone\n";
        assert_eq!(rows(utf8), expected);
        let windows = b"OCN,Company\n1,Qu\xe9bec \x96 T\xe9l\xe9phone\n";
        assert_eq!(read_as(Layout::Commas, windows).unwrap().0, expected);
    }

    #[test]
    fn a_wrong_cell_is_named_by_its_place() {
        let mut reader = "OCN,Company\n\n1,A\n\n\nx,B\n".as_bytes();
        let number = |row: &Row<'_, 3>, _: &mut Notes| row.parsed::<u32>(0).map(drop);
        let error = FORM.read(&mut reader, &mut Notes::default(), number).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a report, line 6, column OCN: 'x' invalid digit found in string"
        );
    }

    #[test]
    fn foreign_ragged_and_empty_files_are_refused() {
        assert_eq!(
            refusal("OCN,Operator\n1,A\n"),
            "a report is not the report it was given as: \
             no header names the columns Company; line 1 has 'OCN, Operator'"
        );
        let ragged = "cells, its header 4; is the file cut off, or a cell not quoted?";
        assert_eq!(
            refusal("OCN,Company,a,b\n1,A,,\n2\n"),
            format!("a report, line 3: has 1 {ragged}")
        );
        assert_eq!(
            refusal("OCN,Company,a,b\n1,A,Inc.,,b\n"),
            format!("a report, line 2: has 5 {ragged}")
        );
        assert_eq!(
            refusal("OCN,Company,a\n1,A,Inc.,\n"),
            "a report, line 2: has 4 cells, its header 3; is the file cut off, or a cell not quoted?"
        );
        let long = format!("OCN,Company\n1,{}\n", "A".repeat(300));
        assert!(refusal(&long).contains("column Company: 'AAAA"), "{}", refusal(&long));
        assert_eq!(
            refusal("OCN,Company\n1,A\n2,A\n3,A\n4,A\n5,A\n"),
            "a report has more than 4 rows"
        );
        assert_eq!(refusal("OCN,Company\n"), "a report holds no rows");
        assert!(refusal("").contains("it is empty"));
    }

    #[test]
    fn a_column_that_the_header_names_twice_is_refused_by_name() {
        assert_eq!(
            refusal("OCN,Company,ocn \n1,A,2\n"),
            "a report, line 1: the header names the column OCN twice, in cells 1 and 3; \
             take out the one that is not meant"
        );
        assert!(refusal("OCN,Company,Company Name\n1,A,B\n").contains("the column Company twice"));
        assert_eq!(rows("OCN,Company,Notes,Notes\n1,A,,\n"), [["1", "A", ""]]);
    }

    #[test]
    fn a_quote_that_is_not_closed_is_refused_and_swallows_no_row() {
        for text in ["OCN,Company\n1,\"A\n2,B\n3,C\n", "OCN,Company,x\n1,A,\"\n2,B,\n"] {
            let open = "a quote is not closed in the rows before it, or a cell has a line break";
            assert!(refusal(text).ends_with(open), "{}", refusal(text));
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        assert!(!refusal("OCN,\u{1b}[31mName\n1,A\n").contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_without_panic(
            bytes in any::<Vec<u8>>(), rows in "(OCN,Company\n)?[a-zé,\"\n]*"
        ) {
            for layout in [Layout::Tabs, Layout::Commas] {
                let _ = read_as(layout, &bytes);
                let _ = read_as(layout, rows.as_bytes());
            }
        }
    }
}
