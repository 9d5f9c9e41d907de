//! Delimited text as rows of named columns.
//!
//! Columns are found by their trimmed header name, since the reports have gained and moved
//! columns over the years; a cell is trimmed, then unquoted.

use std::str::FromStr;

use csv::{ReaderBuilder, StringRecord};

use crate::IngestError;

/// How cells are set apart.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Layout {
    /// Tab-delimited and padded, with quotes inside the padding, so that they mean nothing to a
    /// CSV reader.
    Tabs,
    Commas,
}

/// A header stands within the first lines; a date may come before it.
const HEADER_WITHIN: usize = 5;

/// The rows below the header, each with only the columns that were asked for.
pub(crate) struct Table<const N: usize> {
    file: &'static str,
    names: [&'static str; N],
    rows: Vec<(u64, [String; N])>,
}

impl<const N: usize> Table<N> {
    /// Reads the columns `names` of `text`. A row that holds nothing, or only a date further
    /// on, is passed over: CNAC's report has one.
    ///
    /// # Errors
    /// Where no header has all the columns, a row lacks cells, or there is no row at all.
    pub fn read(
        file: &'static str,
        text: &str,
        layout: Layout,
        names: [&'static str; N],
    ) -> Result<Self, IngestError> {
        let mut reader = ReaderBuilder::new();
        reader.has_headers(false).flexible(true);
        if let Layout::Tabs = layout {
            reader.delimiter(b'\t').quoting(false);
        }
        let foreign = |detail: String| IngestError::Foreign { file, detail };
        let mut reader = reader.from_reader(text.as_bytes());
        let mut records =
            reader.records().map(|record| record.map_err(|error| foreign(error.to_string())));

        let head = records.by_ref().take(HEADER_WITHIN);
        let header = head.filter_map(Result::ok).find_map(|head| Header::of(&head, names));
        let header = header.ok_or_else(|| foreign(missing(text, names)))?;
        let rows = records
            .filter(|record| !matches!(record, Ok(record) if holds_at_most_a_date(record)))
            .map(|record| header.row(file, text, &record?))
            .collect::<Result<Vec<_>, _>>()?;
        match rows.is_empty() {
            true => Err(IngestError::Empty { file }),
            false => Ok(Self { file, names, rows }),
        }
    }

    /// The rows, each with what it takes to say where a cell stands.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_, N>> {
        self.rows.iter().map(|(line, cells)| Row { table: self, line: *line, cells })
    }
}

/// Where the wanted columns stand.
struct Header<const N: usize> {
    columns: [usize; N],
    /// The least a row must have. NANPA's header has a cell more than its rows, and CNAC's date
    /// row a cell less than the others.
    least_cells: usize,
}

impl<const N: usize> Header<N> {
    fn of(record: &StringRecord, names: [&str; N]) -> Option<Self> {
        let place =
            |name: &str| record.iter().position(|cell| clean(cell).eq_ignore_ascii_case(name));
        let places: Option<Vec<usize>> = names.into_iter().map(place).collect();
        let columns = <[usize; N]>::try_from(places?).ok()?;
        Some(Self { columns, least_cells: record.len() - 1 })
    }

    fn row(
        &self,
        file: &'static str,
        text: &str,
        record: &StringRecord,
    ) -> Result<(u64, [String; N]), IngestError> {
        let line = line_of(record, text);
        let (found, expected) = (record.len(), self.least_cells);
        if found < expected {
            return Err(IngestError::CutOff { file, line, found, expected });
        }
        let cell = |column| clean(record.get(column).unwrap_or_default()).to_owned();
        Ok((line, self.columns.map(cell)))
    }
}

/// A row that begins with its one filled cell is none of these, but one that is cut off.
fn holds_at_most_a_date(record: &StringRecord) -> bool {
    let mut cells = record.iter().map(|cell| !clean(cell).is_empty());
    cells.next() != Some(true) && cells.filter(|&filled| filled).count() <= 1
}

/// The line a record begins on. After CR LF the reader counts the record as beginning at the LF.
fn line_of(record: &StringRecord, text: &str) -> u64 {
    record.position().map_or(0, |position| {
        let at_line_feed = text.as_bytes().get(position.byte() as usize) == Some(&b'\n');
        position.line() + u64::from(at_line_feed)
    })
}

fn missing<const N: usize>(text: &str, names: [&str; N]) -> String {
    let first_line: String = text.lines().next().unwrap_or_default().chars().take(80).collect();
    format!("no header names all of {}; it begins '{}'", names.join(", "), first_line.trim_end())
}

/// Takes off the padding, then the quotes.
fn clean(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell).trim()
}

/// One row of a table.
pub(crate) struct Row<'a, const N: usize> {
    table: &'a Table<N>,
    line: u64,
    /// In the order in which the columns were asked for.
    pub cells: &'a [String; N],
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
            file: self.table.file,
            line: self.line,
            column: self.table.names[column],
            value: value.chars().take(40).collect(),
            rule: rule.to_string(),
        })
    }
}

/// The text of a cell, if it has any.
pub(crate) fn filled(cell: &str) -> Option<&str> {
    Some(cell).filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, layout: Layout) -> Result<Vec<[String; 2]>, IngestError> {
        let table = Table::read("a report", text, layout, ["OCN", "Company"])?;
        Ok(table.rows().map(|row| row.cells.clone()).collect())
    }

    #[test]
    fn columns_are_found_by_name_wherever_they_stand() {
        let text = "File Date,01/05/2026\r\nCompany, ocn ,x\r\n\"A, B\",0051,\r\n";
        assert_eq!(read(text, Layout::Commas).unwrap(), [["0051", "A, B"]]);
    }

    #[test]
    fn quotes_inside_padding_are_taken_off_and_others_kept() {
        let text = "OCN \tCompany   \tx\n0051\t\"A \"B\" C\"   \t\n";
        assert_eq!(read(text, Layout::Tabs).unwrap(), [["0051", "A \"B\" C"]]);
    }

    #[test]
    fn a_row_with_only_a_date_is_passed_over() {
        assert_eq!(read("x,Company,OCN\n,,2025-09-12\n,A,1\n", Layout::Commas).unwrap().len(), 1);
    }

    #[test]
    fn lines_are_counted_the_same_with_either_line_end() {
        for text in ["OCN,Company\n1,A\nx,B\n", "OCN,Company\r\n1,A\r\nx,B\r\n"] {
            let table = Table::read("a report", text, Layout::Commas, ["OCN", "Company"]).unwrap();
            let error = table.rows().nth(1).unwrap().parsed::<u32>(0).unwrap_err().to_string();
            assert_eq!(error, "a report, line 3, column OCN: 'x' invalid digit found in string");
        }
    }

    #[test]
    fn foreign_cut_off_and_empty_files_are_refused() {
        let error = |text| read(text, Layout::Commas).unwrap_err().to_string();
        assert_eq!(
            error("<html>\n"),
            "a report is not the report it was given as: \
             no header names all of OCN, Company; it begins '<html>'"
        );
        assert_eq!(
            error("OCN,Company,a,b\n1,A,,\n2\n"),
            "a report, line 3: has 1 of 3 cells; is the file cut off?"
        );
        assert_eq!(error("OCN,Company\n"), "a report holds no rows");
        assert!(error("").contains("no header"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_panic(text in any::<String>(), rows in "(OCN,Company\n)?[a-z,\"\n]*") {
            for layout in [Layout::Tabs, Layout::Commas] {
                let _ = read(&text, layout);
                let _ = read(&rows, layout);
            }
        }
    }
}
