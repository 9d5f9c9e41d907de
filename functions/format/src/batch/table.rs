//! A CSV with a column of numbers.

use std::iter::repeat_n;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use shared::errors::{ApiError, quote};

use super::{MOST_NUMBERS, check_count};
use crate::cells::{COLUMNS, ERROR_COLUMN};

/// The most columns of a table. A name is made for each if the table has none, so a row of commas would
/// have an answer that is many times as long.
const MOST_COLUMNS: usize = 1000;

/// The most rows that are kept: those of a header and the numbers. The others are only counted.
const MOST_ROWS: usize = 1 + MOST_NUMBERS;

/// What may stand between the cells. Excel writes semicolons where a comma is a decimal sign.
const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

/// The names of columns that have phone numbers, in lower case and without anything but letters.
const NAMES_OF_NUMBERS: [&str; 14] = [
    "tn",
    "phone",
    "phonenumber",
    "phoneno",
    "number",
    "telephone",
    "telephonenumber",
    "tel",
    "mobile",
    "mobilephone",
    "mobilenumber",
    "cell",
    "cellphone",
    "msisdn",
];

/// The fewest digits of a cell that is taken for a number instead of a name.
const DIGITS_OF_A_NUMBER: usize = 7;

/// The letters that a number may have before its extension, in lower case. A cell with others is a name.
const EXTENSION_LABELS: [&str; 4] = ["x", "ext", "extn", "extension"];

/// Whether the first row names the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    Present,
    Absent,
}

/// A CSV with the names of its columns.
#[derive(Debug)]
pub struct Table {
    pub delimiter: u8,
    pub names: Vec<String>,
    pub rows: Vec<StringRecord>,
    /// The index of the column of numbers.
    column: usize,
}

impl Table {
    /// Reads a CSV, and finds the column of numbers: the one that `column` names, or else the only one, or
    /// else the one that is named like one of phone numbers.
    ///
    /// # Errors
    /// Returns [`ApiError::InvalidRequest`] if a row has more or fewer cells than the first one, if there
    /// are too many columns or no row, if no column, or more than one, may be meant, or if a column has the
    /// name of one of the answer; and [`ApiError::ContentTooLarge`] if there are too many rows.
    pub fn read(text: &str, header: Header, column: Option<&str>) -> Result<Self, ApiError> {
        let delimiter = delimiter_of(text);
        let (mut rows, count) = rows_of(text, delimiter, header)?;
        if rows.is_empty() {
            check_count(0)?;
        }
        let names: Vec<String> = match header {
            Header::Present => rows.remove(0).iter().map(|name| name.trim().to_owned()).collect(),
            Header::Absent => {
                (1..=rows[0].len()).map(|number| format!("column_{number}")).collect()
            }
        };
        let is_of_answer =
            |name: &&String| COLUMNS.contains(&name.as_str()) || *name == ERROR_COLUMN;
        if let Some(name) = names.iter().find(is_of_answer) {
            return Err(ApiError::invalid(format!(
                "The column '{name}' is one that answers add; rename it or leave it out"
            )));
        }
        if header == Header::Present && names.iter().any(|name| holds_number(name)) {
            return Err(ApiError::invalid(
                "The first row must name the columns, got a number; send it as 'text/csv; \
                 header=absent'",
            ));
        }
        let column = column_of_numbers(&names, column)?;
        check_count(if header == Header::Present { count - 1 } else { count })?;
        Ok(Self { delimiter, names, rows, column })
    }

    /// The numbers, a cell of each row.
    pub fn numbers(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| row.get(self.column).unwrap_or_default().to_owned())
    }
}

fn reader_of(text: &str, delimiter: u8) -> Reader<&[u8]> {
    let mut reader = ReaderBuilder::new();
    let reader = reader.has_headers(false).trim(Trim::None).flexible(true).delimiter(delimiter);
    reader.from_reader(text.as_bytes())
}

