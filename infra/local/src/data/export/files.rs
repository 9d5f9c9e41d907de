//! A table as CSV or JSON Lines.

use std::{
    borrow::Cow,
    io::{self, BufWriter, Write},
};

use serde::{Serialize, Serializer};
use shared::cells::{inert, writer_of_rows};

use super::{Table, cell::Cell};
use crate::data::numbering_data::NumberingData;

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    Csv,
    JsonLines,
}

impl FileForm {
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
        }
    }
}

/// Writes a table. The same data always gives the same bytes.
pub fn write_table(
    data: &NumberingData,
    table: Table,
    form: FileForm,
    output: impl Write,
) -> io::Result<()> {
    let output = BufWriter::new(output);
    match form {
        FileForm::Csv => write_csv(data, table, output),
        FileForm::JsonLines => write_json_lines(data, table, output),
    }
}

/// Writes RFC 4180 rows without formulas in cells.
fn write_csv(data: &NumberingData, table: Table, output: impl Write) -> io::Result<()> {
    let mut csv = writer_of_rows(output, b',');
    csv.write_record(table.columns()).map_err(io_error)?;
    for row in table.rows(data) {
        for cell in &row {
            let cell = match cell {
                Cell::Null => Cow::Borrowed(""),
                Cell::Text(text) => inert(text),
                Cell::Count(count) => Cow::Owned(count.to_string()),
            };
            csv.write_field(cell.as_bytes()).map_err(io_error)?;
        }
        csv.write_record(None::<&[u8]>).map_err(io_error)?;
    }
    csv.flush()
}

/// The I/O error inside a CSV error. The library's own conversion loses its kind.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn write_json_lines(data: &NumberingData, table: Table, mut output: impl Write) -> io::Result<()> {
    for cells in table.rows(data) {
        serde_json::to_writer(&mut output, &JsonRow { columns: table.columns(), cells })?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

/// A row as a JSON object.
struct JsonRow {
    columns: &'static [&'static str],
    cells: Vec<Cell>,
}

impl Serialize for JsonRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(&self.cells))
    }
}
