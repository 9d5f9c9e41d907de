//! A CSV with a column of numbers.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use shared::{errors::ApiError, params::quote};

use crate::cells::{COLUMNS, ERROR_COLUMN};

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
    /// Returns [`ApiError::InvalidRequest`] if a row has more or fewer cells than the first one, if no
    /// column, or more than one, may be meant, or if a column has the name of one of the answer.
    pub fn read(text: &str, header: Header, column: Option<&str>) -> Result<Self, ApiError> {
        let delimiter = delimiter_of(text);
        let mut reader = reader_of(text, delimiter);
        let mut rows =
            reader.records().collect::<Result<Vec<_>, _>>().map_err(|error| broken(&error))?;
        if rows.is_empty() {
            return Err(ApiError::invalid("The body must have at least one number, got none"));
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
        let column = column_of_numbers(&names, column)?;
        if header == Header::Present && holds_number(&names[column]) {
            return Err(ApiError::invalid(
                "The first row must name the columns, got a number; send it as 'text/csv; \
                 header=absent'",
            ));
        }
        Ok(Self { delimiter, names, rows, column })
    }

    /// The numbers, a cell of each row.
    pub fn numbers(&self) -> impl Iterator<Item = String> {
        self.rows.iter().map(|row| row.get(self.column).unwrap_or_default().to_owned())
    }
}

fn reader_of(text: &str, delimiter: u8) -> Reader<&[u8]> {
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).trim(Trim::None).delimiter(delimiter).from_reader(text.as_bytes())
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

fn broken(error: &csv::Error) -> ApiError {
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!(
                "Each row must have as many cells as the first, which has {expected_len}, got {len} in \
                 the row that begins in line {line}"
            )
        }
        _ => "The body must be a CSV".to_owned(),
    };
    ApiError::invalid(message)
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

fn holds_number(name: &str) -> bool {
    name.chars().filter(|c| c.is_numeric()).count() >= DIGITS_OF_A_NUMBER
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
    }
}