/// The first [`MOST_ROWS`] rows, and how many there are. The reader skips empty lines: in a table of one
/// column they are rows with an empty cell, unless they stand before the header or after the last row.
fn rows_of(
    text: &str,
    delimiter: u8,
    header: Header,
) -> Result<(Vec<StringRecord>, usize), ApiError> {
    let mut reader = reader_of(text, delimiter);
    let mut row = StringRecord::new();
    let mut rows = Vec::new();
    let mut count = 0;
    let mut columns = None;
    let mut end_of_last = 0;
    while reader.read_record(&mut row).map_err(|_| ApiError::invalid("The body must be a CSV"))? {
        let between = LinesBetween::of(text, end_of_last);
        end_of_last = usize::try_from(reader.position().byte()).unwrap_or(text.len());
        let is_first = columns.is_none();
        let columns = *columns.get_or_insert(row.len());
        if columns > MOST_COLUMNS {
            return Err(ApiError::invalid(format!(
                "The body must have at most {MOST_COLUMNS} columns, got {columns}"
            )));
        }
        let empty = if is_first && header == Header::Present { 0 } else { between.empty };
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
fn line_at(text: &str, begin: usize) -> usize {
    let before = &text[..begin];
    let divided_ends = before.matches("\r\n").count();
    1 + before.matches(['\r', '\n']).count() - divided_ends
}

/// What divides the first row into most cells; of equals the comma.
fn delimiter_of(text: &str) -> u8 {
    let cells = |delimiter| {
        let mut row = StringRecord::new();
        // A row of text in memory is always read.
        _ = reader_of(text, delimiter).read_record(&mut row);
        row.len()
    };
    let most = DELIMITERS.into_iter().map(cells).max();
    DELIMITERS.into_iter().find(|&delimiter| Some(cells(delimiter)) == most).unwrap_or(b',')
}

fn unequal(expected: usize, got: usize, line: usize) -> ApiError {
    ApiError::invalid(format!(
        "Each row must have as many cells as the first, which has {expected}, got {got} in the row that \
         begins in line {line}"
    ))
}

fn column_of_numbers(names: &[String], wanted: Option<&str>) -> Result<usize, ApiError> {
    let Some(wanted) = wanted else {
        if names.len() == 1 {
            return Ok(0);
        }
        let positions =
            positions(names, |name| NAMES_OF_NUMBERS.contains(&letters_of(name).as_str()));
        return match positions.as_slice() {
            [only] => Ok(*only),
            [] => Err(which_column("No column is named like one of phone numbers", names)),
            _ => {
                Err(which_column("More than one column is named like one of phone numbers", names))
            }
        };
    };
    let exact = positions(names, |name| name == wanted);
    let alike = positions(names, |name| name.to_lowercase() == wanted.to_lowercase());
    match (exact.as_slice(), alike.as_slice()) {
        ([only], _) | ([], [only]) => Ok(*only),
        ([], []) => match wanted.parse::<usize>() {
            Ok(number) if (1..=names.len()).contains(&number) => Ok(number - 1),
            _ => Err(which_column(&format!("There is no column '{}'", quote(wanted)), names)),
        },
        _ => Err(ApiError::invalid(format!(
            "More than one column is named '{}'; send column with its number, from 1 to {}",
            quote(wanted),
            names.len()
        ))),
    }
}

fn positions(names: &[String], is_wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&index| is_wanted(&names[index])).collect()
}

/// A message that ends with the names of the columns.
fn which_column(what: &str, names: &[String]) -> ApiError {
    /// The most names that a message repeats.
    const MOST_NAMES: usize = 20;
    let quoted: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| format!("'{}'", quote(name))).collect();
    let more = if names.len() > MOST_NAMES { " …" } else { "" };
    ApiError::invalid(format!(
        "{what}; send column with one of {}{more}, or its number",
        quoted.join(", ")
    ))
}

fn letters_of(name: &str) -> String {
    name.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect()
}

