//! The rows of a CSV, each of which has as many cells as the first.

use std::{
    io::{Chain, Read},
    iter::repeat_n,
};

use csv::{Reader, ReaderBuilder, StringRecord};
use shared::errors::ApiError;

use super::MOST_NUMBERS;
use crate::open_quote::{END_OF_CSV, has_open_quote, is_end_of_csv};

/// The most columns of a table. A name is made for each if the table has none, so a row of commas would
/// have an answer that is many times as long.
const MOST_COLUMNS: usize = 1000;

/// The most rows that are kept: those of a header and the numbers. The others are only counted.
const MOST_ROWS: usize = 1 + MOST_NUMBERS;

/// The first [`MOST_ROWS`] rows from `begin` on, and how many there are. The reader skips empty lines: in a table of one
/// column they are rows with an empty cell, unless they stand before the header or after the last row.
///
/// # Errors
/// Returns [`ApiError::InvalidRequest`] if the rows cannot be told from each other.
pub fn rows_of(
    text: &str,
    begin: usize,
    delimiter: u8,
    has_header: bool,
) -> Result<(Vec<StringRecord>, usize), ApiError> {
    let mut reader = reader_of(&text[begin..], delimiter);
    let mut row = StringRecord::new();
    let mut rows = Vec::new();
    let mut count = 0;
    let mut columns = None;
    let mut end_of_last = begin;
    while has_read(&mut reader, &mut row)? {
        let between = LinesBetween::of(text, end_of_last);
        let read = usize::try_from(reader.position().byte()).unwrap_or(text.len());
        end_of_last = begin + read;
        if has_open_quote(row.as_slice().as_bytes()) {
            let line = line_at(text, between.end);
            return Err(ApiError::invalid(format!(
                "Each quote must be closed; one in the row that begins in line {line} is not"
            )));
        }
        let is_first = columns.is_none();
        let columns = *columns.get_or_insert(row.len());
        if columns > MOST_COLUMNS {
            return Err(ApiError::invalid(format!(
                "The body must have at most {MOST_COLUMNS} columns, got {columns}"
            )));
        }
        let empty = if is_first && has_header { 0 } else { between.empty };
        if empty > 0 && columns != 1 {
            return Err(unequal(columns, 1, line_at(text, between.begin)));
        }
        if row.len() != columns {
            return Err(unequal(columns, row.len(), line_at(text, between.end)));
        }
        let empty_rows = repeat_n(StringRecord::from(vec![""]), empty.min(MOST_ROWS - rows.len()));
        rows.extend(empty_rows);
        if rows.len() < MOST_ROWS {
            // A clone would be as long as the longest row so far.
            rows.push(row.iter().collect());
        }
        count += empty + 1;
    }
    Ok((rows, count))
}

type CsvReader<'a> = Reader<Chain<&'a [u8], &'static [u8]>>;

fn reader_of(text: &str, delimiter: u8) -> CsvReader<'_> {
    let mut reader = ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).delimiter(delimiter);
    reader.from_reader(text.as_bytes().chain(END_OF_CSV))
}

/// Reads the next row, if there is one.
fn has_read(reader: &mut CsvReader<'_>, row: &mut StringRecord) -> Result<bool, ApiError> {
    reader.read_record(row).map_err(|_| ApiError::invalid("The body must be a CSV"))?;
    Ok(!is_end_of_csv(row.as_slice().as_bytes()))
}

/// The empty lines between two rows.
struct LinesBetween {
    /// Where the first of them begins, or the row after them if there is none.
    begin: usize,
    /// Where the row after them begins.
    end: usize,
    empty: usize,
}

impl LinesBetween {
    /// The empty lines from where the reader has ended a row. Of CR and LF it has read only the first.
    fn of(text: &str, end_of_row: usize) -> Self {
        let bytes = text.as_bytes();
        let is_divided =
            bytes[..end_of_row].ends_with(b"\r") && bytes[end_of_row..].starts_with(b"\n");
        let begin = end_of_row + usize::from(is_divided);
        let (mut end, mut empty) = (begin, 0);
        loop {
            end += match &bytes[end..] {
                [b'\r', b'\n', ..] => 2,
                [b'\r' | b'\n', ..] => 1,
                _ => return Self { begin, end, empty },
            };
            empty += 1;
        }
    }
}

/// The number of the line that begins there, from 1 on.
pub fn line_at(text: &str, begin: usize) -> usize {
    let before = &text[..begin];
    let divided_ends = before.matches("\r\n").count();
    1 + before.matches(['\r', '\n']).count() - divided_ends
}

fn unequal(expected: usize, got: usize, line: usize) -> ApiError {
    ApiError::invalid(format!(
        "Each row must have as many cells as the first, which has {expected}, got {got} in the row that \
         begins in line {line}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        rows_of(text, 0, b',', true).unwrap_err().body().message().to_owned()
    }

    #[test]
    fn rows_beyond_the_most_are_counted_and_not_kept() {
        let text = format!("305\n{}306\n", "\n307\n".repeat(MOST_ROWS));
        let (rows, count) = rows_of(&text, 0, b',', false).unwrap();
        assert_eq!((rows.len(), count), (MOST_ROWS, 2 + 2 * MOST_ROWS));
    }

    #[test]
    fn more_columns_than_a_table_may_have_are_refused() {
        let row = |columns: usize| ",".repeat(columns - 1);
        assert!(rows_of(&row(MOST_COLUMNS), 0, b',', false).is_ok());
        let refused = refusal(&row(MOST_COLUMNS + 1));
        assert_eq!(refused, "The body must have at most 1000 columns, got 1001");
    }

    #[test]
    fn a_row_with_other_cells_than_the_first_is_refused_with_its_line() {
        assert_eq!(
            refusal("tn,a\n1,2\n3\n"),
            "Each row must have as many cells as the first, which has 2, got 1 in the row that begins \
             in line 3"
        );
        for (text, line) in [
            ("tn,a\r\n1,2\r\n3\r\n", "line 3"),
            ("tn,a\r1,2\r3\r", "line 3"),
            ("tn,a\n1,\"\n\n\"\n3\n", "line 5"),
            ("tn,a\n1,2\n\n3,4\n", "got 1 in the row that begins in line 3"),
            ("tn,a\r\n1,\"\r\n\"\r\n\r\n\r\n3,4\r\n", "line 4"),
        ] {
            assert!(refusal(text).ends_with(line), "{text:?}: {}", refusal(text));
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_is_refused_and_swallows_no_row() {
        for (text, line) in [
            ("tn,a\n1,2\n\"3,4\n5,6\n", 3),
            ("tn,a\r\n1,2\r\n3,\"4\r\n5,6", 3),
            ("tn\n\n\n\"3\"\"\n4\n", 4),
            ("\"tn\n1\n", 1),
        ] {
            let expected = format!(
                "Each quote must be closed; one in the row that begins in line {line} is not"
            );
            assert_eq!(refusal(text), expected, "{text:?}");
        }
        for closed in ["tn\n\"1\"", "tn\n\"1\n\"\n", "tn\n5\" pipe\n", "tn\r\n\"1\"\r\n"] {
            assert_eq!(rows_of(closed, 0, b',', true).unwrap().1, 2, "{closed:?}");
        }
    }
}
