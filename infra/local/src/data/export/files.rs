//! Tables as CSV, JSON Lines or a SQLite database.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use rusqlite::{
    Connection,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::Value;
use shared::cells::{csv_writer, escape_formula};

use super::tables::{Columns, Table, provenance};
use crate::data::numbering_data::NumberingData;

/// A format with one table per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    Csv,
    JsonLines,
}

/// Writes a table. The same data always produces the same bytes.
pub fn write_table(
    data: &NumberingData,
    table: Table,
    format: TableFormat,
    output: impl Write,
) -> io::Result<()> {
    let output = BufWriter::new(output);
    match format {
        TableFormat::Csv => write_csv(data, table, output),
        TableFormat::JsonLines => write_json_lines(data, table, output),
    }
}

/// Writes an RFC 4180 table. No cell can run as a formula.
fn write_csv(data: &NumberingData, table: Table, output: impl Write) -> io::Result<()> {
    let mut csv = csv_writer(output, b',');
    csv.write_record(table.columns().names).map_err(io_error)?;
    for row in table.rows(data) {
        let cells = row.values().map(|value| match value {
            Value::Null => String::new(),
            Value::String(text) => escape_formula(text).into_owned(),
            other => other.to_string(),
        });
        csv.write_record(cells).map_err(io_error)?;
    }
    csv.flush()
}

/// The I/O error inside a CSV error. The library's own conversion loses the error kind.
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
pub fn write_folder(data: &NumberingData, format: TableFormat, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let extension = if format == TableFormat::Csv { "csv" } else { "jsonl" };
    for table in Table::RECORDS {
        let name = format!("{}.{extension}", table.name().replace('_', "-"));
        let file = fs::File::create(folder.join(name))?;
        write_table(data, table, format, &file)?;
        file.sync_all()?;
    }
    let provenance = Value::Object(provenance(data));
    fs::write(folder.join("provenance.json"), format!("{provenance:#}\n"))
}

/// Writes all tables to an empty file.
pub fn write_database(data: &NumberingData, file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // An interrupted export is discarded, so it needs no journal.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    for table in Table::RECORDS.into_iter().chain([Table::Provenance]) {
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
    let name = table.name();
    let Columns { names, key_length, indexed } = table.columns();
    let definitions = names.iter().map(|column| {
        let sql_type = if Table::is_integer(column) { "INTEGER" } else { "TEXT" };
        format!("{column} {sql_type}")
    });
    let definitions = definitions.collect::<Vec<_>>().join(", ");
    let key = names[..key_length].join(", ");
    connection.execute_batch(&format!(
        "CREATE TABLE {name} ({definitions}, PRIMARY KEY ({key})) WITHOUT ROWID;"
    ))?;
    let placeholders = vec!["?"; names.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {name} VALUES ({placeholders})"))?;
    for row in table.rows(data) {
        let values = row.values().map(|value| match value {
            Value::String(text) => ValueRef::from(text.as_str()),
            value => value.as_i64().map_or(ValueRef::Null, ValueRef::Integer),
        });
        insert.execute(rusqlite::params_from_iter(values.map(ToSqlOutput::Borrowed)))?;
    }
    for column in indexed {
        connection
            .execute_batch(&format!("CREATE INDEX {name}_by_{column} ON {name} ({column});"))?;
    }
    Ok(())
}
