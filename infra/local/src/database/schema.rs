//! The allowlist for a database file's schema and table catalog.
//!
//! A file can come from anywhere, and SQLite runs the views, triggers and expressions in its schema.
//! A flipped bit can rename a column.
//!
//! The embedded database also trusts its catalog. With a wrong key name it finds no items, and with
//! a wrong status it rejects all calls. So a file is rejected if its schema or catalog differs from
//! what this program writes.

use rusqlite::{Connection, Row, config::DbConfig, types::ValueRef};
use serde_json::{Value, json};
use store::Tables;

use crate::{
    database::{damage::Damage, tables::table_name},
    error::Cause,
    template::{self, Table},
};

/// The statements that create the embedded database's tables; the last one is for item tables. When
/// a dynoxide release changes one, add the new one and keep the old one for older folders.
const STATEMENTS: &str = include_str!("schema.sql");

pub struct ItemTable {
    pub name: String,
    /// The partition key.
    pub key: String,
    pub sort_key: Option<String>,
}

/// Rejects an unknown schema, and keeps the connection from running code in the file.
pub fn reject_untrusted_schema(connection: &Connection) -> Result<(), Cause> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // SQLite creates primary key indexes itself, without a statement.
    let query = "SELECT CAST(ifnull(name, '') AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema \
        WHERE sql IS NOT NULL";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (name, sql): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let name = String::from_utf8_lossy(&name);
        if !is_known(&name, &String::from_utf8_lossy(&sql)) {
            return Err(unrecognized("schema", &name));
        }
    }
    Ok(())
}

fn unrecognized(place: &str, name: &str) -> Cause {
    Damage::Unrecognized(format!("its {place} has an unknown definition of {name:?}")).into()
}

fn is_known(name: &str, statement: &str) -> bool {
    let mut statements = STATEMENTS.split_terminator(';');
    statements.any(|known| normalize(&known.replace("{name}", name)) == normalize(statement))
}

fn normalize(statement: &str) -> String {
    statement.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// The item tables in the catalog; empty in a new database.
pub fn item_tables(connection: &Connection) -> Result<Vec<ItemTable>, Cause> {
    if !connection.table_exists(None, "_tables")? {
        return Ok(Vec::new());
    }
    let known = known_tables()?;
    let mut catalog = connection.prepare("SELECT * FROM _tables")?;
    let columns: Vec<String> = catalog.column_names().into_iter().map(str::to_owned).collect();
    let mut rows = catalog.query([])?;
    let mut tables = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref("table_name")?.as_bytes().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let table = known.iter().find(|(known, table)| {
            *known == name && columns.iter().all(|column| is_expected(row, column, table))
        });
        let exists = connection.table_exists(None, name.as_str())?;
        let Some((_, table)) = table.filter(|_| exists) else {
            return Err(unrecognized("catalog", &name));
        };
        let (key, sort_key) = (table.key.clone(), table.sort_key.clone());
        tables.push(ItemTable { name, key, sort_key });
    }
    Ok(tables)
}

/// The template's tables by the names they may have here.
fn known_tables() -> Result<Vec<(String, Table)>, Cause> {
    let names = Tables::from_env();
    let mut tables = Vec::new();
    for table in template::tables()? {
        tables.push((table_name(&table, &names)?.to_owned(), table.clone()));
        tables.push((table.name.clone(), table));
    }
    Ok(tables)
}

fn is_expected(row: &Row<'_>, column: &str, table: &Table) -> bool {
    let Ok(value) = row.get_ref(column) else { return false };
    let text = value.as_str().ok();
    let is_list = |items: Vec<Value>| {
        text.and_then(|text| serde_json::from_str(text).ok()) == Some(Value::from(items))
    };
    let keys = [(Some(&table.key), "HASH"), (table.sort_key.as_ref(), "RANGE")];
    let keys = keys.into_iter().filter_map(|(key, key_type)| Some((key?, key_type)));
    match column {
        "key_schema" => is_list(
            keys.map(|(key, kind)| json!({ "AttributeName": key, "KeyType": kind })).collect(),
        ),
        "attribute_definitions" => is_list(
            keys.map(|(key, _)| json!({ "AttributeName": key, "AttributeType": "S" })).collect(),
        ),
        "table_status" => text == Some("ACTIVE"),
        "billing_mode" => text == Some("PAY_PER_REQUEST"),
        "table_name" | "table_id" => text.is_some(),
        "created_at" => matches!(value, ValueRef::Integer(_)),
        "stream_enabled" => value == ValueRef::Integer(0),
        "ttl_enabled" | "deletion_protection_enabled" => {
            matches!(value, ValueRef::Integer(0 | 1))
        }
        "ttl_attribute" => value == ValueRef::Null || text == table.time_to_live.as_deref(),
        _ => value == ValueRef::Null,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::database::Database;

    #[tokio::test]
    async fn unknown_schema_objects_are_rejected() {
        let folder = TempDir::new().unwrap();
        Database::embedded(folder.path()).await.unwrap().close().await;
        let connection = Connection::open(folder.path().join("dynamodb.sqlite")).unwrap();
        reject_untrusted_schema(&connection).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        for (statement, undo) in [
            ("CREATE VIEW x AS SELECT pk FROM usage", "DROP VIEW x"),
            (
                "CREATE TRIGGER x AFTER INSERT ON usage BEGIN DELETE FROM usage; END",
                "DROP TRIGGER x",
            ),
            ("CREATE VIRTUAL TABLE \"x\ty\" USING fts5(a)", "DROP TABLE \"x\ty\""),
            ("CREATE TABLE x (a, b AS (a || a))", "DROP TABLE x"),
            ("CREATE INDEX x ON usage (pk) WHERE pk > 1", "DROP INDEX x"),
            ("ALTER TABLE usage RENAME COLUMN pk TO qk", ""),
        ] {
            connection.execute_batch(statement).unwrap();
            assert!(reject_untrusted_schema(&connection).is_err(), "{statement}");
            connection.execute_batch(undo).unwrap();
        }
    }
}
