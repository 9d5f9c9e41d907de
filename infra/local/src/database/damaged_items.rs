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
/// The prefix of a string key.
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
    for ItemTable { name: table, key, sort_key } in item_tables(connection)? {
        if scope == Scope::WithoutLookupItems && LOOKUP_TABLES.contains(&table.as_str()) {
            continue;
        }
        check(connection, &format!("integrity_check(\"{table}\")"))?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        let names: Vec<String> = [key].into_iter().chain(sort_key).collect();
        // The row's columns with the keys, and an item with nothing else.
        let columns = ["pk", "sk"][..names.len()].join(", ");
        let item: Vec<_> = ["pk", "sk"]
            .iter()
            .zip(&names)
            .map(|(column, name)| format!("'{name}', json_object('S', substr({column}, 3))"))
            .collect();
        let sizes: Vec<_> = ["pk", "sk"]
            .iter()
            .zip(&names)
            .map(|(column, name)| format!("{} + octet_length({column}) - 2", name.len()))
            .collect();
        connection.create_scalar_function("has_keys", names.len() as i32, flags, |row| {
            Ok((0..row.len()).all(|index| row_key(row, index).is_some()))
        })?;
        let arguments = names.len() as i32 + 1;
        connection.create_scalar_function("is_intact", arguments, flags, move |row| {
            Ok(is_intact(row, &names))
        })?;
        let delete = format!("DELETE FROM \"{table}\" WHERE NOT has_keys({columns})");
        let deleted = connection.execute(&delete, [])?;
        let replace = format!(
            "UPDATE \"{table}\" SET item_json = json_object({}), item_size = {} \
             WHERE NOT is_intact({columns}, item_json)",
            item.join(", "),
            sizes.join(" + ")
        );
        let replaced = connection.execute(&replace, [])?;
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

/// The key in a column.
fn row_key<'a>(row: &'a Context<'_>, index: usize) -> Option<&'a str> {
    let key = row.get_raw(index).as_bytes().ok()?;
    str::from_utf8(key).ok()?.strip_prefix(STRING_PREFIX)
}

/// Returns `true` if the item in the last argument can be decoded and has this row's keys.
fn is_intact(row: &Context<'_>, names: &[String]) -> bool {
    let Ok(item) = row.get_raw(names.len()).as_bytes() else { return false };
    let Ok(item) = serde_json::from_slice::<Item>(item) else { return false };
    names.iter().enumerate().all(|(index, name)| match item.get(name) {
        Some(AttributeValue::S(key)) => row_key(row, index) == Some(key),
        _ => false,
    })
}
