//! What a database may consist of. A file can come from anywhere, and SQLite runs what its schema says:
//! a view, a trigger, a virtual table or an expression in a table is a program of whoever made the file.
//! No database of this program has one, so that a file with one is refused before it is used.

use rusqlite::{Connection, config::DbConfig};

/// What no table of ours has: an expression that SQLite computes.
const COMPUTED: [&str; 7] =
    ["AS", "CHECK", "COLLATE", "GENERATED", "REFERENCES", "SELECT", "WHERE"];

/// A part of a database that no database of this program has.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds the {kind} {name:?}, which no database of this program has")]
pub struct ForeignPart {
    kind: &'static str,
    name: String,
}

/// Why a schema is refused.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error(transparent)]
    Foreign(#[from] ForeignPart),
    #[error(transparent)]
    Unreadable(#[from] rusqlite::Error),
}

/// Makes a new connection run nothing that its file says, and looks at the schema before anything else.
///
/// # Errors
/// Returns [`ForeignPart`] if the schema holds more than plain tables and indexes.
pub fn distrust(connection: &Connection) -> Result<(), SchemaError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    let mut parts = connection.prepare("SELECT name, sql FROM sqlite_schema")?;
    let mut rows = parts.query([])?;
    while let Some(row) = rows.next()? {
        let name: Option<String> = row.get(0)?;
        let Some(statement) = row.get::<_, Option<String>>(1)? else {
            continue; // The index of a primary key, which SQLite made by itself.
        };
        if let Some(kind) = foreign_kind(&statement) {
            return Err(ForeignPart { kind, name: name.unwrap_or_default() }.into());
        }
    }
    Ok(())
}

/// What a statement of a schema makes, if no statement of ours makes such a thing. The statement tells,
/// and not the kind that the file gives beside it, since SQLite runs the statement.
fn foreign_kind(statement: &str) -> Option<&'static str> {
    let mut words = statement
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_uppercase);
    let made = (words.next(), words.next(), words.next());
    match (made.0.as_deref(), made.1.as_deref(), made.2.as_deref()) {
        (Some("CREATE"), Some("TABLE" | "INDEX"), _)
        | (Some("CREATE"), Some("UNIQUE"), Some("INDEX")) => words
            .any(|word| COMPUTED.contains(&word.as_str()))
            .then_some("table or index with an expression"),
        (_, Some("VIEW"), _) => Some("view"),
        (_, Some("TRIGGER"), _) => Some("trigger"),
        (_, Some("VIRTUAL"), _) => Some("virtual table"),
        _ => Some("object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_that_computes_is_refused_and_one_of_the_embedded_database_is_not() {
        for (kind, statement) in [
            ("view", "CREATE VIEW \"x\ty\" AS SELECT a FROM t"),
            ("trigger", "CREATE TRIGGER \"x\ty\" AFTER INSERT ON t BEGIN DELETE FROM t; END"),
            ("virtual table", "CREATE VIRTUAL TABLE \"x\ty\" USING fts5(a)"),
            ("table or index with an expression", "CREATE TABLE \"x\ty\" (a, b AS (a || a))"),
            ("table or index with an expression", "CREATE TABLE \"x\ty\" (a, CHECK (a > 1))"),
            ("table or index with an expression", "CREATE INDEX \"x\ty\" ON t (a) WHERE a > 1"),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch("CREATE TABLE t (a); CREATE INDEX i ON t (a)").unwrap();
            distrust(&connection).unwrap();
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
            connection.execute_batch(statement).unwrap();
            let error = distrust(&connection).unwrap_err().to_string();
            let expected =
                format!("it holds the {kind} \"x\\ty\", which no database of this program has");
            assert_eq!(error, expected, "{statement}");
        }
    }

    #[test]
    fn a_connection_to_a_file_runs_none_of_its_triggers_and_views() {
        let connection = Connection::open_in_memory().unwrap();
        distrust(&connection).unwrap();
        for (setting, expected) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            assert_eq!(connection.db_config(setting).unwrap(), expected);
        }
        let checked: bool =
            connection.pragma_query_value(None, "cell_size_check", |row| row.get(0)).unwrap();
        assert!(checked);
    }
}
