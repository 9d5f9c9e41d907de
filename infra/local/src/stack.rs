//! A deployed stack: the names of its tables, from the outputs of its template.

use aws_config::BehaviorVersion;
use aws_sdk_cloudformation::{Client, types::Output};
use shared::{
    errors::with_causes,
    store::{Patience, Store, Tables},
};

use crate::LocalError;

/// The store of the stack `name`; region and credentials come from the environment.
///
/// # Errors
/// Where the stack cannot be read, or is none of this service.
pub async fn store(name: &str) -> Result<Store, LocalError> {
    let client = Client::new(&aws_config::load_defaults(BehaviorVersion::latest()).await);
    let described = client.describe_stacks().stack_name(name).send().await;
    let described = described.map_err(|error| {
        LocalError::io(format!("the stack {name} cannot be read"))(with_causes(&error))
    })?;
    let outputs = described.stacks().first().map_or(&[][..], |stack| stack.outputs());
    Ok(Store::with_tables(tables(name, outputs)?, Patience::Loading).await)
}

fn tables(stack: &str, outputs: &[Output]) -> Result<Tables, LocalError> {
    let value = |key: &str| {
        let output = outputs.iter().find(|output| output.output_key() == Some(key));
        output.and_then(Output::output_value).map(str::to_owned).ok_or_else(|| {
            let what = format!("the stack {stack} is none of this service");
            LocalError::io(what)(format!("it has no output {key}"))
        })
    };
    Ok(Tables {
        carriers: value("CarriersTableName")?,
        exchanges: value("ExchangesTableName")?,
        dataset: value("DatasetTableName")?,
        api_keys: value("ApiKeysTableName")?,
        usage: value("UsageTableName")?,
    })
}
