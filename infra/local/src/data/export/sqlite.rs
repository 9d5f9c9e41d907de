//! All tables as a SQLite database.

use std::path::Path;

use rusqlite::{
    Connection, ToSql,
    types::{Null, ToSqlOutput},
};

use super::{Table, cell::Cell};
use crate::data::numbering_data::NumberingData;

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Null => Null.to_sql(),
            Self::Text(text) => text.to_sql(),
            Self::Count(count) => count.to_sql(),
        }
    }
}

/// Writes all tables to an empty file.
pub fn write_database(data: &NumberingData, file: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(file)?;
    // No journal: after an interruption the unnamed file is discarded anyway.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    let transaction = connection.transaction()?;
    for table in Table::OF_RECORDS.into_iter().chain([Table::Provenance]) {
        write_table(&transaction, data, table)?;
    }
    transaction.commit()?;
    connection.execute_batch("PRAGMA optimize;")?;
    connection.close().map_err(|(_, error)| error)
}

fn write_table(
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
        insert.execute(rusqlite::params_from_iter(row))?;
    }
    for column in table.indexed_columns() {
        connection
            .execute_batch(&format!("CREATE INDEX {name}_by_{column} ON {name} ({column});"))?;
    }
    Ok(())
}
