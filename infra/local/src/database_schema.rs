//! What a database may consist of. A file can come from anywhere, and SQLite runs what its schema says:
//! a view, a trigger or an expression in a table is a program of whoever made the file. A flipped bit
//! gives a column another name. So a file is refused before it is used if its schema says anything but
//! what this program writes.

use rusqlite::{Connection, config::DbConfig};

/// The statements that make the tables of the embedded database, of which the last makes each table of
/// items. A release of dynoxide that changes one adds it here, and the former stays for older folders.
const STATEMENTS: &str = include_str!("database_schema.sql");

/// Why a schema is refused.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error(transparent)]
    Foreign(#[from] ForeignPart),
    #[error(transparent)]
    Unreadable(#[from] rusqlite::Error),
}

/// A part of a schema that this program does not write.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("its schema describes {name:?} as this program never does")]
pub struct ForeignPart {
    name: String,
}

/// Makes a new connection run nothing that its file says, and looks at the schema before anything else.
///
/// # Errors
/// Returns [`ForeignPart`] if the schema holds another statement than those of this program.
pub fn distrust(connection: &Connection) -> Result<(), SchemaError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // The index of a primary key has no statement, since SQLite makes it by itself.
    let query = "SELECT CAST(ifnull(name, '') AS BLOB), CAST(sql AS BLOB) FROM sqlite_schema \
        WHERE sql IS NOT NULL";
    let mut parts = connection.prepare(query)?;
    let mut rows = parts.query([])?;
    while let Some(row) = rows.next()? {
        let (name, statement): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let name = String::from_utf8_lossy(&name).into_owned();
        if !is_known(&name, &String::from_utf8_lossy(&statement)) {
            return Err(ForeignPart { name }.into());
        }
    }
    Ok(())
}

fn is_known(name: &str, statement: &str) -> bool {
    let mut known = STATEMENTS.split_terminator(';');
    known.any(|known| words(&known.replace("{name}", name)) == words(statement))
}

/// A statement without its layout.
fn words(statement: &str) -> String {
    statement.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::database::Database;

    #[tokio::test]
    async fn the_schema_of_a_new_database_is_known_and_no_other_is() {
        let folder = TempDir::new().unwrap();
        Database::embedded(folder.path()).await.unwrap().close().await;
        let connection = Connection::open(folder.path().join("dynamodb.sqlite")).unwrap();
        distrust(&connection).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
        for (statement, undo) in [
            ("CREATE VIEW \"x\ty\" AS SELECT pk FROM usage", "DROP VIEW \"x\ty\""),
            (
                "CREATE TRIGGER \"x\ty\" AFTER INSERT ON usage BEGIN DELETE FROM usage; END",
                "DROP TRIGGER \"x\ty\"",
            ),
            ("CREATE VIRTUAL TABLE \"x\ty\" USING fts5(a)", "DROP TABLE \"x\ty\""),
            ("CREATE TABLE \"x\ty\" (a, b AS (a || a))", "DROP TABLE \"x\ty\""),
            ("CREATE INDEX \"x\ty\" ON usage (pk) WHERE pk > 1", "DROP INDEX \"x\ty\""),
            ("ALTER TABLE usage RENAME COLUMN pk TO qk", ""),
        ] {
            connection.execute_batch(statement).unwrap();
            assert!(distrust(&connection).is_err(), "{statement}");
            connection.execute_batch(undo).unwrap();
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
