//! A deployed stack and its tables, named after it by `template.yaml`.

use aws_sdk_dynamodb::config::Builder;
use signed_requests::sdk_config;
use store::{Store, Tables, TimeoutProfile};

use crate::{CliError, database::tables, error::Context};

/// The store of stack `name`; region and credentials come from the environment.
pub async fn store(name: &str) -> Result<Store, CliError> {
    let config = Builder::from(&sdk_config().await);
    let store = Store::connect(config, Tables::for_stack(name), TimeoutProfile::Batch);
    // A deleted stack may have kept its keys table, which can still be exported.
    let failed = format!("cannot read the tables of stack '{name}'");
    if tables::has_any(&store).await.context(failed)? {
        return Ok(store);
    }
    let (client, _) = store.parts();
    let region = client.config().region().map(ToString::to_string).unwrap_or_default();
    Err(CliError::NoStack { stack: name.to_owned(), region })
}
