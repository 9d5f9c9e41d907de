//! The connection to a deployment's tables.

use std::{env, sync::Arc};

use aws_sdk_dynamodb::{
    Client, Config,
    config::{BehaviorVersion, Builder, Credentials, Region, SharedCredentialsProvider},
    types::{AttributeValue, ReturnConsumedCapacity},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_dynamo::aws_sdk_dynamodb_1::{from_item, to_item};

use crate::{
    StoreError, Tables, TimeoutProfile,
    https::{TRUST_VARIABLES, TrustedRoots, https_client},
    item_check::{self, Item},
    metering,
    reachability::Reachability,
};

/// The environment variables that override AWS's endpoint, as in the SDKs and the AWS CLI.
const ENDPOINT_VARIABLES: [&str; 2] = ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL"];

/// The environment variables that set the region, as in the SDKs and the AWS CLI.
const REGION_VARIABLES: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
/// The region for databases that have none.
const DEFAULT_REGION: &str = "us-east-1";

/// Returns `true` if `endpoint` uses plain `http`, as emulators and compatible databases do. AWS never does.
pub fn is_plain_http(endpoint: &str) -> bool {
    endpoint.starts_with("http://")
}

/// A deployment's DynamoDB tables. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) tables: Arc<Tables>,
    pub(crate) timeouts: TimeoutProfile,
    pub(crate) reachability: Arc<Reachability>,
}

impl Store {
    /// Connects as a Lambda function. Its environment sets region, credentials, tables and optionally the
    /// endpoint. Credential sources for people, such as profiles, are left to [`Store::connect`]; they would be
    /// a tenth of each function's size.
    pub fn from_env(timeouts: TimeoutProfile) -> Self {
        let endpoint = ENDPOINT_VARIABLES.into_iter().find_map(variable);
        let region = variable("AWS_REGION");
        let roots = TrustedRoots::new(
            endpoint.as_deref(),
            region.as_deref(),
            TRUST_VARIABLES.into_iter().find_map(variable).is_some(),
        );
        let mut config =
            Config::builder().region(region.map(Region::new)).http_client(https_client(roots));
        config.set_endpoint_url(endpoint);
        config.set_credentials_provider(credentials_from_env().map(SharedCredentialsProvider::new));
        Self::connect(config, Tables::from_env(), timeouts)
    }

    /// Connects to the emulator at `endpoint`, which accepts any region and credentials.
    pub fn at_emulator(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        Self::at_embedded(endpoint, "local", timeouts)
    }

    /// Connects to the embedded database at `endpoint`, which only answers callers that know its access key id.
    pub fn at_embedded(endpoint: &str, access_key_id: &str, timeouts: TimeoutProfile) -> Self {
        let credentials = credentials_with_id(access_key_id);
        Self::by_plain_http(endpoint, timeouts, DEFAULT_REGION.to_owned(), credentials)
    }

    /// Connects to a DynamoDB-compatible database at `endpoint`, with region and credentials from the
    /// environment. Without them it assumes an emulator, which accepts any.
    pub fn at_compatible_database(endpoint: &str, timeouts: TimeoutProfile) -> Self {
        let region = REGION_VARIABLES.into_iter().find_map(variable);
        Self::by_plain_http(
            endpoint,
            timeouts,
            region.unwrap_or_else(|| DEFAULT_REGION.to_owned()),
            credentials_from_env().unwrap_or_else(|| credentials_with_id("local")),
        )
    }

    fn by_plain_http(
        endpoint: &str,
        timeouts: TimeoutProfile,
        region: String,
        credentials: Credentials,
    ) -> Self {
        let config = Config::builder()
            .region(Region::new(region))
            .http_client(https_client(TrustedRoots::Amazon))
            .credentials_provider(credentials)
            .endpoint_url(endpoint);
        Self::connect(config, Tables::from_env(), timeouts)
    }

    /// Connects using `config`, but with these timeouts.
    pub fn connect(config: Builder, tables: Tables, timeouts: TimeoutProfile) -> Self {
        let config = timeouts.apply(config.behavior_version(BehaviorVersion::latest())).build();
        let (client, tables) = (Client::from_conf(config), Arc::new(tables));
        Self { client, tables, timeouts, reachability: Arc::default() }
    }

    /// The client and the table names, for operations that the API never needs, such as creating the tables.
    pub fn parts(&self) -> (&Client, &Tables) {
        (&self.client, &self.tables)
    }

    /// The same store, but with its keys in `table`, such as one restored from a backup.
    pub fn with_api_keys_table(mut self, table: String) -> Self {
        Arc::make_mut(&mut self.tables).api_keys = table;
        self
    }

    /// Reads the item whose partition key `key` is `value`.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        table: &str,
        key: &str,
        value: String,
        is_consistent: bool,
    ) -> Result<Option<T>, StoreError> {
        let value = AttributeValue::S(value);
        let request = self
            .client
            .get_item()
            .table_name(table)
            .key(key, value.clone())
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .consistent_read(is_consistent);
        let answer = request.send().await.map_err(StoreError::call("GetItem", table))?;
        metering::count(answer.consumed_capacity());
        answer.item.map(|item| record_of_key(table, (key, &value), item)).transpose()
    }
}

/// The value of an environment variable, unless it is empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Credentials for a database that checks no signatures.
fn credentials_with_id(access_key_id: &str) -> Credentials {
    Credentials::new(access_key_id, "unused", None, None, "emulator")
}

/// The credentials in the environment, where Lambda puts them.
fn credentials_from_env() -> Option<Credentials> {
    Some(Credentials::new(
        variable("AWS_ACCESS_KEY_ID")?,
        variable("AWS_SECRET_ACCESS_KEY")?,
        variable("AWS_SESSION_TOKEN"),
        None,
        "Environment",
    ))
}

/// Deserializes an item of `table`.
pub(crate) fn record_from_item<T: DeserializeOwned>(
    table: &str,
    item: Item,
) -> Result<T, StoreError> {
    item_check::verify(&item).map_err(StoreError::item(table))?;
    from_item(item).map_err(StoreError::item(table))
}

/// Deserializes an item of `table` that was found under this key.
pub(crate) fn record_of_key<T: DeserializeOwned>(
    table: &str,
    (name, value): (&str, &AttributeValue),
    item: Item,
) -> Result<T, StoreError> {
    if item.get(name) != Some(value) {
        return Err(StoreError::item(table)("it was found under the key of another item"));
    }
    record_from_item(table, item)
}

/// Serializes a record as an item of `table`, adding the key unless the record has it. `None` fields are left
/// out.
pub(crate) fn item_from_record(
    table: &str,
    key: Option<(&str, AttributeValue)>,
    record: &impl Serialize,
) -> Result<Item, StoreError> {
    let mut item: Item = to_item(record).map_err(StoreError::item(table))?;
    item.retain(|_, value| !value.is_null());
    item.extend(key.map(|(name, value)| (name.to_owned(), value)));
    item_check::seal(&mut item);
    Ok(item)
}
