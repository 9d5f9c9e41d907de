//! Deletion protection of a stack's tables. The template leaves it off, since a creation that fails
//! could then not be taken back; from the first key on there is something to protect.

use aws_sdk_dynamodb::Client;
use logging::with_causes;
use store::{Store, Tables};

use crate::{CliError, args::DataArgs, error::Context};

/// Switches on deletion protection of every table of a stack where it is off, and says so. Without the
/// permission there is a warning, and the key that was made stays.
pub async fn protect_tables_of_stack(store: &Store, data: &DataArgs) {
    if data.stack.is_none() {
        return;
    }
    let (client, tables) = store.parts();
    let mut protected = Vec::new();
    for table in names(tables) {
        match protect(client, table).await {
            Ok(true) => protected.push(table),
            Ok(false) => (),
            Err(error) => eprintln!(
                "warning: {}; run 'aws dynamodb update-table --table-name {table} \
                 --deletion-protection-enabled'",
                with_causes(&error)
            ),
        }
    }
    if !protected.is_empty() {
        eprintln!("Switched on deletion protection of {}.", protected.join(", "));
    }
}

/// The names of all tables.
pub fn names(tables: &Tables) -> impl Iterator<Item = &str> {
    let Tables { carriers, exchanges, dataset, api_keys, usage } = tables;
    [carriers, exchanges, dataset, api_keys, usage].into_iter().map(String::as_str)
}

/// Protects a table; `true` if it was not protected before.
async fn protect(client: &Client, table: &str) -> Result<bool, CliError> {
    let failed = || format!("deletion protection of table {table} cannot be switched on");
    let described = client.describe_table().table_name(table).send().await;
    let described = described.context(failed())?.table;
    if described.is_some_and(|table| table.deletion_protection_enabled() == Some(true)) {
        return Ok(false);
    }
    let update = client.update_table().table_name(table).deletion_protection_enabled(true);
    update.send().await.context(failed())?;
    Ok(true)
}
