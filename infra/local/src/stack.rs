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
    check_exists(client, name, &tables.dataset).await?;
    Ok(store)
}

async fn check_exists(client: &Client, stack: &str, table: &str) -> Result<(), LocalError> {
    let Err(error) = client.describe_table().table_name(table).send().await else { return Ok(()) };
    match error.as_service_error() {
        Some(refusal) if refusal.is_resource_not_found_exception() => {
            let region = client.config().region().map(ToString::to_string).unwrap_or_default();
            Err(LocalError::NoStack { stack: stack.to_owned(), region })
        }
        _ => Err(LocalError::io(format!("cannot read the tables of stack '{stack}'"))(error)),
    }
}
