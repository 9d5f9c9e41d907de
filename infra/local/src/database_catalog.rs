//! What a database says of its tables. The embedded database believes each word of it: with another
//! name of a key it finds no item, and with another status it refuses all calls.

use std::iter::once;

use rusqlite::{Connection, Row, types::ValueRef};
use serde_json::{Value, json};
use store::Tables;

use crate::{
    cause::Cause,
    tables::name_of,
    template::{self, Table},
};

/// What the catalog says of a table is not what this program has written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("its catalog describes table {name:?} as this program never does")]
pub struct DamagedCatalog {
    name: String,
}

/// A table of items.
pub struct ItemTable {
    pub name: String,
    /// The name of its partition key.
    pub key: String,
}

/// The tables of items; none in a database that is new.
///
/// # Errors
/// Returns [`DamagedCatalog`] if a table is missing or described in another way than this program does.
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
        let name = row.get_ref("table_name")?;
        let name = name.as_bytes().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        let Some((_, table)) = known.iter().find(|(known, table)| {
            *known == name && columns.iter().all(|column| is_as_written(row, column, table))
        }) else {
            return Err(DamagedCatalog { name }.into());
        };
        if !connection.table_exists(None, name.as_str())? {
            return Err(DamagedCatalog { name }.into());
        }
        tables.push(ItemTable { name, key: table.key.clone() });
    }
    Ok(tables)
}

/// The tables of the template by the names that they may have here.
fn known_tables() -> Result<Vec<(String, Table)>, Cause> {
    let names = Tables::from_env();
    let mut known = Vec::new();
    for table in template::tables()? {
        let name = name_of(&table, &names)?.to_owned();
        known.extend(once(table.name.clone()).chain([name]).map(|name| (name, table.clone())));
    }
    Ok(known)
}

fn is_as_written(row: &Row<'_>, column: &str, table: &Table) -> bool {
    let Ok(value) = row.get_ref(column) else { return false };
    let text = value.as_str().ok();
    let list =
        |item: Value| text.and_then(|text| serde_json::from_str(text).ok()) == Some(json!([item]));
    match column {
        "key_schema" => list(json!({ "AttributeName": table.key, "KeyType": "HASH" })),
        "attribute_definitions" => {
            list(json!({ "AttributeName": table.key, "AttributeType": "S" }))
        }
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
