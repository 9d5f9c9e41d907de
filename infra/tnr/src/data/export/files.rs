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

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use clap::ValueEnum;
    use ingest::{ReportName, Source as Report, read_dataset};
    use jiff::civil::Date;
    use parquet::{
        file::reader::{FileReader, SerializedFileReader},
        record::Field,
    };
    use rusqlite::types::Value as SqlValue;

    use super::*;
    use crate::data::sample::sample;

    /// Two thousands blocks, one of which starts years from now.
    const BLOCKS: &str = "State,NPA,NXX,X,STATUS,Rate Center,Block Effective Date,Assigned To,OCN\n\
                          ,415,206,2,AS,SAN RAFAEL,01/02/2020,SAMPLE,5927\n\
                          ,415,206,3,AS,SAN RAFAEL,01/01/2099,SAMPLE,0230\n";

    fn written(source: &Source, table: Table, format: ExportFormat) -> Vec<u8> {
        let mut output = Vec::new();
        write_table(source, table, format, &mut output).unwrap();
        output
    }

    fn parquet_rows(source: &Source, table: Table) -> Vec<Row> {
        let file = Bytes::from(written(source, table, ExportFormat::Parquet));
        let reader = SerializedFileReader::new(file).unwrap();
        let value = |field: &Field| match field {
            Field::Null => Value::Null,
            Field::Long(number) => (*number).into(),
            Field::Str(text) => text.as_str().into(),
            other => panic!("{other}"),
        };
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        rows.map(|row| row.get_column_iter().map(|(_, it)| value(it)).collect()).collect()
    }

    fn database_rows(database: &Connection, table: Table) -> Vec<Row> {
        let order = if table == Table::Dictionary { "rowid" } else { "1, 2" };
        let select = format!("SELECT * FROM {} ORDER BY {order}", table.name());
        let mut select = database.prepare(&select).unwrap();
        let columns = 0..select.column_count();
        let rows = select.query_map([], |row| {
            let cells = columns.clone().map(|column| match row.get(column)? {
                SqlValue::Null => Ok(Value::Null),
                SqlValue::Integer(count) => Ok(count.into()),
                SqlValue::Text(text) => Ok(text.into()),
                other => panic!("{other:?}"),
            });
            cells.collect()
        });
        rows.unwrap().map(Result::unwrap).collect()
    }

    /// A value as in CSV.
    fn cell(value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    #[tokio::test]
    async fn every_format_contains_every_record() {
        let reports =
            sample().with(ReportName::ThousandsBlocks, Report::Embedded(BLOCKS.as_bytes()));
        let dataset = read_dataset(&reports).await.unwrap();
        let source = Source::new(dataset, Date::constant(2026, 12, 25));
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("numbers.sqlite");
        write_database(&source, &file).unwrap();
        let database = Connection::open(file).unwrap();
        for table in Table::value_variants() {
            let rows: Vec<Row> = table.rows(&source).collect();
            let names: Vec<&str> = table.columns().iter().map(|column| column.name).collect();
            assert!(!rows.is_empty(), "{table:?}");
            assert_eq!(parquet_rows(&source, *table), rows, "{table:?}");
            if *table != Table::Provenance {
                assert_eq!(database_rows(&database, *table), rows, "{table:?}");
            }
            let json = written(&source, *table, ExportFormat::JsonLines);
            let objects = serde_json::Deserializer::from_slice(&json).into_iter::<Map<_, _>>();
            let objects: Vec<Map<String, Value>> = objects.map(Result::unwrap).collect();
            assert!(objects.iter().all(|object| names.iter().eq(object.keys())), "{table:?}");
            let values = objects.into_iter().map(|object| object.into_values().collect::<Row>());
            assert!(values.eq(rows.iter().cloned()), "{table:?}");
            let csv = written(&source, *table, ExportFormat::Csv);
            let mut csv = csv::Reader::from_reader(&*csv);
            assert_eq!(csv.headers().unwrap().iter().collect::<Vec<_>>(), names, "{table:?}");
            let lines = csv
                .records()
                .map(|line| line.unwrap().iter().map(str::to_owned).collect::<Vec<_>>());
            let cells = rows.iter().map(|row| row.iter().map(cell).collect::<Vec<String>>());
            assert!(cells.eq(lines), "{table:?}");
        }
        let count = |sql: &str| database.query_one(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
        assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_list('blocks')"), 3);
        let existing = "SELECT t.name || '.' || c.name || ' ' || c.type FROM sqlite_master t, pragma_table_info(t.name) c \
                        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'";
        let described = "SELECT table_name || '.' || column_name || ' ' || type FROM dictionary";
        for (all, known) in [(existing, described), (described, existing)] {
            assert_eq!(count(&format!("SELECT count(*) FROM ({all} EXCEPT {known})")), 0, "{all}");
        }
    }
}
