//! Stored items that cannot be decoded, or whose key differs from their row's.
//!
//! The embedded database stores each item as JSON text in a SQLite row. A damaged item could appear
//! to be missing, abort every scan of its table, or block all writes to its key.
//!
//! Before the database is opened, each damaged item is replaced with one that contains only its
//! key. Readers skip such items.

use dynoxide::{AttributeValue, Item};
use rusqlite::{
    Connection,
    functions::{Context, FunctionFlags},
    params,
};

use crate::{
    database::{
        damage::check,
        schema::{ItemTable, item_tables},
    },
    error::Cause,
};

/// The tables with lookup items, which hold almost all items.
const LOOKUP_TABLES: [&str; 2] = ["carriers", "exchanges"];
/// The prefix of a string partition key.
const STRING_PREFIX: &str = "S:";

/// The tables to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All except those with lookup items, whose readers skip damaged ones.
    WithoutLookupItems,
    Everything,
}

/// Checks indexes, and reduces each damaged item to its key. Deletes items with an unreadable key.
pub fn blank_damaged(connection: &Connection, scope: Scope) -> Result<(), Cause> {
    for ItemTable { name: table, key } in item_tables(connection)? {
        if scope == Scope::WithoutLookupItems && LOOKUP_TABLES.contains(&table.as_str()) {
            continue;
        }
        check(connection, &format!("integrity_check(\"{table}\")"))?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        let name = key.clone();
        connection
            .create_scalar_function("has_key", 1, flags, |row| Ok(partition_key(row)?.is_some()))?;
        connection
            .create_scalar_function("is_intact", 2, flags, move |row| is_intact(row, &name))?;
        let delete = format!("DELETE FROM \"{table}\" WHERE NOT has_key(pk)");
        let deleted = connection.execute(&delete, [])?;
        let replace = format!(
            "UPDATE \"{table}\" SET item_json = json_object(?1, json_object('S', substr(pk, 3))), \
             item_size = octet_length(?1) + octet_length(pk) - 2 WHERE NOT is_intact(pk, item_json)"
        );
        let replaced = connection.execute(&replace, params![key])?;
        if deleted + replaced > 0 {
            tracing::warn!(
                table,
                deleted,
                replaced,
                "damaged items were deleted or reduced to their keys"
            );
        }
    }
    Ok(())
}

/// The partition key in the first argument.
fn partition_key<'a>(row: &'a Context<'_>) -> rusqlite::Result<Option<&'a str>> {
    let key = row.get_raw(0).as_bytes()?;
    Ok(str::from_utf8(key).ok().and_then(|key| key.strip_prefix(STRING_PREFIX)))
}

/// Returns `true` if the item in the second argument can be decoded and has this row's key.
fn is_intact(row: &Context<'_>, name: &str) -> rusqlite::Result<bool> {
    let item = serde_json::from_slice::<Item>(row.get_raw(1).as_bytes()?);
    Ok(match item.as_ref().ok().and_then(|item| item.get(name)) {
        Some(AttributeValue::S(key)) => partition_key(row)? == Some(key),
        _ => false,
    })
}
