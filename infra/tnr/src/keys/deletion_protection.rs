//! Deletion protection for a stack's tables. The template leaves it off, so that a failed creation
//! can be rolled back. Creating the first key turns it on.

use aws_sdk_dynamodb::Client;
use logging::with_causes;
use store::{Store, Tables};

use crate::{
    CliError,
    database::{args::DataArgs, tables::describe},
    error::Context,
    terminal::show_note,
};

/// Enables deletion protection on a stack's tables. Failures are only warnings.
pub async fn protect_stack_tables(store: &Store, data: &DataArgs) {
    if data.stack.is_none() {
        return;
    }
    let (client, tables) = store.parts();
    let mut protected = Vec::new();
    for table in table_names(tables) {
        match protect(client, table).await {
            Ok(true) => protected.push(table),
            Ok(false) => (),
            Err(error) => show_note(&format!(
                "warning: {}; run 'aws dynamodb update-table --table-name {table} \
                 --deletion-protection-enabled'",
                with_causes(&error)
            )),
        }
    }
    if !protected.is_empty() {
        show_note(&format!("Enabled deletion protection on {}.", protected.join(", ")));
    }
}

pub fn table_names(tables: &Tables) -> impl Iterator<Item = &str> {
    let Tables { carriers, exchanges, dataset, history, api_keys, usage } = tables;
    [carriers, exchanges, dataset, history, api_keys, usage].into_iter().map(String::as_str)
}

/// Protects a table. Returns `true` if it was unprotected.
async fn protect(client: &Client, table: &str) -> Result<bool, CliError> {
    let failed = || format!("cannot enable deletion protection on table {table}");
    let described = describe(client, table).await.context(failed())?;
    if described.is_some_and(|table| table.deletion_protection_enabled() == Some(true)) {
        return Ok(false);
    }
    let update = client.update_table().table_name(table).deletion_protection_enabled(true);
    update.send().await.context(failed())?;
    Ok(true)
}
