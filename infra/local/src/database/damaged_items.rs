//! Stored items that cannot be decoded, or whose key differs from their row's.
//!
//! The embedded database stores each item as JSON text in a SQLite row. A damaged item could look
//! missing, abort every scan of its table, or block all writes to its key.
//!
//! Before the database is opened, each damaged item is replaced by one with only its key. Readers
//! skip such items, because they are not what was written.

use dynoxide::{AttributeValue, Item};
use rusqlite::{Connection, params};
use serde_json::json;

use crate::{
    database::{
        damage::check,
        schema::{ItemTable, item_tables},
    },
    error::Cause,
};

/// The tables of lookup items, which hold almost all items.
const LOOKUP_TABLES: [&str; 2] = ["carriers", "exchanges"];
/// The prefix of a string partition key.
const TEXT: &str = "S:";

/// The items to decode, whose indexes are also checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All but the lookup items, which readers skip by themselves.
    WithoutLookupItems,
    Everything,
}

/// The key columns, as stored, of a row whose item cannot be decoded.
struct DamagedRow {
    partition_key: Vec<u8>,
    sort_key: Vec<u8>,
}

/// Checks the tables' indexes and replaces each damaged item with one that has only its key. Items
/// with an unreadable key are deleted.
pub fn isolate(connection: &Connection, scope: Scope) -> Result<(), Cause> {
    for ItemTable { name: table, key } in item_tables(connection)? {
        if scope == Scope::WithoutLookupItems && LOOKUP_TABLES.contains(&table.as_str()) {
            continue;
        }
        check(connection, &format!("integrity_check(\"{table}\")"))?;
        for row in damaged_rows(connection, &table, &key)? {
            replace(connection, &table, &key, &row)?;
        }
    }
    Ok(())
}

fn damaged_rows(connection: &Connection, table: &str, key: &str) -> Result<Vec<DamagedRow>, Cause> {
    let query = format!(
        "SELECT CAST(pk AS BLOB), CAST(sk AS BLOB), CAST(item_json AS BLOB) FROM \"{table}\""
    );
    let mut statement = connection.prepare(&query)?;
    let mut rows = statement.query([])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        let (partition_key, item) = (row.get_ref(0)?.as_bytes()?, row.get_ref(2)?.as_bytes()?);
        let value = value_of(partition_key);
        let is_of_key = |item: Item| match item.get(key) {
            Some(AttributeValue::S(found)) => value == Some(found),
            _ => false,
        };
        if !serde_json::from_slice(item).is_ok_and(is_of_key) {
            let (partition_key, sort_key) = (partition_key.to_vec(), row.get(1)?);
            damaged.push(DamagedRow { partition_key, sort_key });
        }
    }
    Ok(damaged)
}

/// The value of a stored partition key.
fn value_of(partition_key: &[u8]) -> Option<&str> {
    str::from_utf8(partition_key).ok()?.strip_prefix(TEXT)
}

fn replace(connection: &Connection, table: &str, key: &str, row: &DamagedRow) -> Result<(), Cause> {
    let place = "WHERE pk = CAST(?1 AS TEXT) AND sk = CAST(?2 AS TEXT)";
    let (partition_key, sort_key) = (&row.partition_key, &row.sort_key);
    let changed = match value_of(partition_key) {
        Some(value) => {
            tracing::warn!(table, key = value, "an item cannot be decoded");
            let item = json!({ key: { "S": value } }).to_string();
            let size = key.len() + value.len();
            let update = format!("UPDATE \"{table}\" SET item_json = ?3, item_size = ?4 {place}");
            connection.execute(&update, params![partition_key, sort_key, item, size])?
        }
        None => {
            tracing::warn!(table, "the key of an item cannot be decoded; the item is deleted");
            let delete = format!("DELETE FROM \"{table}\" {place}");
            connection.execute(&delete, params![partition_key, sort_key])?
        }
    };
    if changed == 1 { Ok(()) } else { Err("an item cannot be found by its own key".into()) }
}
