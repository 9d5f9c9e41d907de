//! Tables as Parquet files.

use std::{io::Write, sync::Arc};

use itertools::Itertools;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as PhysicalType},
    column::writer::ColumnWriter,
    data_type::ByteArray,
    errors::Result,
    file::{properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::Type,
};
use serde_json::Value;

use super::{
    Source,
    tables::{Column, Row, Table},
};

const ROWS_PER_GROUP: usize = 100_000;

/// Writes a table, whose columns are optional text or integers.
pub fn write_parquet(source: &Source, table: Table, output: impl Write + Send) -> Result<()> {
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

fn field(column: &Column) -> Result<Arc<Type>> {
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
) -> Result<()> {
    // A definition level of 0 is a null.
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
