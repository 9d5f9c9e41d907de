//! Tables as CSV, JSON Lines or a SQLite database.

use std::{
    borrow::Cow,
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use rusqlite::{
    Connection,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::Value;
use shared::cells::{inert, writer_of_rows};

use super::{provenance::provenance, tables::Table};
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
        for value in row.values() {
            let cell = match value {
                Value::Null => Cow::Borrowed(""),
                Value::String(text) => inert(text),
                other => other.to_string().into(),
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
    for row in table.rows(data) {
        serde_json::to_writer(&mut output, &row)?;
        output.write_all(b"\n")?;
    }
    output.flush()
}

/// Creates a folder with one file per table, including provenance.
pub fn write_folder(data: &NumberingData, form: FileForm, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    for table in Table::OF_RECORDS {
        let name = format!("{}.{}", table.file_name(), form.extension());
        let file = fs::File::create(folder.join(name))?;
        write_table(data, table, form, &file)?;
        file.sync_all()?;
    }
    let origin = Value::Object(provenance(data));
    fs::write(folder.join("provenance.json"), format!("{origin:#}\n"))
}

/// Writes all tables to an empty file.
pub fn write_database(data: &NumberingData, file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // No journal: after an interruption the unnamed file is discarded anyway.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    for table in Table::OF_RECORDS.into_iter().chain([Table::Provenance]) {
        insert_table(&transaction, data, table)?;
    }
    transaction.commit()?;
    connection.execute_batch("PRAGMA optimize;")?;
    connection.close().map_err(|(_, error)| error)
}

fn insert_table(
    connection: &Connection,
    data: &NumberingData,
    table: Table,
) -> rusqlite::Result<()> {
    let (name, columns) = (table.name(), table.columns());
    let typed = columns.iter().map(|column| {
        let kind = if Table::is_count(column) { "INTEGER" } else { "TEXT" };
        format!("{column} {kind}")
    });
    let typed = typed.collect::<Vec<_>>().join(", ");
    let key = columns[..table.key_columns()].join(", ");
    connection.execute_batch(&format!(
        "CREATE TABLE {name} ({typed}, PRIMARY KEY ({key})) WITHOUT ROWID;"
    ))?;
    let places = vec!["?"; columns.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {name} VALUES ({places})"))?;
    for row in table.rows(data) {
        let values = row.values().map(|value| match value {
            Value::String(text) => ValueRef::from(text.as_str()),
            value => value.as_i64().map_or(ValueRef::Null, ValueRef::Integer),
        });
        insert.execute(rusqlite::params_from_iter(values.map(ToSqlOutput::Borrowed)))?;
    }
    for column in table.indexed_columns() {
        connection
            .execute_batch(&format!("CREATE INDEX {name}_by_{column} ON {name} ({column});"))?;
    }
    Ok(())
}
