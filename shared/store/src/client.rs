//! The connection to the tables of one deployment.

use std::collections::HashMap;

use aws_config::ConfigLoader;
use aws_sdk_dynamodb::{
    Client,
    types::{AttributeValue, ReturnConsumedCapacity},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::aws_sdk_dynamodb_1::{from_item, to_item};

use crate::{StoreError, Tables, TimeoutProfile, capacity};

/// An item as the SDK represents it.
pub(crate) type Item = HashMap<String, AttributeValue>;

/// Whether `endpoint` is a local emulator of DynamoDB. AWS itself is never called by plain `http`.
pub fn is_emulator(endpoint: &str) -> bool {
    endpoint.starts_with("http://")
}

/// The DynamoDB tables of one deployment.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) tables: Tables,
    pub(crate) timeouts: TimeoutProfile,
}

impl Store {
    /// Connects with the region, credentials, endpoint and table names of the environment.
    pub async fn from_env(timeouts: TimeoutProfile) -> Self {
        Self::connect(timeouts, timeouts.loader(), Tables::from_env()).await
    }

    /// Connects to `endpoint`. An emulator accepts any region and credentials; for any other
    /// endpoint they come from the environment.
    pub async fn at(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        let mut loader = timeouts.loader().endpoint_url(endpoint);
        if is_emulator(endpoint) {
            loader = loader.region("us-east-1").test_credentials();
        }
        Self::connect(timeouts, loader, Tables::from_env()).await
    }

    /// Connects to the tables of these names with the region, credentials and endpoint of the
    /// environment.
    pub async fn with_tables(tables: Tables, timeouts: TimeoutProfile) -> Self {
        Self::connect(timeouts, timeouts.loader(), tables).await
    }

    async fn connect(timeouts: TimeoutProfile, loader: ConfigLoader, tables: Tables) -> Self {
        Self { client: Client::new(&loader.load().await), tables, timeouts }
    }

    /// The client and the names of the tables, for operations that the API never needs, such as
    /// creating the tables.
    pub fn parts(&self) -> (&Client, &Tables) {
        (&self.client, &self.tables)
    }

    /// Reads the item whose partition key `key` is `value`, strongly consistent.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        table: &str,
        key: &str,
        value: String,
    ) -> Result<Option<T>, StoreError> {
        let request = self
            .client
            .get_item()
            .table_name(table)
            .key(key, AttributeValue::S(value))
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .consistent_read(true);
        let answer = request.send().await.map_err(StoreError::call("GetItem", table))?;
        capacity::count(answer.consumed_capacity());
        answer.item.map(|item| record_from_item(table, item)).transpose()
    }
}

/// The record that an item of `table` holds.
pub(crate) fn record_from_item<T: DeserializeOwned>(
    table: &str,
    item: Item,
) -> Result<T, StoreError> {
    from_item(item).map_err(StoreError::item(table))
}

/// A record as an item of `table`. Fields that are `None` are left out.
pub(crate) fn item_from_record(table: &str, record: &impl Serialize) -> Result<Item, StoreError> {
    let mut item: Item = to_item(record).map_err(StoreError::item(table))?;
    item.retain(|_, value| !value.is_null());
    Ok(item)
}
