//! Writes tables as CSV, JSON Lines, Parquet or a SQLite database.

use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
    sync::Arc,
};

use itertools::Itertools;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as PhysicalType},
    column::writer::ColumnWriter,
    data_type::ByteArray,
    errors::Result as ParquetResult,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};
use rusqlite::{
    Connection,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::{Map, Value};
use shared::{csv_pages::write_rows, json::write_json_lines};

use super::{
    ExportFormat, Source,
    tables::{Column, Row, Table, provenance},
};

/// Writes a table. The same data always produces the same bytes.
pub fn write_table(
    source: &Source,
    table: Table,
    format: ExportFormat,
    output: impl Write + Send,
) -> io::Result<()> {
    let output = BufWriter::new(output);
    match format {
        ExportFormat::Csv => {
            let columns: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            write_rows(output, &columns.join(" "), objects(source, table))
        }
        ExportFormat::Parquet => write_parquet(source, table, output).map_err(io::Error::other),
        _ => write_json_lines(output, objects(source, table)),
    }
}

fn objects(source: &Source, table: Table) -> impl Iterator<Item = Map<String, Value>> {
    let names = table.columns().iter().map(|column| column.name.to_owned());
    table.rows(source).map(move |row| names.clone().zip(row).collect())
}

/// Creates a folder with one file per table, including provenance.
pub fn write_folder(source: &Source, format: ExportFormat, folder: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    let extension = match format {
        ExportFormat::Csv => "csv",
        ExportFormat::Parquet => "parquet",
        _ => "jsonl",
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

pub fn write_database(source: &Source, file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // An interrupted export is discarded, so no journal is needed.
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

const ROWS_PER_GROUP: usize = 100_000;

/// Writes a table whose columns are optional text or integers.
fn write_parquet(source: &Source, table: Table, output: impl Write + Send) -> ParquetResult<()> {
    let fields: Vec<_> = table.columns().iter().map(field).try_collect()?;
    let schema = Type::group_type_builder(table.name()).with_fields(fields).build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(Default::default()))
        .set_created_by(concat!("tnr ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(output, schema.into(), properties.into())?;
    for rows in &table.rows(source).chunks(ROWS_PER_GROUP) {
        let rows: Vec<Row> = rows.collect();
        let mut group = writer.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            write_column(column.untyped(), rows.iter().map(|row| &row[index]))?;
            column.close()?;
            index += 1;
        }
        group.close()?;
    }
    writer.close().map(drop)
}

fn field(column: &Column) -> ParquetResult<Arc<Type>> {
    let (physical, logical) = if column.sql_type == "INTEGER" {
        (PhysicalType::INT64, None)
    } else {
        (PhysicalType::BYTE_ARRAY, Some(LogicalType::String))
    };
    let field = Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical);
    field.build().map(Arc::new)
}

fn write_column<'a>(
    writer: &mut ColumnWriter<'_>,
    values: impl Iterator<Item = &'a Value> + Clone,
) -> ParquetResult<()> {
    // A definition level of 0 means null.
    let levels: Vec<i16> = values.clone().map(|value| i16::from(!value.is_null())).collect();
    match writer {
        ColumnWriter::Int64ColumnWriter(writer) => {
            let numbers: Vec<i64> = values.filter_map(Value::as_i64).collect();
            writer.write_batch(&numbers, Some(&levels), None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let texts: Vec<ByteArray> =
                values.filter_map(Value::as_str).map(ByteArray::from).collect();
            writer.write_batch(&texts, Some(&levels), None)?;
        }
        _ => unreachable!("a field is text or an integer"),
    }
    Ok(())
}
