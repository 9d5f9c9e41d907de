//! Tables as CSV, JSON Lines, Parquet or a SQLite database.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use rusqlite::{
    Connection,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::{Map, Value};
use shared::{csv_pages::write_rows, json::write_json_lines};

use super::{
    Source,
    parquet::write_parquet,
    tables::{Table, provenance},
};

/// A format with one table per file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    Csv,
    JsonLines,
    Parquet,
}

/// Writes a table. The same data always produces the same bytes.
pub fn write_table(
    source: &Source,
    table: Table,
    format: TableFormat,
    output: impl Write + Send,
) -> io::Result<()> {
    let output = BufWriter::new(output);
    match format {
        TableFormat::Csv => {
            let columns: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            write_rows(output, &columns.join(" "), objects(source, table))
        }
        TableFormat::JsonLines => write_json_lines(output, objects(source, table)),
        TableFormat::Parquet => write_parquet(source, table, output).map_err(io::Error::other),
    }
}

/// A table's rows as JSON objects.
fn objects(source: &Source, table: Table) -> impl Iterator<Item = Map<String, Value>> {
    let names = table.columns().iter().map(|column| column.name.to_owned());
    table.rows(source).map(move |row| names.clone().zip(row).collect())
}

/// Creates a folder with one file per table, including provenance.
pub fn write_folder(source: &Source, format: TableFormat, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let extension = match format {
        TableFormat::Csv => "csv",
        TableFormat::JsonLines => "jsonl",
        TableFormat::Parquet => "parquet",
    };
    for table in Table::ALL {
        let name = format!("{}.{extension}", table.name().replace('_', "-"));
        let file = fs::File::create(folder.join(name))?;
        write_table(source, table, format, &file)?;
        file.sync_all()?;
    }
    let provenance = Value::Object(provenance(source));
    fs::write(folder.join("provenance.json"), format!("{provenance:#}\n"))
}

/// Writes all tables to an empty file.
pub fn write_database(source: &Source, file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // An interrupted export is discarded, so it needs no journal.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    let tables = || Table::ALL.into_iter().chain([Table::Prefixes, Table::Provenance]);
    let schema = tables().fold(include_str!("schema.sql").to_owned(), with_columns);
    transaction.execute_batch(&schema)?;
    for table in tables() {
        insert_table(&transaction, source, table)?;
    }
    transaction.commit()?;
    connection.execute_batch("PRAGMA optimize;")?;
    connection.close().map_err(|(_, error)| error)
}

/// Adds a table's columns to its definition.
fn with_columns(schema: String, table: Table) -> String {
    let columns = table.columns().iter().map(|it| format!("{} {}, ", it.name, it.sql_type));
    let start = format!("CREATE TABLE {} (", table.name());
    schema.replace(&start, &format!("{start}{}", columns.collect::<String>()))
}

fn insert_table(connection: &Connection, source: &Source, table: Table) -> rusqlite::Result<()> {
    let placeholders = vec!["?"; table.columns().len()].join(", ");
    let mut insert =
        connection.prepare(&format!("INSERT INTO {} VALUES ({placeholders})", table.name()))?;
    for row in table.rows(source) {
        let values = row.iter().map(|value| match value {
            Value::String(text) => ValueRef::from(text.as_str()),
            value => value.as_i64().map_or(ValueRef::Null, ValueRef::Integer),
        });
        insert.execute(rusqlite::params_from_iter(values.map(ToSqlOutput::Borrowed)))?;
    }
    Ok(())
}
