//! A deployed stack: its tables, which `template.yaml` names after it.

use aws_sdk_dynamodb::{Client, config::Builder};
use signed_requests::sdk_config;
use store::{Store, Tables, TimeoutProfile};

use crate::LocalError;

/// The store of the stack `name`; region and credentials come from the environment.
///
/// # Errors
/// Returns an error if the tables cannot be read, or there are none that belong to such a stack.
pub async fn store(name: &str) -> Result<Store, LocalError> {
    let config = Builder::from(&sdk_config().await);
    let store = Store::connect(config, Tables::of_stack(name), TimeoutProfile::Batch);
    let (client, tables) = store.parts();
    // Of a stack that was torn down the table of keys may be left, to be exported.
    if exists(client, name, &tables.dataset).await?
        || exists(client, name, &tables.api_keys).await?
    {
        return Ok(store);
    }
    let region = client.config().region().map(ToString::to_string).unwrap_or_default();
    Err(LocalError::NoStack { stack: name.to_owned(), region })
}

async fn exists(client: &Client, stack: &str, table: &str) -> Result<bool, LocalError> {
    let Err(error) = client.describe_table().table_name(table).send().await else {
        return Ok(true);
    };
    match error.as_service_error() {
        Some(refusal) if refusal.is_resource_not_found_exception() => Ok(false),
        _ => Err(LocalError::io(format!("cannot read the tables of stack '{stack}'"))(error)),
    }
}
