//! A CSV with a phone number column. All rows have the same number of cells.

use std::iter::repeat_n;

use csv::StringRecord;
use number_lists::{
    ColumnError, ColumnOptions, Columns as ListColumns, Dialect, Row, RowError, Rows,
};
use shared::errors::ApiError;

use super::{ColumnParams, MAX_NUMBERS, RequestedNumber, check_count};
use crate::{
    columns::{Column, ERROR_COLUMN},
    options::parse_country,
};

/// The maximum number of columns in a table. Without a header, each column gets a generated name, so a row of commas
/// would produce a much longer response.
const MAX_COLUMNS: usize = 1000;

/// The maximum number of rows to store: the header and the numbers. Further rows are only counted.
const MAX_ROWS: usize = 1 + MAX_NUMBERS;

#[derive(Debug)]
pub struct Table {
    pub delimiter: u8,
    pub names: Vec<String>,
    pub rows: Vec<StringRecord>,
    number_column: usize,
    country_column: Option<usize>,
    id_column: Option<usize>,
}

impl Table {
    pub fn parse(text: &str, has_header: bool, params: &ColumnParams) -> Result<Self, ApiError> {
        let (dialect, _) = Dialect::detect(text.as_bytes());
        let (mut rows, count) = read_rows(text, &dialect, has_header)?;
        if rows.is_empty() {
            check_count(0)?;
        }
        let first_row = rows[0].iter().map(|name| name.trim().to_owned()).collect();
        if has_header {
            rows.remove(0);
        }
        let options = ColumnOptions {
            has_header,
            numbers: params.column.as_slice(),
            country: params.country_column.as_deref(),
            option_names: ["column", "countryColumn"],
            no_header_advice: "send it as 'text/csv; header=absent'",
        };
        let columns =
            ListColumns::find(first_row, &options).map_err(|ColumnError { message, .. }| {
                ApiError::invalid(message[..1].to_uppercase() + &message[1..])
            })?;
        let number_column = columns.numbers[0];
        // The number column is not an ID column.
        let id_column = columns.named("id").filter(|&id| id != number_column);
        check_count(if has_header { count - 1 } else { count })?;
        let ListColumns { names, numbers: _, country: country_column } = columns;
        let delimiter = dialect.delimiter;
        Ok(Self { delimiter, names, rows, number_column, country_column, id_column })
    }

    pub fn numbers(&self) -> impl Iterator<Item = RequestedNumber> {
        self.rows.iter().map(|row| {
            let cell = |column: Option<usize>| {
                let cell = column.and_then(|column| row.get(column)).unwrap_or_default();
                Some(cell).filter(|cell| !cell.trim().is_empty())
            };
            let tn = row.get(self.number_column).unwrap_or_default().to_owned();
            let mut number = RequestedNumber::from_text(tn);
            number.id = cell(self.id_column).map(str::to_owned);
            if let (Ok(_), Some(code)) = (&number.content, cell(self.country_column)) {
                number.content = parse_country(code.trim()).map(Some);
            }
            number
        })
    }

    /// Rejects a table that already has a result column.
    pub fn check_names(&self, columns: &[&Column]) -> Result<(), ApiError> {
        let is_result = |name: &&String| {
            **name == ERROR_COLUMN || columns.iter().any(|column| column.name == **name)
        };
        match self.names.iter().find(is_result) {
            None => Ok(()),
            Some(name) => Err(ApiError::invalid(format!(
                "The column '{name}' has the same name as a result column; rename or remove it"
            ))),
        }
    }
}

/// Reads up to [`MAX_ROWS`] rows, and counts all rows. In a one-column table, an empty line is a row with an
/// empty cell, except before the header and after the last row.
fn read_rows(
    text: &str,
    dialect: &Dialect,
    has_header: bool,
) -> Result<(Vec<StringRecord>, usize), ApiError> {
    let mut rows = Vec::new();
    let mut count = 0;
    let mut columns = None;
    for row in Rows::from_csv(text.as_bytes(), dialect).map_err(|error| open_quote_error(&error))? {
        let Row { line, empty_lines, cells } = row.map_err(|error| open_quote_error(&error))?;
        let is_header = has_header && columns.is_none();
        let columns = *columns.get_or_insert(cells.len());
        if columns > MAX_COLUMNS {
            return Err(ApiError::invalid(format!(
                "The body must have at most {MAX_COLUMNS} columns, got {columns}"
            )));
        }
        let empty = if is_header { 0 } else { usize::try_from(empty_lines).unwrap_or(usize::MAX) };
        if empty > 0 && columns != 1 {
            return Err(uneven_row_error(columns, 1, line - empty_lines));
        }
        if cells.len() != columns {
            return Err(uneven_row_error(columns, cells.len(), line));
        }
        let empty_rows = repeat_n(StringRecord::from(vec![""]), empty.min(MAX_ROWS - rows.len()));
        rows.extend(empty_rows);
        if rows.len() < MAX_ROWS {
            rows.push(StringRecord::from_byte_record_lossy(cells));
        }
        count += empty + 1;
    }
    Ok((rows, count))
}

/// The error for an unreadable row. In a request body, the only possible cause is an open quote.
fn open_quote_error(RowError { line, .. }: &RowError) -> ApiError {
    ApiError::invalid(format!(
        "Each quote must be closed; the row that starts on line {line} has an unclosed one"
    ))
}

fn uneven_row_error(expected: usize, got: usize, line: u64) -> ApiError {
    ApiError::invalid(format!(
        "Each row must have as many cells as the first, which has {expected}, got {got} in the row that \
         starts on line {line}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, has_header: bool) -> Result<Table, String> {
        Table::parse(text, has_header, &ColumnParams::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn excess_rows_and_columns_are_counted_and_rejected() {
        for (text, got) in [
            ("305\n".repeat(MAX_NUMBERS + 1), MAX_NUMBERS + 1),
            (format!("305\n{}306\n", "\n307\n".repeat(MAX_ROWS)), 2 + 2 * MAX_ROWS),
        ] {
            let message = parse(&text, false).unwrap_err();
            let expected = format!("The body must contain at most 1000 numbers, got {got}");
            assert!(message.starts_with(&expected), "{message}");
        }
        let (dialect, _) = Dialect::detect(b"305");
        let (rows, count) = read_rows(&"305\n".repeat(2 * MAX_ROWS), &dialect, false).unwrap();
        assert_eq!((rows.len(), count), (MAX_ROWS, 2 * MAX_ROWS));
        let longest = format!("phone\n{}", "305\n".repeat(MAX_NUMBERS));
        assert_eq!(parse(&longest, true).unwrap().numbers().count(), MAX_NUMBERS);
        let row = |columns: usize| "tn".to_owned() + &",".repeat(columns - 1) + "\n";
        assert_eq!(parse(&row(MAX_COLUMNS).repeat(2), true).unwrap().numbers().count(), 1);
        let error = parse(&row(MAX_COLUMNS + 1), true).unwrap_err();
        assert_eq!(error, "The body must have at most 1000 columns, got 1001");
    }
}