/// Whether a cell is a number and no name of a column: it has enough digits, and no letters but those of
/// an extension and of the scheme of RFC 3966.
fn holds_number(cell: &str) -> bool {
    let cell = cell.to_lowercase();
    let letters = letters_of(cell.strip_prefix("tel:").unwrap_or(&cell));
    cell.chars().filter(|c| c.is_numeric()).count() >= DIGITS_OF_A_NUMBER
        && (letters.is_empty() || EXTENSION_LABELS.contains(&letters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, header: Header, column: Option<&str>) -> Result<Vec<String>, String> {
        match Table::read(text, header, column) {
            Ok(table) => Ok(table.numbers().collect()),
            Err(error) => Err(error.body().message().to_owned()),
        }
    }

    fn found(text: &str, column: Option<&str>) -> Vec<String> {
        numbers(text, Header::Present, column).unwrap()
    }

    fn refusal(text: &str, column: Option<&str>) -> String {
        numbers(text, Header::Present, column).unwrap_err()
    }

    #[test]
    fn the_column_is_the_only_one_or_named_like_one_of_numbers_or_the_one_that_is_asked_for() {
        assert_eq!(found("who knows\n305\n", None), ["305"]);
        assert_eq!(found("name,Phone Number\nAnn,305\n", None), ["305"]);
        let two = "name,phone,mobile\nAnn,1,2\n";
        assert_eq!(found(two, Some("mobile")), ["2"]);
        assert_eq!(found(two, Some("PHONE")), ["1"]);
        assert_eq!(found(two, Some("2")), ["1"]);
        assert_eq!(found("a,b\n1,2\n", Some("1")), ["1"]);
        assert_eq!(numbers("a,305\nb,306\n", Header::Absent, Some("2")).unwrap(), ["305", "306"]);
        assert_eq!(numbers("305\n306\n", Header::Absent, None).unwrap(), ["305", "306"]);
    }

    #[test]
    fn a_column_in_doubt_is_refused_with_the_names() {
        for (text, column, message) in [
            (
                "name,phone,mobile\nAnn,1,2\n",
                None,
                "More than one column is named like one of phone numbers; send column with one of \
                 'name', 'phone', 'mobile', or its number",
            ),
            (
                "a,b\n1,2\n",
                None,
                "No column is named like one of phone numbers; send column with one of 'a', 'b', or \
                 its number",
            ),
            (
                "a,b\n1,2\n",
                Some("c"),
                "There is no column 'c'; send column with one of 'a', 'b', or its number",
            ),
            (
                "tn,tn\n1,2\n",
                Some("tn"),
                "More than one column is named 'tn'; send column with its number, from 1 to 2",
            ),
            (
                "305-234-5678\n305-234-5679\n",
                None,
                "The first row must name the columns, got a number; send it as 'text/csv; \
                 header=absent'",
            ),
            (
                "tn,tn_valid\n1,true\n",
                None,
                "The column 'tn_valid' is one that answers add; rename it or leave it out",
            ),
        ] {
            assert_eq!(refusal(text, column), message);
        }
    }

    #[test]
    fn semicolons_and_tabs_divide_as_commas_do() {
        for text in ["name;phone\r\n\"A, B\";305\r\n", "name\tphone\nA;B\t305\n"] {
            assert_eq!(found(text, None), ["305"], "{text}");
        }
        let table = Table::read("name;phone\nA;305\n", Header::Present, None).unwrap();
        assert_eq!(table.delimiter, b';');
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        let text = "phone,note\r\n305,\"a \"\"b\"\",\r\nc\"\r\n306,\r\n";
        assert_eq!(found(text, None), ["305", "306"]);
        let table = Table::read(text, Header::Present, None).unwrap();
        assert_eq!(table.rows[0].get(1), Some("a \"b\",\r\nc"));
    }

    #[test]
    fn a_row_with_other_cells_than_the_first_is_refused_with_its_line() {
        assert_eq!(
            refusal("tn,a\n1,2\n3\n", None),
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
            assert!(refusal(text, None).ends_with(line), "{text:?}: {}", refusal(text, None));
        }
        assert_eq!(found("\ntn,a\n1,2\n\n\n", None), ["1"]);
    }

    #[test]
    fn an_empty_line_of_one_column_keeps_its_place() {
        for line_end in ["\n", "\r\n", "\r"] {
            let lines = |text: &str| text.replace('\n', line_end);
            assert_eq!(found(&lines("\nphone\n305\n\n306\n\n\n"), None), ["305", "", "306"]);
            assert_eq!(found(&lines("phone\n\n\n305"), None), ["", "", "305"]);
            let quoted = "phone\n\"3\n\n\"\n\n306\n";
            let expected = [lines("3\n\n"), String::new(), "306".to_owned()];
            assert_eq!(found(&lines(quoted), None), expected);
            let absent = numbers(&lines("\n305\n\n306\n"), Header::Absent, None);
            assert_eq!(absent.unwrap(), ["", "305", "", "306"]);
        }
    }

    #[test]
    fn more_columns_than_a_table_may_have_are_refused() {
        let row = |columns: usize| ",".repeat(columns - 1);
        assert!(numbers(&row(MOST_COLUMNS), Header::Absent, Some("1")).is_ok());
        assert_eq!(
            numbers(&row(MOST_COLUMNS + 1), Header::Absent, Some("1")).unwrap_err(),
            "The body must have at most 1000 columns, got 1001"
        );
    }

    #[test]
    fn a_row_of_numbers_is_no_header_wherever_they_stand_and_a_name_may_have_digits() {
        for row in ["3052345678,x", "x,(305) 234-5678 ext. 42", "tel:+1-305-234-5678,x"] {
            let message = refusal(&format!("{row}\n3052345679,y\n"), Some("2"));
            assert!(message.starts_with("The first row must name the columns"), "{message}");
        }
        assert_eq!(found("Phone (as of 2024-01-05)\n305\n", None), ["305"]);
    }

    #[test]
    fn rows_beyond_the_most_are_counted_and_not_kept() {
        let text = format!("305\n{}306\n", "\n307\n".repeat(MOST_ROWS));
        let (rows, count) = rows_of(&text, b',', Header::Absent).unwrap();
        assert_eq!((rows.len(), count), (MOST_ROWS, 2 + 2 * MOST_ROWS));
        let message = numbers(&text, Header::Absent, None).unwrap_err();
        assert!(
            message.starts_with("The body must have at most 1000 numbers, got 2004"),
            "{message}"
        );
        let most = format!("phone\n{}", "305\n".repeat(MOST_NUMBERS));
        assert_eq!(found(&most, None).len(), MOST_NUMBERS);
    }
}
